"""Strangers' pages in a real browser: one that frames and asks us, one whose name was rebound.

And an upload that finds no room.
"""

from __future__ import annotations

import resource
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import SAMPLES, record_text
from tests.serving import PATIENCE_SECONDS, served, wait_until_drawn

pytestmark = pytest.mark.xdist_group("browser")

ATTACK = """<!doctype html><iframe id=frame></iframe><script>
const ours = location.hash.slice(1)
const said = promise => promise.then(answer => answer, () => "refused")
const opened = new Promise(done => {
    const socket = new WebSocket(ours.replace("http", "ws") + "/_stcore/stream", ["streamlit"])
    socket.onopen = () => done("open")
    socket.onerror = () => done("refused")
})
const loaded = (tag, path) => new Promise(done => {
    const element = document.createElement(tag)
    element.onload = () => done("loaded")
    element.onerror = () => done("refused")
    element.src = ours + path
    document.body.append(element)
})
document.getElementById("frame").src = ours
Promise.all([
    opened,
    said(fetch(ours + "/_stcore/health").then(answer => answer.text())),
    said(fetch(ours + "/_stcore/host-config", {mode: "no-cors"}).then(answer => answer.type)),
    said(fetch(ours + "/_stcore/upload_file/a/b", {method: "PUT", body: "x", mode: "cors"}).then(answer => answer.text())),
    loaded("img", "/favicon.png"),
]).then(answers => document.title = answers.join(" "))
</script>"""  # noqa: E501


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def server(folder: Path, samples_read: Callable[..., Path]) -> Iterator[tuple[str, int]]:
    shutil.copy(samples_read(), folder)
    with served(folder / "tachograph.duckdb", folder / "log", TMPDIR=str(folder)) as found:
        yield found
    assert "Traceback" not in (folder / "log").read_text()


@pytest.fixture(scope="module")
def stranger(folder: Path) -> Iterator[int]:
    """The port of a stranger's site."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    site = folder / "site"
    site.mkdir()
    (site / "attack.html").write_text(ATTACK)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found.server_address[1]
        found.shutdown()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="what a process has loaded is read from /proc"
)
def test_pandas_is_loaded_before_the_first_page(server: tuple[str, int]) -> None:
    """While one page's thread imports it, a chart of another fails.

    `partially initialized module 'pandas'`.
    """
    assert "/pandas/_libs/" in Path(f"/proc/{server[1]}/maps").read_text()


@pytest.mark.parametrize("name", ["localhost", "evil.example"])
def test_d3_a_strangers_page_gets_nothing(
    name: str, stranger: int, server: tuple[str, int], page: Page
) -> None:
    ours = server[0].replace("127.0.0.1", "localhost")
    page.goto(f"http://{name}:{stranger}/attack.html#{ours}")
    page.wait_for_function("document.title", timeout=PATIENCE_SECONDS * 1000)
    assert page.title().split() == ["refused"] * 5
    [frame] = [frame for frame in page.frames if frame != page.main_frame]
    assert frame.url.startswith("chrome-error:")


def test_d3_a_rebound_name_gets_nothing(server: tuple[str, int], page: Page) -> None:
    answer = page.goto(server[0].replace("127.0.0.1", "evil.example"))
    assert answer is not None
    assert answer.status == 403
    assert "does not answer to evil.example" in page.inner_text("body")


def test_d7_the_memory_of_uploads_is_free_once_they_were_read_and_a_full_disk_is_no_crash(
    server: tuple[str, int], folder: Path, page: Page
) -> None:
    """Under our other name, which is ours, too."""
    address, process = server
    page.goto(f"{address.replace('127.0.0.1', 'localhost')}/data?view=upload")
    wait_until_drawn(page)
    logs = page.locator("input[type=file]")
    logs.set_input_files(sorted(SAMPLES.iterdir()))
    expect(page.get_by_role("heading", name="all 3 records are here already")).to_be_visible(
        timeout=PATIENCE_SECONDS * 1000
    )
    wait_until_drawn(page)
    assert not [file for file in folder.glob("tachograph-*/*") if file.name != "lock"]

    large = folder / "large.json"
    large.write_text(record_text(uuid="large", result="x" * 3_000_000))
    soft, hard = resource.prlimit(
        process, resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY)
    )
    try:
        logs.set_input_files(large)
        expect(page.get_by_test_id("stFileUploader").get_by_text("507")).to_be_visible(
            timeout=PATIENCE_SECONDS * 1000
        )
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard))
    logs.set_input_files(large.rename(folder / "again.json"))
    expect(page.get_by_role("link", name="· large")).to_be_visible(timeout=PATIENCE_SECONDS * 1000)
    wait_until_drawn(page)
    before = psutil.Process(process).memory_info().rss
    (folder / "none.txt").write_bytes(b"no log\n" * 9_000_000)
    logs.set_input_files(folder / "none.txt")
    expect(page.get_by_text("Ingest 3,")).to_be_visible(timeout=PATIENCE_SECONDS * 1000)
    wait_until_drawn(page)
    page.get_by_role("radio", name="A folder").click()
    expect(page.get_by_text("Drag and drop a folder")).to_be_visible(
        timeout=PATIENCE_SECONDS * 1000
    )
    wait_until_drawn(page)
    assert psutil.Process(process).memory_info().rss - before < 45 << 20
