"""ASGI middleware that sends the framework's scripts, styles and fonts in one piece: a first visitor loads 130 of them.

The framework takes three turns of a thread for each file and one more for each 64 KiB, 5 ms of CPU a file, and Plotly alone has 4.7 MB.
"""

from __future__ import annotations

import re
from mimetypes import guess_type
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_FILE = re.compile(r"/(static/(?:js|css|media)/[A-Za-z0-9_-][\w.-]*\.(?:js|css|woff2))", re.ASCII)
"""Files with a hash in their names: their content never changes."""

_CACHED = {"cache-control": "public, immutable, max-age=31536000"}


class Bundles:
    """Answers requests for files of the framework; `folder` has its page and `static/`. All other requests go on."""

    def __init__(self, app: ASGIApp, folder: Path) -> None:
        self.app = app
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = (scope["type"] == "http" and self._file(scope)) or self.app
        await answer(scope, receive, send)

    def _file(self, scope: Scope) -> Response | None:
        """The file that a request wants as a whole; None where it wants something else, or there is no such file."""
        found = _FILE.fullmatch(scope["path"])
        if found is None or scope["method"] != "GET" or "range" in Headers(scope=scope):
            return None
        try:
            body = (self._folder / found[1]).read_bytes()
        except OSError:
            return None
        return Response(body, headers=_CACHED, media_type="text/javascript" if found[1].endswith(".js") else guess_type(found[1])[0])
