"""Processes in which a library in C reads a stranger's file.

Unlike the library, they can be killed.

A signal's handler waits until the library returns, which it may never do. Also a crash of the
library, or memory that it does not give back, then costs its file alone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from ingest.system.bounds import TooMuch, limits

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_BUSY = 20
"""Seconds by the clock for one of the processor, on a machine that has a lot else to do."""

_CANNOT, _TOO_MUCH = 3, 4


def in_child(module: str, *arguments: str, size: int) -> Any:
    """Return the JSON that `main` of a module writes, run in a separate process.

    The process is killed beyond the limits for `size` bytes.

    The module imports the standard library only, so that the process takes 40 ms. Raises TooMuch,
    and ValueError with its `Cannot`.
    """
    seconds, megabytes = limits(size)
    root = str(Path(__file__).parents[2])
    code = (
        f"import sys; sys.path.append({root!r}); from {module} import main; from {__name__} "
        "import as_child; as_child(main)"
    )
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        code,
        str(os.getpid()),
        str(seconds),
        str(megabytes),
        *arguments,
    ]
    try:
        done = subprocess.run(  # noqa: S603  our own
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_BUSY * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TooMuch(f"it took more than {_BUSY * seconds:,.0f} seconds") from None
    message = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == _TOO_MUCH:
        raise TooMuch(message)
    killed = [-getattr(signal, name) for name in ("SIGXCPU", "SIGKILL") if hasattr(signal, name)]
    if done.returncode in killed:
        raise TooMuch(
            f"it took more than {seconds:,.0f} seconds of processor time, or "
            f"{megabytes:,.0f} MB of memory"
        )
    if done.returncode:
        raise ValueError(
            message
            if done.returncode == _CANNOT
            else f"the process that read it ended with exit code {done.returncode}"
        )
    return json.loads(done.stdout)


class Cannot(Exception):
    """A child cannot read its file; the message says why."""


def as_child(main: Callable[[Callable[[], bool], list[str]], Any]) -> NoReturn:
    """Run `main` in the process that `in_child` started, and write what it returns.

    It is given its arguments, and what says whether the parent is gone, which a library should ask
    from time to time.
    """
    parent, seconds, megabytes, *arguments = sys.argv[1:]
    code, reason = 0, ""
    try:
        for kind, limit in (
            ("CORE", 0),
            ("CPU", round(float(seconds))),
            ("AS", round(float(megabytes)) << 20),
        ):
            with suppress(
                AttributeError, ValueError, OSError
            ):  # Windows has none; others have lower ones, or refuse that of memory
                resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (limit, limit))
        sys.stdout.write(
            json.dumps(main(lambda: os.getppid() != int(parent), arguments), default=lambda _: None)
        )
    except (MemoryError, TooMuch) as error:
        code, reason = (
            _TOO_MUCH,
            str(error) or f"it took more than {float(megabytes):,.0f} MB of memory",
        )
    except Cannot as error:
        code, reason = _CANNOT, str(error)
    sys.stderr.write(reason)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)  # at once: nothing is left to do, and a library may have threads
