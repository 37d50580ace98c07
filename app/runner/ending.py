"""Ends a process with all that it started: first SIGTERM, then SIGKILL. Nothing of a run outlives it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GRACE_SECONDS = 10.0
"""Between SIGTERM and SIGKILL: an agent writes its record meanwhile."""

LEFT_SECONDS = 2.0
"""The same for what an agent left running."""

_KILLING_SECONDS = 5.0
"""A killed process is gone at once, unless it waits for a disk or a network share: that is not waited for longer."""

_STEP_SECONDS = 0.02


def send(session: int, number: int) -> None:
    """Signal all processes of a session, if any is left."""
    for group in _groups(session):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def end(session: int, grace: float) -> bool:
    """End all processes of a session. False where none was left."""
    if not is_alive(session):
        return False
    send(session, signal.SIGTERM)
    if not _ends_within(session, grace):
        until = time.monotonic() + _KILLING_SECONDS
        send(session, signal.SIGKILL)
        while not _ends_within(session, _STEP_SECONDS) and time.monotonic() < until:
            send(session, signal.SIGKILL)  # what a process started while the others were signalled
    return True


def _ends_within(session: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while is_alive(session):
        if time.monotonic() >= until:
            return False
        time.sleep(_STEP_SECONDS)
    return True


def is_alive(session: int) -> bool:
    """Whether a process of the session runs. One that has ended and was not waited for does not."""
    if Path("/proc/self/stat").exists():
        return any(True for _ in _members(session))
    try:
        os.killpg(session, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _groups(session: int) -> set[int]:
    """The process groups of a session: its own, and where the system lists processes, those that shells made in it."""
    return {session, *(group for _, group in _members(session))}


def _members(session: int) -> Iterator[tuple[int, int]]:
    """(process, group) of the living processes of a session; nothing where the system does not list processes."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            state, _, group, its = entry.read_bytes().rpartition(b")")[2].split()[:4]
            if int(its) == session and state not in (b"Z", b"X"):
                yield int(entry.parent.name), int(group)
