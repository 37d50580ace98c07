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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from app.server.addresses import EVERYWHERE, LOOPBACK, addresses
from app.server.sign_in import read_allowed
from ingest.system.locations import without_secrets
from schemas.errors import TachographError, UsageError
from schemas.text import one_line, visible

_PATIENCE_SECONDS = 10


@dataclass(frozen=True)
class Access:
    """What visitors may do. `sign_in` is the file with the settings of the sign-in, None where nobody has to.

    `hosts` are names under which a proxy serves the dashboard, each with a port where it is not the usual one.
    """

    read_only: bool = False
    sign_in: Path | None = None
    hosts: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """Environment variables for the process of the dashboard."""
        return {"TACHOGRAPH_READ_ONLY": "1" if self.read_only else "", "TACHOGRAPH_SIGN_IN": str(self.sign_in or "")}

    def warning(self) -> str:
        """What whoever serves beyond this machine must know; empty where all is well."""
        return (
            ""
            if self.sign_in
            else "No authentication: anyone who can reach this address can see all runs. Use --sign-in FILE to require sign-in."
        )


def is_read_only() -> bool:
    """Whether visitors of the dashboard of this process may only look, as `Access.environment` says it."""
    return os.environ.get("TACHOGRAPH_READ_ONLY", "") not in ("", "0")


def note(message: str) -> None:
    """Say something on stderr."""
    click.echo(visible(message), err=True)


def serve(location: str, host: str, port: int, access: Access = Access(), *, browser: bool, watcher: Sequence[str] = ()) -> None:
    """Serve the dashboard until Ctrl-C. `watcher`: the command line of a process that ingests meanwhile.

    Raises UsageError where the address or the settings of the sign-in cannot be used.
    """
    addresses(host, access.hosts)
    require_free(host, port)
    if access.sign_in:
        read_allowed(access.sign_in)
    note(f"Dashboard of {one_line(without_secrets(location))} on {_url(host, port)} (Ctrl-C stops it)")
    if host not in LOOPBACK and access.warning():
        note(access.warning())
    signal.signal(signal.SIGTERM, _interrupt)
    environment = os.environ | {"TACHOGRAPH_DB": location} | access.environment()
    child = subprocess.Popen(command(host, port, access), env=environment, stdout=sys.stderr.fileno())  # noqa: S603  our own
    children = [child, *_started(watcher, environment)]
    if browser:
        threading.Thread(target=_open_browser, args=(host, port), daemon=True).start()
    try:
        code = child.wait()
    except KeyboardInterrupt:
        code = 0
    _end(children)
    if code:
        raise TachographError(f"the dashboard exited unexpectedly (code {code}); see the output above.")
    note("Dashboard stopped.")


def command(host: str, port: int, access: Access = Access()) -> list[str]:
    """The command line of the server's own process. -P: a folder `app` where we were started is not ours."""
    allowed = [part for name in access.hosts for part in ("--allow-host", name)]
    return [sys.executable, "-P", "-m", "app.server", "--host", host, "--port", str(port), *allowed]


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
        is_taken = error.errno == errno.EADDRINUSE
        why = f"port {port} is already in use" if is_taken else f"cannot serve on {host}, port {port}: {_reason(error)}"
        raise UsageError(f"{why}.", f"Choose another, e.g. --port {port + 1 if port < 65535 else 8502}.") from error


def _reason(error: OSError) -> str:
    """The words of the system alone: `create_server` repeats the address in them."""
    words = error.strerror or str(error)
    return words if isinstance(error, socket.gaierror) or not error.errno else os.strerror(error.errno)


def _url(host: str, port: int) -> str:
    shown = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _started(watcher: Sequence[str], environment: Mapping[str, str]) -> list[subprocess.Popen[bytes]]:
    """The watcher's process, without a status line: the server speaks on the same terminal."""
    plain = {**environment, "TERM": "dumb"}
    return [subprocess.Popen(watcher, env=plain, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno())] if watcher else []  # noqa: S603


def _end(children: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the children; a terminal's Ctrl-C reached them already, a `kill` of this process did not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for child in children:
        child.terminate()
    for child in children:
        try:
            child.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
