"""The upload endpoint: `PUT` and `DELETE` below `/_stcore/upload_file/`, instead of the framework's route.

The framework's route keeps files in memory, for any open page. This one checks the session first, and streams the bytes to disk. The
framework gets an empty file with a name: `st.file_uploader` returns its id, under which `Received` has the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol, cast

from anyio import to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import get_instance
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from app.server.form import FileForm, NoFile
from app.server.received import File, NoRoom, Received

_UPLOADS = re.compile(r"(^|/)_stcore/upload_file(/|$)")
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)")
_BLOCK_BYTES = 1 << 20
"""Bytes that are collected before they are written."""

_FRAME_BYTES = 1 << 20
"""Bytes of a form around its file, at most."""


class FileKeeper(Protocol):
    """The methods of the framework's store of uploads that its own route calls."""

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Make the file available to the page of the session."""

    def remove_file(self, session_id: str, file_id: str) -> None:
        """Remove the file from the page of the session."""


class UploadRoute:
    """Answers requests below the path of uploads, and passes on all others. `received()` is None if uploads are off."""

    def __init__(self, app: ASGIApp, received: Callable[[], Received | None]) -> None:
        self.app = app
        self.received = received

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _UPLOADS.search(scope["path"]):
            await self.app(scope, receive, send)
            return
        answer = await _answer(Request(scope, receive), self.received())
        await answer(scope, receive, send)


async def _answer(request: Request, received: Received | None) -> Response:
    found = _UPLOAD.fullmatch(request.url.path)
    if found is None or request.method not in ("PUT", "DELETE"):
        return PlainTextResponse("There is nothing here.", 404)
    session_id, file_id = found[1], found[2]
    if reason := _refusal(request, received, session_id, file_id):
        return PlainTextResponse(reason, 403)
    assert received is not None
    if request.method == "PUT":
        return await _put(request, received, session_id, file_id)
    received.remove([file_id])
    _keeper().remove_file(session_id, file_id)
    return Response(status_code=204)


def _refusal(request: Request, received: Received | None, session_id: str, file_id: str) -> str:
    """The reason for refusing an upload, checked before the body is read; empty if it is allowed."""
    if received is None:
        return "Uploads are disabled."
    if not received.is_admitted(session_id) or not get_instance().is_active_session(session_id):
        return "Files may only be uploaded from the upload page."
    if not validate_xsrf_token(request.headers.get("x-xsrftoken"), request.cookies.get(XSRF_COOKIE_NAME)):
        return "The request does not come from the upload page."
    return "" if received.is_of(session_id, file_id) else "This is the file of another page."


async def _put(request: Request, received: Received, session_id: str, file_id: str) -> Response:
    """Receive a file. One beyond a limit is read to its end and dropped, so that the page, not the browser, shows the reason."""
    if int(request.headers.get("content-length") or 0) > _most_bytes():
        return PlainTextResponse("The file is too large.", 413)
    try:
        form = FileForm(request.headers.get("content-type", ""))
        file = received.begin(session_id, file_id)
        await _receive(request, form, file, received)
    except (NoRoom, NoFile, ClientDisconnect) as error:
        received.remove([file_id])
        return PlainTextResponse(str(error), 413 if isinstance(error, NoRoom) else 400)
    if not get_instance().is_active_session(session_id):
        received.remove([file_id])
        return PlainTextResponse("The page was closed.", 403)
    _keeper().add_file(session_id, UploadedFileRec(file_id, form.name, "application/octet-stream", b""))
    return Response(status_code=204)


async def _receive(request: Request, form: FileForm, file: File, received: Received) -> None:
    """Write the bytes of a file as they arrive. Raises NoFile, NoRoom, ClientDisconnect."""
    waiting, came = bytearray(), 0
    async for piece in request.stream():
        came += len(piece)
        if came > _most_bytes():
            raise NoRoom("The file is too large.")
        waiting += form.feed(piece)
        if len(waiting) >= _BLOCK_BYTES:
            await to_thread.run_sync(received.write, file, bytes(waiting))
            waiting.clear()
    form.end()
    await to_thread.run_sync(received.write, file, bytes(waiting))
    received.finish(file)


def _most_bytes() -> int:
    """The most bytes of a request."""
    return int(config.get_option("server.maxUploadSize")) * (1 << 20) + _FRAME_BYTES


def _keeper() -> FileKeeper:
    """The framework's store of uploads; its published protocol lacks the methods that only its route calls."""
    return cast("FileKeeper", get_instance().uploaded_file_mgr)
