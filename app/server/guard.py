"""ASGI middleware around all of Streamlit.

Refuses foreign requests and uploads without rights, and protects every response.

Streamlit's own upload route keeps files in memory, for any open page. So a request reaches it only
from a page that offers the upload, and only while there is room; the headers decide both, before
the file is read.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from app.server.access import Addresses, is_read_only, parse_host

_SCRIPT = Path(__file__).parent.parent / "assets" / "menus.js"
MENUS = f"<script>{_SCRIPT.read_text(encoding='utf-8')}</script>"
"""The only script of ours on the dashboard's pages.

It leads the keyboard into open menus, and keeps the minute of the last look in a cookie.
"""

FILE_MEGABYTES = 400
PAGE_BYTES, ALL_BYTES = 1 << 30, 2 << 30
"""Bytes of a page's files that are not ingested yet, and of those of all pages."""

_LEAST_BYTES = 4096
"""Least size of a file in the count, because its name takes memory, too."""

_UPLOADS = re.compile(r"(^|/)_stcore/upload_file(/|$)")
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+")
_CLOSED = re.compile(r"(^|/)_stcore/(agent|metrics|script-health-check)(/|$)")
"""Endpoints of the framework that are not needed: server metrics, health checks of scripts, the API
for agents.
"""

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_PROTOCOL_ERROR, _UNSUPPORTED, _POLICY_VIOLATION = 1002, 1003, 1008
"""Codes of RFC 6455, section 7.4.1."""

_OWN_PAGES = ("same-origin", "none")
"""`Sec-Fetch-Site` of a request by our own pages, or by a person: a typed address, a bookmark."""

_admitted: set[str] = set()

_coming: Counter[str] = Counter()
"""Bytes being received, by session."""


def let_upload(session_id: str, *, allowed: bool) -> None:
    """Allow or forbid uploads from a page."""
    if allowed and not is_read_only():
        _admitted.intersection_update(
            [one for one in _admitted if get_instance().is_active_session(one)]
        )
        _admitted.add(session_id)
    else:
        _admitted.discard(session_id)


class Guard:
    """Refuses requests of other sites with 403, and puts protecting headers on every response."""

    def __init__(self, app: ASGIApp, addresses: Addresses, headers: Mapping[str, str]) -> None:
        self.app = app
        self.addresses = addresses
        self.headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        reason = refusal(scope, self.addresses)
        if scope["type"] == "websocket":
            refused = WebSocketClose(_POLICY_VIOLATION)
            await (
                self._page(scope, receive, send) if not reason else refused(scope, receive, send)
            )
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in [
                    name for name in headers if name.startswith("access-control-")
                ]:  # no other site may ask
                    del headers[name]
                headers.update(self.headers)
            await send(message)

        if reason:
            await PlainTextResponse(reason, 403)(scope, receive, protected)
        elif _UPLOADS.search(scope["path"]):
            await self._upload(scope, receive, protected)
        else:
            await self.app(scope, receive, protected)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the messages of a page on until one is not of the framework's protocol.

        The framework would print a traceback for that one.
        """
        is_closed = False

        async def read() -> Message:
            nonlocal is_closed
            message = await receive()
            if (
                message["type"] != "websocket.receive"
                or is_closed
                or not (code := _refusal_of(message.get("bytes")))
            ):
                return message
            is_closed = True
            await send({"type": "websocket.close", "code": code})
            return {"type": "websocket.disconnect", "code": code}

        async def write(message: Message) -> None:
            if not is_closed:
                await send(message)

        await self.app(_as_its_page(scope), read, write)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an upload, or a removal, on to the framework if its page may and there is room."""
        found = _UPLOAD.fullmatch(scope["path"])
        if found is None or scope["method"] not in ("PUT", "DELETE"):
            await PlainTextResponse("There is nothing here.", 404)(scope, receive, send)
            return
        session_id, runtime = found[1], get_instance()
        if session_id not in _admitted or not runtime.is_active_session(session_id):
            words = (
                "Uploads are disabled."
                if is_read_only()
                else "Files may only be uploaded from the upload page."
            )
            await PlainTextResponse(words, 403)(scope, receive, send)
            return
        size = 0
        if scope["method"] == "PUT":
            length = Headers(scope=scope).get("content-length", "")
            if not length.isdecimal():
                await PlainTextResponse("The request does not say how long it is.", 411)(
                    scope, receive, send
                )
                return
            size = max(int(length), _LEAST_BYTES)
            if no_room := no_room_for(session_id, size, runtime.uploaded_file_mgr):
                await PlainTextResponse(no_room, 413)(scope, receive, send)
                return
        _coming[session_id] += size
        try:
            await self.app(scope, receive, send)
        except OSError as error:  # the framework keeps what comes in a temporary file first
            await PlainTextResponse(
                f"No room for temporary files: {error.strerror or error}.", 507
            )(scope, receive, send)
        finally:
            _coming[session_id] -= size
            if not _coming[session_id]:
                del _coming[session_id]


