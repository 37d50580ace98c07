"""A browser that checks what a hostile page must not do, and the canary for hostile texts.

Hostile texts send requests to the canary.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Dialog, Page, Request, WebSocket

from tests.serving import PATIENCE_SECONDS, move

SLOW_SECONDS = 3 * PATIENCE_SECONDS
"""A screen of many hostile names is drawn within this time, on a machine that does much else."""

HARMLESS = ("data:", "blob:", "about:")
DANGEROUS_LINKS = """links => links.map(link => link.getAttribute("href") || "")
    .filter(href => /^[\\s\\u0000-\\u0020]*(javascript|data|vbscript|file):/i.test(href) && !/^data:image|^blob:/.test(href))"""  # noqa: E501


class Canary:
    """A local server that nothing has a reason to ask."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[str] = []

    def take(self) -> list[str]:
        """What was asked of it since this was last called."""
        asked, self.asked = self.asked, []
        return asked


@contextmanager
def canary() -> Iterator[Canary]:
    """A canary on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that the library asks for
            found.asked.append(f"{self.command} {self.path}")
            self.send_response(200)
            self.end_headers()

        do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Canary(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Tab:
    """One page of a browser, watched until it is closed.

    `offences`: requests to anybody but `address`, dialogs, windows that opened.
    """

    def __init__(self, page: Page, address: str) -> None:
        self._address = address
        self.offences: list[str] = []
        self.page = page
        self.page.on("request", self._request)
        self.page.on("dialog", self._dialog)
        self.page.on("websocket", self._socket)
        self.page.on("popup", self._popup)
        self.page.set_default_timeout(SLOW_SECONDS * 1000)

    def _request(self, request: Request) -> None:
        if not request.url.startswith((f"{self._address}/", *HARMLESS)):
            self.offences.append(f"request to {request.url[:200]}")

    def _socket(self, socket: WebSocket) -> None:
        if not socket.url.startswith(f"{self._address.replace('http', 'ws')}/"):
            self.offences.append(f"socket to {socket.url[:200]}")

    def _popup(self, page: Page) -> None:
        self.offences.append(f"a window opened: {page.url[:200]}")

    def _dialog(self, dialog: Dialog) -> None:
        self.offences.append(f"dialog: {dialog.message[:200]}")
        dialog.dismiss()

    def open(self, path: str) -> Page:
        """Go to a dashboard screen and wait until it is drawn, unless the server refuses it."""
        response = self.page.goto(f"{self._address}/{path}")
        if response is None or response.ok:
            self._wait()
        return self.page

    def move(self, path: str) -> None:
        """Go to another screen as the links of the dashboard do, and wait until it is drawn."""
        move(self.page, path)
        self._wait()

    def _wait(self) -> None:
        self.page.get_by_role("heading").or_(self.page.get_by_role("dialog")).first.wait_for()
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        self.page.wait_for_selector("[data-testid=stSkeleton]", state="detached")

    def unfold(self) -> None:
        """Open all that is folded, which draws more."""
        for number in range(self.page.locator("details:not([open]) > summary").count()):
            folded = self.page.locator("[data-testid=stExpander] summary").nth(number)
            if folded.count() and folded.is_visible():
                folded.click()
        self._wait()

    def check(self) -> None:
        """Raise AssertionError with what the page did or shows that it must not."""
        for frame in self.page.frames:
            assert frame.evaluate("window.__pwned") is None, f"a script ran in {frame.url[:200]}"
        links = self.page.eval_on_selector_all("a[href], area[href], form[action]", DANGEROUS_LINKS)
        assert not links, f"links that run something: {links[:3]}"
        assert not self.page.get_by_test_id("stException").count(), self.page.get_by_test_id(
            "stException"
        ).first.inner_text()[:1000]
        assert "Traceback (most recent call last)" not in self.page.locator("body").inner_text()
        offences, self.offences = self.offences, []
        assert not offences, f"{len(offences)} offences: {offences[:5]}"

    def close(self) -> None:
        """Watch it no more."""
        self.page.remove_listener("request", self._request)
        self.page.remove_listener("dialog", self._dialog)
        self.page.remove_listener("websocket", self._socket)
        self.page.remove_listener("popup", self._popup)


class Log:
    """The log of a server."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = 0

    def take(self) -> str:
        """What it wrote since it was last asked."""
        told = self._path.read_text(errors="replace")[self._seen :]
        self._seen += len(told)
        return told
