"""Ctrl-C, SIGTERM and SIGHUP.

Recording which one came, delaying them in critical sections, and shielding child processes.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that interrupt us. Windows has no SIGHUP."""


@dataclass
class _Received:
    number: signal.Signals = signal.SIGINT
    at: float = float("-inf")


_received = _Received()


def received() -> signal.Signals:
    """Return the signal that interrupted this process last; SIGINT if none was recorded."""
    return _received.number


def was_interrupted() -> bool:
    """Return whether a signal came since `interruptible` began.

    A library may have turned the KeyboardInterrupt into another error.
    """
    return _received.at > float("-inf")


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for each of SIGNALS within the block.

    One that is ignored (`nohup`) or handled otherwise is left as it is.
    """
    with ExitStack() as stack:
        _received.number, _received.at = signal.SIGINT, float("-inf")
        for number in SIGNALS if _is_main_thread() else ():
            previous = signal.getsignal(number)
            if previous in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, _interrupt)
                stack.callback(signal.signal, number, previous)
        yield


def _interrupt(number: int, _frame: FrameType | None) -> None:
    now = time.monotonic()
    # `timeout` and some supervisors signal a process and then its group: a second signal within
    # this time is ignored.
    is_repeated = now - _received.at < 1.0
    _received.number, _received.at = (
        _received.number if is_repeated else signal.Signals(number),
        now,
    )
    if not is_repeated:
        raise KeyboardInterrupt


@contextmanager
def put_off() -> Iterator[None]:
    """Delay signals to the end of the block.

    Does nothing outside the main thread, which alone is interrupted.
    """
    handlers = {number: signal.getsignal(number) for number in SIGNALS} if _is_main_thread() else {}
    previous = {number: handler for number, handler in handlers.items() if callable(handler)}
    came: list[int] = []
    for number in previous:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        if came:
            previous[signal.Signals(came[0])](came[0], None)


@contextmanager
def inherited_block() -> Iterator[None]:
    """Keep SIGNALS from child processes started in the block.

    Does nothing if the system cannot block signals.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