def no_room_for(session_id: str, size: int, manager: object) -> str:
    """Return why a page cannot upload so many bytes now, given the files the framework keeps.

    "" if it can.
    """
    assert isinstance(manager, MemoryUploadedFileManager)
    if size > (FILE_MEGABYTES + 1) << 20:
        return f"The file is too large: at most {FILE_MEGABYTES} MB."
    mine = sum(
        max(len(file.data), _LEAST_BYTES)
        for file in list(manager.file_storage.get(session_id, {}).values())
    )
    if mine + _coming[session_id] + size > PAGE_BYTES:
        return f"Too much at once: at most {PAGE_BYTES >> 30} GB a page."
    kept = sum(one.byte_length for stats in manager.get_stats().values() for one in stats)
    return (
        "The uploads of all visitors have reached their bound. Try again later."
        if kept + _coming.total() + size > ALL_BYTES
        else ""
    )


def refusal(scope: Scope, addresses: Addresses) -> str:
    """Return the reason for refusing a request, as a sentence, or "" if it is allowed."""
    headers = Headers(scope=scope)
    if max(len(headers.getlist(name)) for name in ("host", "origin")) > 1:
        return "Refused: more than one Host or Origin."
    host = parse_host(headers.get("host", ""))
    if host is None:
        return "Refused: the request has no valid host."
    if not addresses.is_ours(host):
        return (
            f"Refused: this dashboard does not answer to {host.name}. Its owner can allow that: "
            f"--allow-host {host.name}"
        )
    origin = headers.get("origin")  # programs, and browsers that open a page, send none
    if (origin is not None and not addresses.may_ask(origin, host)) or _is_fetched_elsewhere(
        scope, headers
    ):
        return "Refused: the request comes from another site."
    if _CLOSED.search(scope["path"]):
        return "Refused: this dashboard has nothing at this address."
    return ""


def _is_fetched_elsewhere(scope: Scope, headers: Headers) -> bool:
    """Return whether a page of another site embeds or fetches a resource, which sends no origin.

    A link to one of our pages is allowed.
    """
    if (
        scope["type"] == "websocket" or headers.get("sec-fetch-site", "none") in _OWN_PAGES
    ):  # a WebSocket always has an origin
        return False
    opens = (
        headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
    )
    return not (opens and scope.get("method") == "GET")


def _refusal_of(body: bytes | None) -> int:
    """Return the code that closes the WebSocket after a frame; 0 for a message of a page.

    `body` is None for a frame of text, else it has other bytes.
    """
    if body is None:
        return _UNSUPPORTED
    try:
        BackMsg.FromString(body)
    except Exception:  # protobuf's DecodeError, a class without types
        return _PROTOCOL_ERROR
    return 0


def _as_its_page(scope: Scope) -> Scope:
    """Return the WebSocket handshake with the host of its origin, both in canonical form.

    A proxy may have changed the host.

    The framework compares both as texts. If they differ, it asks the network for the addresses of
    this machine, which we avoid.
    """
    scheme, _, named = Headers(scope=scope).get("origin", "").partition("://")
    host = parse_host(named)
    if host is None:
        return scope
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"host", b"origin")]
    ours = {"host": str(host), "origin": f"{scheme.lower()}://{host}"}
    return {
        **scope,
        "headers": [*kept, *((name.encode(), value.encode()) for name, value in ours.items())],
    }


def protecting_headers(page: Path) -> dict[str, str]:
    """Return the security headers of every response.

    `page` is the framework's index.html with an inline script; that and ours are allowed by hash.
    """
    return {
        "content-security-policy": content_policy(page.read_text(encoding="utf-8") + MENUS),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


def content_policy(page: str) -> str:
    """Return the Content-Security-Policy.

    Inline styles are allowed, since the framework uses them; inline scripts only those of `page`.
    """
    hashes = (
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in _INLINE_SCRIPT.findall(page)
    )
    scripts = " ".join(f"'sha256-{digest}'" for digest in hashes)
    rules = {
        "default-src": "'none'",
        "script-src": f"'self' {scripts}".strip(),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "manifest-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{key} {value}" for key, value in rules.items())
