"""Ctrl-C where it would do harm: put off while something is done that cannot be half done, and kept from processes of ours."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def put_off() -> Iterator[None]:
    """What Ctrl-C does, it does at the end of this. Only the main thread is ever interrupted; in others this does nothing."""
    former = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(former):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
        if came:
            former(came[0], None)


@contextmanager
def inherited_block() -> Iterator[None]:
    """Processes started within never see Ctrl-C, from their first moment on. Where the system has no such thing, nothing is done."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
