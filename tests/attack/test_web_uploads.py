"""Uploads without rights, without end and without room (D7)."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from app.server import guard
from app.server.access import Access
from app.server.guard import FILE_MEGABYTES, no_room_for
from tests.attack.conftest import Server
from tests.attack.visitor import ask, session
from tests.serving import PATIENCE_SECONDS, served
from tests.test_sign_in import GOOD

pytestmark = pytest.mark.xdist_group("web")

UPLOAD = ("data", "view=upload")
"""The screen that offers the upload."""

SECRET = "a secret of more than sixteen characters"


def answer_to_headers(address: str, path: str, more: str = "Content-Length: 1000") -> bytes:
    """What a server says to the headers of an upload, of which nothing else is sent."""
    url = urlsplit(address)
    head = f"PUT {path} HTTP/1.1\r\nHost: {url.netloc}\r\nOrigin: {address}\r\n{more}\r\n\r\n"
    with socket.create_connection(
        (url.hostname or "", url.port or 80), timeout=PATIENCE_SECONDS
    ) as connection:
        connection.sendall(head.encode())
        return connection.recv(100)


def test_d7_nobody_uploads_who_has_not_the_page_that_offers_it(server: Server) -> None:
    with session(server.address) as page:
        page.run("data")
        assert page.put("a.json", b"{}").status == 403, "the screen offers it in another view"
        page.run()
        assert page.put("a.json", b"{}").status == 403, "the overview offers no upload"
        assert answer_to_headers(server.address, f"/_stcore/upload_file/{page.id}/1").startswith(
            b"HTTP/1.1 403"
        )
        page.run(*UPLOAD)
        assert page.put("a.json", b"{}").status == 204
        assert page.put("a.json", b"{}", X_Xsrftoken="x").status == 403
        assert page.put("a.json", b"{}", cookie="").status == 403
        assert replace(page, id="none").put("a.json", b"{}").status == 403
        path = f"/_stcore/upload_file/{page.id}/1"
        ours = {"origin": server.address, "X_Xsrftoken": page.token}
        ours |= {"cookie": f"_streamlit_xsrf={page.token}"}
        taken = ask(server.address, path, "DELETE", None, **ours)
        assert (taken.status, taken.headers["Access-Control-Allow-Origin"]) == (204, None)
        assert ask(server.address, path, "POST", b"", **ours).status == 404
        form = {"content_type": "multipart/form-data; boundary=line"}
        assert ask(server.address, path, "PUT", b"no form", **(ours | form)).status == 400
        page.run()
        assert page.put("a.json", b"{}").status == 403, "the page that offered it was left"
        page.run("upload")  # its address in earlier versions
        assert page.put("b.json", b"[]", "led-on").status == 204
    assert page.put("b.json", b"{}").status == 403, "the page is closed"


def test_d7_nobody_uploads_before_the_sign_in(tmp_path: Path) -> None:
    settings = tmp_path / "sign-in.toml"
    settings.write_text(GOOD)
    with served(
        tmp_path / "runs.duckdb", tmp_path / "log", Access(sign_in=settings), TMPDIR=str(tmp_path)
    ) as (address, _):

        def uploads_as(email: str | None) -> int:
            with session(address, signed_in(address, email) if email else None) as page:
                page.run(*UPLOAD)
                return page.put("a.json", b"{}").status

        assert [uploads_as(email) for email in (None, "eve@evil.example", "ann@example.com")] == [
            403,
            403,
            204,
        ]


def signed_in(address: str, email: str) -> dict[str, str]:
    """The cookie of somebody whom the provider has signed in."""
    who = json.dumps(
        {"origin": address, "is_logged_in": True, "email": email, "email_verified": True}
    )
    return {"_streamlit_user": create_signed_value(SECRET, "_streamlit_user", who).decode()}


def test_d7_what_is_too_large_or_of_unknown_length_is_refused_unread(server: Server) -> None:
    with session(server.address) as page:
        page.run(*UPLOAD)
        path = f"/_stcore/upload_file/{page.id}/1"
        answers = [
            answer_to_headers(server.address, path, more)
            for more in (
                f"Content-Length: {(FILE_MEGABYTES + 2) << 20}",
                "Transfer-Encoding: chunked",
                "Content-Length: 1e3",
            )
        ]
        assert [answer.split(b" ")[1] for answer in answers] in (
            [b"413", b"411", b"411"],
            [b"413", b"411", b"400"],
        )


def test_d7_a_page_and_all_pages_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PAGE_BYTES", 100_000)
    monkeypatch.setattr(guard, "ALL_BYTES", 150_000)
    here = MemoryUploadedFileManager("/")
    here.add_file("a", UploadedFileRec("1", "a", "", bytes(60_000)))
    assert no_room_for("a", 40_000, here) == ""
    assert "a page" in no_room_for("a", 41_000, here)
    assert "of all visitors" in no_room_for("b", 91_000, here)
    for number in range(20):
        here.add_file("b", UploadedFileRec(str(number), "empty", "", b""))
    assert "a page" in no_room_for("b", 20_000, here), "an empty file takes room, too"
    here.remove_session_files("a")
    assert no_room_for("a", 100_000, here) == ""
