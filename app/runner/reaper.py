"""Ends the processes of a session and, run as a process of its own, also those that left it.

`python -IS reaper.py` runs commands one after another, each a line of JSON on standard input, and
answers each with a line of JSON. Orphans of a command become its children, also those with a
session of their own, because it is a "subreaper" (prctl(2) of Linux); no process of anybody else
does. It imports the standard library only, so that it starts fast and is small when it starts a
command.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

LEFT_SECONDS = 2.0
"""Seconds between SIGTERM and SIGKILL for processes that a command left running."""

_KILLING_SECONDS = 5.0
"""Seconds to wait for a killed process. It takes longer only if it waits for a disk or a network
share.
"""

_STEP_SECONDS = 0.02

_PARENT_DEATH_SIGNAL, _DUMPABLE, _CHILD_SUBREAPER = 1, 4, 36
"""Options of prctl(2): a signal when the parent dies, whether others of this user may look into
this process, and where orphans go.
"""


def send(session: int, number: int, above: int | None = None) -> None:
    """Send a signal to all remaining processes of a session, and to all below process `above`."""
    for group in {
        session,
        *(group for _, group in _members(session, above)),
    }:  # its own, and those that shells made in it
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def end(session: int, grace: float, above: int | None = None) -> bool:
    """End all processes of a session, and all below the process `above`.

    Returns False if none was left.
    """
    if not is_alive(session, above):
        return False
    send(session, signal.SIGTERM, above)
    if not _ends_within(session, grace, above):
        until = time.monotonic() + _KILLING_SECONDS
        send(session, signal.SIGKILL, above)
        while not _ends_within(session, _STEP_SECONDS, above) and time.monotonic() < until:
            send(
                session, signal.SIGKILL, above
            )  # what a process started while the others were signalled
    return True


def is_alive(session: int, above: int | None = None) -> bool:
    """Return whether a process of the session, or one below the process `above`, runs.

    Zombies do not count.
    """
    if Path("/proc/self/stat").exists():
        return any(True for _ in _members(session, above))
    try:
        os.killpg(session, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _ends_within(session: int, seconds: float, above: int | None) -> bool:
    until = time.monotonic() + seconds
    while is_alive(session, above):
        if time.monotonic() >= until:
            return False
        time.sleep(_STEP_SECONDS)
    return True


def _members(session: int, above: int | None) -> Iterator[tuple[int, int]]:
    """Yield (process, group) of the living processes of a session or below a process.

    None if the system does not list processes.
    """
    parents, living = dict[int, int](), list[tuple[int, int, int]]()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            state, *numbers = entry.read_bytes().rpartition(b")")[2].split()[:4]
            process, (parent, group, its) = int(entry.parent.name), map(int, numbers)
            parents[process] = parent
            if state not in (b"Z", b"X"):
                living.append((process, group, its))
    for process, group, its in living:
        if its == session or (above and _is_below(process, above, parents)):
            yield process, group


def _is_below(process: int, above: int, parents: Mapping[int, int]) -> bool:
    for _ in parents:  # a number that was given anew while we listed could make a circle
        process = parents.get(process, 0)
        if process in (0, above):
            return process == above
    return False


class _Over(Exception):
    """The time of a command is over."""


def _run(words: list[str], cwd: str, output: str, limit: float) -> dict[str, Any]:
    """Run a command and end all that it leaves.

    Returns its exit code (None: its time was over) and its seconds, or why it cannot start.
    """
    process, code, seconds = None, None, limit
    try:
        with Path(output).open("wb") as to:
            started = time.perf_counter()
            process = subprocess.Popen(  # noqa: S603  the command is what it is for
                words,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=to,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        signal.setitimer(signal.ITIMER_REAL, max(0.0, limit - (time.perf_counter() - started)))
        while True:
            ended, status = os.waitpid(-1, 0)  # orphans are waited for, too
            if ended == process.pid:
                seconds = time.perf_counter() - started
                code = process.returncode = os.waitstatus_to_exitcode(status)
                break
    except OSError as error:
        return {"error": error.strerror}
    except _Over:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if process:
            end(process.pid, LEFT_SECONDS, os.getpid())
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
    return {"code": code, "seconds": seconds}


def _over(_number: int, _frame: object) -> None:
    raise _Over


def _leave(_number: int, _frame: object) -> None:
    sys.exit()


def main() -> None:
    """Run the commands of standard input until it closes, a signal comes or the parent ends."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
        prctl(
            _DUMPABLE, 0, 0, 0, 0
        )  # else a command could read our memory and write to our streams
    signal.signal(signal.SIGALRM, _over)
    signal.signal(signal.SIGTERM, _leave)
    for line in sys.stdin:
        asked = json.loads(line)
        mark = asked.pop("mark")  # which a command does not know that would write the answer
        sys.stdout.write(f"{json.dumps([mark, _run(**asked)])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
