"""Runs the dashboard: its server in a process of its own, ended with this one."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from app.server.access import EVERYWHERE, LOOPBACK, Access, addresses, read_guests
from ingest.system.secrets import without_secrets
from schemas.errors import TachographError, UsageError
from schemas.text import one_line, visible

_PATIENCE_SECONDS = 10


def serve(
    location: str,
    host: str,
    port: int,
    access: Access,
    *,
    browser: bool,
    watcher: Sequence[str] = (),
) -> None:
    """Serve the dashboard until Ctrl-C.

    `watcher`: the command line of a process that ingests in parallel.

    Raises UsageError if the address or the settings of the sign-in cannot be used.
    """
    addresses(host, access.hosts)
    require_free(host, port)
    if access.sign_in:
        read_guests(access.sign_in)
    shown = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{port}"
    _say(f"Dashboard of {one_line(without_secrets(location))} on {url} (Ctrl-C stops it)")
    if host not in LOOPBACK and not access.sign_in:
        _say(
            "No authentication: anyone who can reach this address can see all runs. Use "
            "--sign-in FILE to require sign-in."
        )
    signal.signal(signal.SIGTERM, _interrupt)
    environment = os.environ | {"TACHOGRAPH_DB": location} | access.environment()
    child = subprocess.Popen(  # noqa: S603
        command(host, port, access), env=environment, stdout=sys.stderr.fileno()
    )
    children = [child]
    if watcher:
        plain = environment | {
            "TERM": "dumb"
        }  # without a status line: the server speaks on the same terminal
        children.append(
            subprocess.Popen(  # noqa: S603
                watcher, env=plain, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
            )
        )
    if browser:
        threading.Thread(target=_open_browser, args=(host, port, url), daemon=True).start()
    try:
        code = child.wait()
    except KeyboardInterrupt:
        code = 0
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for (
        one
    ) in children:  # a terminal's Ctrl-C reached them already, a `kill` of this process did not
        one.terminate()
    for one in children:
        try:
            one.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()
    if code:
        raise TachographError(
            f"the dashboard exited unexpectedly (code {code}); see the output above."
        )
    _say("Dashboard stopped.")


def command(host: str, port: int, access: Access) -> list[str]:
    """Return the command line of the server's process.

    -P keeps a folder `app` in the working directory from being imported.
    """
    allowed = [part for name in access.hosts for part in ("--allow-host", name)]
    return [sys.executable, "-P", "-m", "app.server", "--host", host, "--port", str(port), *allowed]


def require_free(host: str, port: int) -> None:
    """Raise UsageError if the address is taken, forbidden, or not on this machine."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        words = error.strerror or str(error)
        if not isinstance(error, socket.gaierror) and error.errno:
            words = os.strerror(error.errno)  # `create_server` repeats the address in its words
        is_taken = error.errno == errno.EADDRINUSE
        why = (
            f"port {port} is already in use"
            if is_taken
            else f"cannot serve on {host}, port {port}: {words}"
        )
        raise UsageError(
            f"{why}.", f"Choose another, e.g. --port {port + 1 if port < 65535 else 8502}."
        ) from error


def _open_browser(host: str, port: int, url: str) -> None:
    for _ in range(_PATIENCE_SECONDS * 10):
        try:
            socket.create_connection(
                ("localhost" if host in EVERYWHERE else host, port), timeout=1
            ).close()
        except OSError:
            time.sleep(0.1)
        else:
            webbrowser.open(url)
            return


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _say(message: str) -> None:
    click.echo(visible(message), err=True)
