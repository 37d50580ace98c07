"""A terminal for the agent where our standard output is one: it behaves as if we were not there, and what it writes can be recorded.

As script(1) does it: the agent gets a pseudo-terminal, and the real one is in raw mode, so that Ctrl-C and Ctrl-D are the agent's.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

STDIN, STDOUT, STDERR = 0, 1, 2
_OUTPUT_FLAGS = 1
"""Place of the flags for output among the attributes of a terminal."""

_NO_SIZE = struct.pack("HHHH", 0, 0, 0, 0)


class PseudoTerminal(NamedTuple):
    """Both ends. `reads_input`: what is typed goes through it."""

    ours: int
    theirs: int
    reads_input: bool


def open_pseudo_terminal() -> PseudoTerminal:
    """One of the size and the settings of the real terminal.

    Where nothing is typed, the real terminal is not raw and turns ends of lines into its own: then this one leaves them as they are.
    """
    ours, theirs = pty.openpty()
    reads_input = os.isatty(STDIN) and _is_foreground(STDIN)
    settings = termios.tcgetattr(STDOUT)
    if not reads_input:
        settings[_OUTPUT_FLAGS] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    copy_size(ours)
    return PseudoTerminal(ours, theirs, reads_input)


def take_as_terminal() -> None:
    """In the child, whose standard output it is: make it the terminal of the new session."""
    fcntl.ioctl(STDOUT, termios.TIOCSCTTY, 0)


def copy_size(ours: int) -> None:
    """Tell the size of the real terminal; the agent gets SIGWINCH where it changed."""
    with suppress(OSError):
        fcntl.ioctl(ours, termios.TIOCSWINSZ, fcntl.ioctl(STDOUT, termios.TIOCGWINSZ, _NO_SIZE))


@contextmanager
def raw_mode(is_wanted: bool) -> Iterator[None]:
    """The real terminal passes every key on, until the end of the block."""
    if not is_wanted:
        yield
        return
    before = termios.tcgetattr(STDIN)
    tty.setraw(STDIN)
    try:
        yield
    finally:
        termios.tcsetattr(STDIN, termios.TCSADRAIN, before)


def _is_foreground(descriptor: int) -> bool:
    """Whether we may change the terminal: a job in the background would be stopped."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
