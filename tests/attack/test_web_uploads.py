"""Uploads without rights, without end and without room (D7)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from app.server.form import FileForm, NoFile
from app.server.received import NoRoom, Received
from app.server.serve import Access
from tests.attack.visitor import ask, form, session
from tests.serving import served
from tests.test_sign_in import GOOD

pytestmark = pytest.mark.xdist_group("web")

UPLOAD = ("data", "view=upload")
"""The screen that offers the upload."""

SECRET = "a secret of more than sixteen characters"
UPLOADED_BYTES, GROWTH_BYTES = 96 << 20, 48 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uploads")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[tuple[str, int]]:
    """A dashboard where everybody uploads, with its process."""
    with served(folder / "runs.duckdb", folder / "log", TMPDIR=str(folder)) as found:
        yield found
    assert "Traceback" not in (folder / "log").read_text()
    assert not list(folder.glob("tachograph-uploads-*")), "the server takes its folder with it"


def kept(folder: Path) -> list[Path]:
    """What lies in the folder of uploads."""
    return [file for file in folder.glob("tachograph-uploads-*/*") if file.name != "lock"]


def answer_to_headers(address: str, path: str, more: str = "") -> bytes:
    """What a server says to the headers of an upload of 10 GB, of which nothing is sent."""
    url = urlsplit(address)
    head = f"PUT {path} HTTP/1.1\r\nHost: {url.netloc}\r\nOrigin: {address}\r\nContent-Length: 10000000000\r\n{more}\r\n"
    with socket.create_connection((url.hostname or "", url.port or 80), timeout=30) as connection:
        connection.sendall(head.encode())
        return connection.recv(100)


def test_d7_a_read_only_dashboard_has_no_upload(tmp_path: Path) -> None:
    with served(tmp_path / "runs.duckdb", tmp_path / "log", Access(read_only=True), TMPDIR=str(tmp_path)) as (address, _):
        with session(address) as page:
            page.run(*UPLOAD)
            assert page.put("a.json", b"{}").status == 403
            assert answer_to_headers(address, f"/_stcore/upload_file/{page.id}/1").startswith(b"HTTP/1.1 403")
        assert not list(tmp_path.glob("tachograph-*"))


def test_d7_nobody_uploads_who_has_not_the_page_that_offers_it(server: tuple[str, int], folder: Path) -> None:
    address, _ = server
    with session(address) as page:
        page.run("data")
        assert page.put("a.json", b"{}").status == 403, "the screen offers it in another view"
    with session(address) as page:
        page.run()
        assert page.put("a.json", b"{}").status == 403, "the overview offers no upload"
        assert answer_to_headers(address, f"/_stcore/upload_file/{page.id}/1").startswith(b"HTTP/1.1 403")
        page.run(*UPLOAD)
        assert page.put("a.json", b"{}").status == 204
        assert page.put("a.json", b"{}", X_Xsrftoken="x").status == 403
        assert page.put("a.json", b"{}", cookie="").status == 403
        assert replace(page, id="none").put("a.json", b"{}").status == 403
        with session(address) as other:
            other.run("upload")  # its address in earlier versions
            assert other.put("a.json", b"{}", "1").status == 403, "the file of another page"
            assert other.put("b.json", b"[]", "led-on").status == 204
        assert sorted(file.read_bytes() for file in kept(folder)) == [b"[]", b"{}"]
        taken = ask(
            address,
            f"/_stcore/upload_file/{page.id}/1",
            "DELETE",
            origin=address,
            X_Xsrftoken=page.token,
            cookie=f"_streamlit_xsrf={page.token}",
        )
        assert taken.status == 204
    assert [file.read_bytes() for file in kept(folder)] == [b"[]"]
    assert page.put("b.json", b"{}").status == 403, "the page is closed"


def test_d7_nobody_uploads_before_the_sign_in(tmp_path: Path) -> None:
    settings = tmp_path / "sign-in.toml"
    settings.write_text(GOOD)
    with served(tmp_path / "runs.duckdb", tmp_path / "log", Access(sign_in=settings), TMPDIR=str(tmp_path)) as (address, _):

        def uploads_as(email: str | None) -> int:
            with session(address, signed_in(address, email) if email else None) as page:
                page.run(*UPLOAD)
                return page.put("a.json", b"{}").status

        assert [uploads_as(email) for email in (None, "eve@evil.example", "ann@example.com")] == [403, 403, 204]


def signed_in(address: str, email: str) -> dict[str, str]:
    """The cookie of somebody whom the provider has signed in."""
    who = json.dumps({"origin": address, "is_logged_in": True, "email": email})
    return {"_streamlit_user": create_signed_value(SECRET, "_streamlit_user", who).decode()}


def test_d7_an_upload_takes_no_memory(server: tuple[str, int], folder: Path) -> None:
    address, process = server
    with session(address) as page:
        page.run(*UPLOAD)
        assert page.put("small", b"x").status == 204
        before = psutil.Process(process).memory_info().rss
        assert page.put("large", bytes(UPLOADED_BYTES), "2").status == 204
        assert psutil.Process(process).memory_info().rss - before < GROWTH_BYTES
        assert max(file.stat().st_size for file in kept(folder)) == UPLOADED_BYTES


@pytest.mark.parametrize(
    "body",
    [b"", b"no form", form("a", b"x")[:-4], form("a", b"x")[:30], form("a", b"x").replace(b"; filename", b"; other"), form("a", b"") * 2],
)
def test_what_is_no_form_with_one_file_is_refused(body: bytes, server: tuple[str, int], folder: Path) -> None:
    with session(server[0]) as page:
        page.run(*UPLOAD)
        usual = {"content_type": "multipart/form-data; boundary=line", "cookie": f"_streamlit_xsrf={page.token}"}
        path = f"/_stcore/upload_file/{page.id}/9"
        answer = ask(server[0], path, "PUT", body, origin=server[0], X_Xsrftoken=page.token, **usual)
        assert answer.status in (400, 204) if body.count(b"filename") > 1 else answer.status == 400
        assert ask(server[0], path, "PUT", body, origin=server[0], X_Xsrftoken=page.token, cookie=usual["cookie"]).status == 400


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_form_is_read_in_any_pieces(size: int) -> None:
    content = b"--line\r\n\r\n--lin\r\n--" * 20
    body = form('ä "b".json', content).replace(b'\\"', b"%22")
    reading = FileForm("multipart/form-data; boundary=line")
    assert b"".join(reading.feed(body[at : at + size]) for at in range(0, len(body), size)) == content
    reading.end()
    with pytest.raises(NoFile):
        FileForm("multipart/form-data; boundary=" + "x" * 1000)


def received(folder: Path, **bounds: Any) -> Received:
    """A store of uploads with bounds, into which pages `a` and `b` may send files."""
    found = Received(folder, **bounds)
    found.admit("a")
    found.admit("b")
    return found


def put(here: Received, page: str, file_id: str, *blocks: bytes) -> str:
    """Send a file and give what is wrong with it."""
    file = here.begin(page, file_id)
    for block in blocks:
        here.write(file, block)
    here.finish(file)
    return here.problem_of(file_id)


def test_d7_a_page_and_all_pages_have_a_bound(tmp_path: Path) -> None:
    here = received(tmp_path, session_bytes=1000, total_bytes=1500, session_files=4)
    assert put(here, "a", "1", bytes(600)) == ""
    assert "per page at a time" in put(here, "a", "2", bytes(300), bytes(300))
    assert put(here, "a", "3", bytes(400)) == "", "what failed takes no room"
    assert "of all visitors" in put(here, "b", "4", bytes(600))
    assert [file.stat().st_size for file in sorted(tmp_path.iterdir(), key=lambda file: file.stat().st_size)] == [400, 600]
    here.remove(["1"])
    assert put(here, "a", "3", bytes(500)) == "", "it replaces the one of its id"
    with pytest.raises(NoRoom, match="Reload the page"):
        here.begin("a", "5")
    here.remove(["2", "3", "4"])
    assert not list(tmp_path.iterdir())


def test_d7_the_files_of_a_lost_page_go(tmp_path: Path) -> None:
    here = received(tmp_path, grace_seconds=0)
    put(here, "a", "1", b"x")
    put(here, "a", "2", b"x")
    put(here, "b", "3", b"x")
    with here.in_use(["2"]):
        here.forget_lost(lambda page: page == "b")
        assert [here.path_of(file_id) is not None for file_id in "123"] == [False, True, True]
    here.forget_lost(lambda page: page == "b")
    assert len(list(tmp_path.iterdir())) == 1
    assert "connection to this page was lost" in here.problem_of("2")
    assert (here.is_admitted("a"), here.is_admitted("b")) == (False, True)


def test_a_page_that_reconnects_in_time_keeps_its_files(tmp_path: Path) -> None:
    here = received(tmp_path)
    put(here, "a", "1", b"x")
    here.forget_lost(lambda _: False)
    here.forget_lost(lambda _: True)
    assert here.path_of("1")
