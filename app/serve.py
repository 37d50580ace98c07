"""Runs the dashboard: Streamlit in a process of its own, ended with this one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from pathlib import Path
from types import FrameType
from typing import NoReturn

from app import terminal
from schemas.errors import TachographError, UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  names to recognise, not to bind
_PATIENCE_SECONDS = 10


def serve(location: str, host: str, port: int, *, browser: bool) -> None:
    """Serve the dashboard until Ctrl-C. Raises UsageError where the address cannot be used."""
    require_free(host, port)
    terminal.note(f"Dashboard of {terminal.plain(location)} on {_url(host, port)} (Ctrl-C ends it)")
    if host not in LOOPBACK:
        terminal.note("It has no login: whoever reaches this address sees every run.")
    signal.signal(signal.SIGTERM, _interrupt)
    environment = os.environ | {"TACHOGRAPH_DB": location}
    child = subprocess.Popen(command(host, port), env=environment, stdout=sys.stderr.fileno())  # noqa: S603  our own
    if browser:
        threading.Thread(target=_open_browser, args=(host, port), daemon=True).start()
    try:
        code = child.wait()
    except KeyboardInterrupt:
        _end(child)
        terminal.note("Dashboard ended.")
        return
    if code:
        raise TachographError(f"the dashboard ended by itself with exit code {code}.", "Its own messages are above.")


def command(host: str, port: int) -> list[str]:
    """The Streamlit command line. It never asks for an e-mail address and sends no statistics.

    Headless also where a browser is wanted (which we open): else Streamlit advertises to the developer it takes every visitor for.
    """
    options = {
        "server.address": host,
        "server.port": port,
        "server.headless": "true",
        "server.showEmailPrompt": "false",
        "browser.gatherUsageStats": "false",
    }
    dashboard = Path(__file__).with_name("dashboard.py")
    return [sys.executable, "-m", "streamlit", "run", str(dashboard), *(f"--{key}={value}" for key, value in options.items())]


def _open_browser(host: str, port: int) -> None:
    """Open the page once somebody answers."""
    for _ in range(_PATIENCE_SECONDS * 10):
        try:
            socket.create_connection(("localhost" if host in EVERYWHERE else host, port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            webbrowser.open(_url(host, port))
            return


def require_free(host: str, port: int) -> None:
    """Raise UsageError where the address is taken, forbidden or nobody's."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        reason = f"port {port} of {host} is taken or cannot be used: {error.strerror or error}."
        raise UsageError(reason, f"Choose another, e.g. --port {port + 1 if port < 65535 else 8502}.") from error


def _url(host: str, port: int) -> str:
    shown = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child; a terminal's Ctrl-C reached it already, a `kill` of this process did not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child.terminate()
    try:
        child.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
