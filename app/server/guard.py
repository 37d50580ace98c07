"""What stands before the pages: who is refused, and the headers of every answer. Plain ASGI, around everything that Streamlit serves."""

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
"""What the framework serves beside the pages, and nobody here needs: the figures of the server, programs as visitors."""

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_POLICY_VIOLATION = 1008
_OWN_PAGES = ("same-origin", "none")
"""`Sec-Fetch-Site` of a request by our own pages, or by a person: a typed address, a bookmark."""


class Guard:
    """Refuse what comes from elsewhere; put the protecting headers on every answer."""

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
    """Why a request is refused, as a sentence; empty where it may pass."""
    headers = Headers(scope=scope)
    if max(len(headers.getlist(name)) for name in ("host", "origin")) > 1:
        return "Refused: more than one Host or Origin."
    host = parse_host(headers.get("host", ""))
    if host is None:
        return "Refused: the request does not say which host it is for."
    if not addresses.is_ours(host):
        return f"Refused: this dashboard does not answer to {host.name}. Whoever serves it can allow that: --allow-host {host.name}"
    if _is_foreign(headers, host, addresses) or _is_fetched_elsewhere(scope, headers):
        return "Refused: the request comes from a page of another site."
    if _CLOSED.search(scope["path"]):
        return "Refused: this dashboard does not serve that."
    return ""


def _is_foreign(headers: Headers, host: Host, addresses: Addresses) -> bool:
    """Whether the page that asks is another's. Programs, and a browser that opens a page, send no origin."""
    origin = headers.get("origin")
    return origin is not None and not addresses.may_ask(origin, host)


def _is_fetched_elsewhere(scope: Scope, headers: Headers) -> bool:
    """Whether another site's page embeds or fetches what we serve, which needs no origin. That it links to a page of ours is fine."""
    if scope["type"] == "websocket" or headers.get("sec-fetch-site", "none") in _OWN_PAGES:  # a WebSocket always has an origin
        return False
    opens = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest", "document") == "document"
    return not (opens and scope.get("method") == "GET")


def _as_its_page(scope: Scope) -> Scope:
    """The handshake with its host as the page names it, and both as we write them. A proxy or the browser may do otherwise.

    The framework compares them as texts. Where they differ it asks the network for this machine's addresses, which nobody here should.
    """
    scheme, _, named = Headers(scope=scope).get("origin", "").partition("://")
    host = parse_host(named)
    if host is None:
        return scope
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"host", b"origin")]
    ours = {"host": str(host), "origin": f"{scheme.lower()}://{host}"}
    return {**scope, "headers": [*kept, *((name.encode(), value.encode()) for name, value in ours.items())]}


def with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """The same way out, on which each answer gets the headers."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return sent


def protecting_headers(page: Path) -> dict[str, str]:
    """The headers of every answer; `page` is the framework's page, whose one inline script may run."""
    return {
        "content-security-policy": content_policy(page.read_text(encoding="utf-8")),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


def content_policy(page: str) -> str:
    """What a page may load and do. Styles are inline because the framework makes them so; no script is, but those of its own page."""
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
