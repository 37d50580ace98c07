"""What the server does so that a first visitor need not wait: it sends files in one piece, and draws the first screen for nobody."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import streamlit

from ingest.store.opening.own_files import QUEUE
from tests.serving import PATIENCE_SECONDS, served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

STATIC = Path(streamlit.__file__).parent / "static"


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory, samples_read: Callable[..., Path]) -> Iterator[tuple[str, Path]]:
    """The address of a server, and its log."""
    folder = tmp_path_factory.mktemp("first-visit")
    with served(samples_read(), folder / "log") as (address, _):
        yield address, folder / "log"


def get(address: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers in lower case and body; no error is raised."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=PATIENCE_SECONDS) as answer:
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, {}, error.read()


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("js/index.*.js", "text/javascript"),
        ("js/PlotlyChart.*.js", "text/javascript"),
        ("css/index.*.css", "text/css"),
        ("media/*.woff2", "font/"),
    ],
)
def test_a_file_of_the_framework_comes_whole_typed_protected_and_for_good(dashboard: tuple[str, Path], pattern: str, kind: str) -> None:
    file = next((STATIC / "static").glob(pattern))
    status, headers, body = get(f"{dashboard[0]}/{file.relative_to(STATIC)}")
    assert status == 200
    assert body == file.read_bytes()
    assert headers["content-type"].startswith(kind)
    assert "immutable" in headers["cache-control"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_part_of_a_file_is_sent_as_a_part(dashboard: tuple[str, Path]) -> None:
    file = next((STATIC / "static").glob("js/index.*.js"))
    assert get(f"{dashboard[0]}/{file.relative_to(STATIC)}", Range="bytes=0-9")[::2] == (206, file.read_bytes()[:10])


@pytest.mark.parametrize("path", ["/static/js/%2e%2e/%2e%2e/manifest.js", "/static/js/..%2f..%2findex.html", "/static/js/.hidden.js"])
def test_nothing_beside_those_files_is_sent(dashboard: tuple[str, Path], path: str) -> None:
    assert b"manifest" not in get(f"{dashboard[0]}{path}")[2][:10]
    assert get(f"{dashboard[0]}{path}")[0] in (200, 400, 404), "the framework's own answer"


def test_a_foreign_page_gets_no_file(dashboard: tuple[str, Path]) -> None:
    file = next((STATIC / "static").glob("js/index.*.js"))
    assert get(f"{dashboard[0]}/{file.relative_to(STATIC)}", Origin="http://evil.example")[0] == 403


def test_a_server_says_nothing_where_all_is_well(dashboard: tuple[str, Path]) -> None:
    get(dashboard[0])
    assert dashboard[1].read_text() == ""


@contextmanager
def held(store: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process has the store open for writing until the end of the block."""
    code = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
        holder.communicate()


def test_the_first_screen_is_drawn_before_anybody_comes(tmp_path: Path, samples_read: Callable[..., Path]) -> None:
    """It asks for the store, which another process holds here: so it waits in the queue, and the server serves all the same."""
    store = Path(shutil.copy(samples_read(), tmp_path))
    queue = Path(f"{store}{QUEUE}")
    with held(store), served(store, tmp_path / "log") as (address, process):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not list(queue.glob(f"*-reader-*-{process}-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(queue.glob(f"*-reader-*-{process}-*")), "nobody drew the first screen"
        assert get(address)[0] == 200
    assert "Traceback" not in (tmp_path / "log").read_text()
