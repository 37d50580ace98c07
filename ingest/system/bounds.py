"""Bounds on a source's processor time and memory: no file can keep an ingest from its end.

The bound is on what reading one source may take.

The system's profiling timer looks every quarter of a second of processor time, also inside a
regular expression, and raises TooMuch. It works in the main thread of a process only; elsewhere,
and on systems without that timer, nothing is bounded. A library in C that reads a stranger's file
may never return to Python, where signals are seen: it works in a process of its own (`children`).
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SECONDS, SECONDS_PER_MEGABYTE = 15.0, 2.0
"""Processor seconds for any source, and for each of its megabytes: ten times what the slowest real
logs take.
"""

MEGABYTES, MEGABYTES_PER_MEGABYTE = 768.0, 8.0
"""Megabytes of memory for any source beyond the process's use so far, and for each megabyte of the
source.
"""

_TICK_SECONDS = 0.25


class TooMuch(BaseException):
    """A bound was exceeded.

    Not an Exception, so that a reader's own error handling cannot catch it.
    """


class _Bound:
    """Usage and limits of one block. `size`: the bytes it has read, decompressed."""

    def __init__(self, size: Callable[[], int]) -> None:
        self._size = size
        self._seconds, self._megabytes = _used()
        self._is_exceeded = False

    def check(self) -> None:
        """Raise TooMuch if the block exceeded its limits; only once, so that cleanup can run."""
        if self._is_exceeded:
            return
        used_seconds, used_megabytes = _used()
        seconds, megabytes = limits(self._size())
        what = ""
        if used_seconds - self._seconds > seconds:
            what = f"{seconds:,.0f} seconds of processor time"
        elif used_megabytes - self._megabytes > megabytes:
            what = f"{megabytes:,.0f} MB of memory"
        if what:
            self._is_exceeded = True
            raise TooMuch(f"it took more than {what}")

    def leave_out(self, seconds: float, megabytes: float) -> None:
        """Subtract the usage of an inner block."""
        self._seconds += seconds
        self._megabytes += megabytes


_bounds: list[_Bound | None] = []
"""Active blocks in the main thread, the innermost last; None for one without a bound."""


@contextmanager
def bounded(size: Callable[[], int]) -> Iterator[None]:
    """Raise TooMuch in the block once it exceeds the limits for its size.

    Enclosing bounds do not count its usage.
    """
    if not _may_watch():
        yield
        return
    with watched(), _under_way(_Bound(size)):
        yield


@contextmanager
def watched() -> Iterator[None]:
    """Run the timer during the block, which has no bound itself.

    Starting and stopping it for each of many small sources takes a twentieth of their time.
    """
    if _bounds or not _may_watch():
        yield
        return
    previous = signal.signal(signal.SIGPROF, _look)
    signal.setitimer(signal.ITIMER_PROF, _TICK_SECONDS, _TICK_SECONDS)
    _bounds.append(None)
    try:
        yield
    finally:
        _bounds.pop()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _may_watch() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and hasattr(signal, "setitimer")


@contextmanager
def unbounded() -> Iterator[None]:
    """Exempt the block from the enclosing bound, because it must finish.

    Such a block keeps rows of several sources, for instance.
    """
    if not _bounds or threading.current_thread() is not threading.main_thread():
        yield
        return
    with _under_way(None):
        yield


@contextmanager
def _under_way(bound: _Bound | None) -> Iterator[None]:
    outer = _bounds[-1] if _bounds else None
    before = _used() if outer else (0.0, 0.0)
    _bounds.append(bound)
    try:
        yield
    finally:
        _bounds.pop()
        if outer:
            now = _used()
            outer.leave_out(now[0] - before[0], now[1] - before[1])


def _look(_number: int, _frame: FrameType | None) -> None:
    if _bounds and (bound := _bounds[-1]):
        bound.check()


def limits(size: int) -> tuple[float, float]:
    """Return the processor seconds and megabytes of memory that reading so many bytes may take."""
    megabytes = size / (1 << 20)
    return (
        SECONDS + SECONDS_PER_MEGABYTE * megabytes,
        MEGABYTES + MEGABYTES_PER_MEGABYTE * megabytes,
    )


def _used() -> tuple[float, float]:
    """Return this process's processor seconds and peak memory in megabytes (0 if unknown).

    It is unknown if the system does not say.
    """
    peak = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        * (1 if sys.platform == "darwin" else 1 << 10)
        / (1 << 20)
        if resource
        else 0.0
    )
    return time.process_time(), peak
