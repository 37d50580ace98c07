"""ASGI middleware around all of Streamlit: refuses foreign requests, and puts security headers on every response."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from app.server.addresses import Addresses, Host, parse_host

_CLOSED = re.compile(r"(^|/)_stcore/(agent|metrics|script-health-check)(/|$)")
"""Endpoints of the framework that are not needed: server metrics, health checks of scripts, the API for agents."""

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_POLICY_VIOLATION = 1008
_OWN_PAGES = ("same-origin", "none")
"""`Sec-Fetch-Site` of a request by our own pages, or by a person: a typed address, a bookmark."""


class Guard:
    """Refuses requests of other sites with 403, and puts the protecting headers on every response."""

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
            await (self.app(_as_its_page(scope), receive, send) if not reason else WebSocketClose(_POLICY_VIOLATION)(scope, receive, send))
            return
        answer = PlainTextResponse(reason, 403) if reason else self.app
        await answer(scope, receive, with_headers(send, self.headers))


def refusal(scope: Scope, addresses: Addresses) -> str:
    """The reason for refusing a request, as a sentence; empty if it is allowed."""
    headers = Headers(scope=scope)
    if max(len(headers.getlist(name)) for name in ("host", "origin")) > 1:
        return "Refused: more than one Host or Origin."
    host = parse_host(headers.get("host", ""))
    if host is None:
        return "Refused: the request has no valid host."
    if not addresses.is_ours(host):
        return f"Refused: this dashboard does not answer to {host.name}. Its owner can allow that: --allow-host {host.name}"
    if _is_foreign(headers, host, addresses) or _is_fetched_elsewhere(scope, headers):
        return "Refused: the request comes from another site."
    if _CLOSED.search(scope["path"]):
        return "Refused: this dashboard has nothing at this address."
    return ""


def _is_foreign(headers: Headers, host: Host, addresses: Addresses) -> bool:
    """Whether the request has a foreign origin. Programs, and browsers that open a page, send none."""
    origin = headers.get("origin")
    return origin is not None and not addresses.may_ask(origin, host)


def _is_fetched_elsewhere(scope: Scope, headers: Headers) -> bool:
    """Whether a page of another site embeds or fetches a resource, which sends no origin. A link to one of our pages is allowed."""
    if scope["type"] == "websocket" or headers.get("sec-fetch-site", "none") in _OWN_PAGES:  # a WebSocket always has an origin
        return False
    opens = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest", "document") == "document"
    return not (opens and scope.get("method") == "GET")


def _as_its_page(scope: Scope) -> Scope:
    """The WebSocket handshake with the host of its origin, and host and origin in canonical form; a proxy may have changed the host.

    The framework compares both as texts. If they differ, it asks the network for the addresses of this machine, which is not wanted.
    """
    scheme, _, named = Headers(scope=scope).get("origin", "").partition("://")
    host = parse_host(named)
    if host is None:
        return scope
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"host", b"origin")]
    ours = {"host": str(host), "origin": f"{scheme.lower()}://{host}"}
    return {**scope, "headers": [*kept, *((name.encode(), value.encode()) for name, value in ours.items())]}


def with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """The `send` that adds the headers to each response."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return sent


def protecting_headers(page: Path) -> dict[str, str]:
    """The security headers of every response; `page` is the index.html of the framework, whose inline script is allowed by its hash."""
    return {
        "content-security-policy": content_policy(page.read_text(encoding="utf-8")),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


def content_policy(page: str) -> str:
    """The Content-Security-Policy. Inline styles are allowed, since the framework uses them; of inline scripts only those of `page`."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in _INLINE_SCRIPT.findall(page))
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
