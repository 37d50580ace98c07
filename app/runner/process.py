"""Starts a command, passes on streams and signals, records its standard output, and ends it.

Streams are passed on byte for byte.

Standard input and error are inherited. Standard output is a pipe that is copied or, if ours is a
terminal, a pseudo-terminal as in script(1): the agent behaves as usual, and the real terminal is in
raw mode, so that the agent gets Ctrl-C and Ctrl-D. The command leads its own session: signals to us
are sent to it, and none of its processes is left behind. A process that began a session of its own,
such as a daemon, stays: it is meant to. `Reaper` leaves none.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pty
import secrets
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NamedTuple

from app.runner import reaper
from app.runner.reaper import LEFT_SECONDS, end, send
from schemas.errors import UsageError

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit codes of shells for a missing command, and for one that cannot be started."""

GRACE_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL, in which an agent writes its record."""

PASSED_ON = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGWINCH")
    if hasattr(signal, name)
)
STDIN, STDOUT, STDERR = 0, 1, 2

_LONGEST_SECONDS = 1e6
_BLOCK_BYTES = 1 << 16


class PseudoTerminal(NamedTuple):
    """Both ends. `reads_input`: typed input goes through it."""

    ours: int
    theirs: int
    reads_input: bool


@dataclass
class Running:
    """A command in progress.

    `signalled`: the last signal passed on; `unrecorded`: why part of its output is not in the log.
    """

    process: subprocess.Popen[bytes]
    reading: int
    terminal: PseudoTerminal | None
    signalled: signal.Signals | None = None
    unrecorded: str = ""

    @property
    def exit_code(self) -> int:
        """The exit code as in shells: 128 + signal if a signal ended it."""
        code = self.process.wait()
        return code if code >= 0 else 128 - code


class NotStarted(Exception):
    """The command could not be started. `exit_code`: as in shells."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def pass_through(command: Sequence[str], log: Path, begun: Callable[[Running], None]) -> Running:
    """Run the command to its end; its standard output goes to ours and into the log.

    `begun` is called once it runs.

    Raises NotStarted, and UsageError if the log cannot be written.
    """
    try:
        log.touch(0o600)
        record = log.open("wb", buffering=0)
    except OSError as error:
        raise UsageError(
            f"cannot write {log}: {error.strerror}.", "Choose another folder with --keep."
        ) from error
    signals = _Signals()
    with record, signals.passed_on():
        running = _started(command)
        with _raw_mode(running.terminal is not None and running.terminal.reads_input):
            try:
                signals.begin(running)
                begun(running)
                _relay(running, record)
                running.process.wait()
            finally:
                end(running.process.pid, LEFT_SECONDS)
    return running


def _started(command: Sequence[str]) -> Running:
    terminal = _open_pseudo_terminal() if os.isatty(STDOUT) else None
    reading, writing = (terminal.ours, terminal.theirs) if terminal else os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603  the command is what it is for
            command,
            stdin=writing if terminal and terminal.reads_input else None,
            stdout=writing,
            stderr=writing if terminal and os.isatty(STDERR) else None,
            start_new_session=True,
            preexec_fn=_take_as_terminal if terminal else None,  # noqa: PLW1509  no thread runs yet
        )
    except OSError as error:
        os.close(reading)
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        raise NotStarted(f"cannot start {command[0]!r}: {error.strerror}", code) from error
    finally:
        os.close(writing)
    return Running(process, reading, terminal)


class _Signals:
    """Passes signals on to the command. Signals before its start are kept for it."""

    def __init__(self) -> None:
        self._running: Running | None = None
        self._waiting: list[int] = []

    @contextmanager
    def passed_on(self) -> Iterator[None]:
        """Pass signals on within the block.

        The command also ignores signals that we ignore, as under `nohup`.
        """
        handlers = dict.fromkeys(PASSED_ON, self._pass_on) | {signal.SIGTSTP: self._stop}
        former = {
            one: signal.signal(one, handler)
            for one, handler in handlers.items()
            if signal.getsignal(one) != signal.SIG_IGN
        }
        try:
            yield
        finally:
            for one, handler in former.items():
                signal.signal(one, handler)

    def begin(self, running: Running) -> None:
        """Start passing signals on to the running command."""
        self._running = running
        for number in self._waiting:
            self._pass_on(number, None)

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        running = self._running
        if running is None:
            self._waiting.append(number)
        elif number != signal.SIGWINCH:
            running.signalled = signal.Signals(number)
            send(running.process.pid, number)
        elif running.terminal:
            _copy_size(running.reading)
        else:
            send(running.process.pid, number)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        """Stop the command with us on Ctrl-Z, and continue it with us."""
        if self._running:
            send(self._running.process.pid, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            send(self._running.process.pid, signal.SIGCONT)


def _relay(running: Running, record: BinaryIO) -> None:
    """Copy until the output ends.

    With the command, or a moment later if a process that it left running holds the output open.
    """
    sources = [running.reading]
    if running.terminal and running.terminal.reads_input:
        sources.append(STDIN)
    last = float("inf")
    try:
        while time.monotonic() < last:
            has_ended = (
                running.process.poll() is not None
            )  # before looking: what it wrote last is there then
            ready = select.select(sources, [], [], 0.1)[0]
            if has_ended:
                last = min(last, time.monotonic() + LEFT_SECONDS)
                if not ready:
                    return
            if STDIN in ready:
                typed = os.read(STDIN, _BLOCK_BYTES)
                if not typed or not _write(running.reading, typed):
                    sources.remove(STDIN)
            if running.reading in ready and not _copied(running, record):
                return
    finally:
        os.close(running.reading)


def _copied(running: Running, record: BinaryIO) -> bool:
    """Copy new output of the command.

    Returns False at its end, or if nobody reads ours any more: its next write then fails.
    """
    try:
        block = os.read(running.reading, _BLOCK_BYTES)
    except OSError as error:
        if error.errno != errno.EIO:  # how a pseudo-terminal ends
            raise
        return False
    if block and not running.unrecorded:
        rest = memoryview(block)
        try:
            while rest:
                rest = rest[record.write(rest) :]
        except OSError as error:
            running.unrecorded = error.strerror or str(error)
    return bool(block) and _write(STDOUT, block)


def _write(descriptor: int, block: bytes) -> bool:
    """Write all bytes, waiting for a slow reader. Returns False if the reader is gone."""
    rest = memoryview(block)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            with suppress(InterruptedError):
                select.select([], [descriptor], [])
        except OSError:
            return False
    return True


class ReaperDied(Exception):
    """The process that runs commands and ends their leftovers failed.

    Somebody else ended or stopped it, or its answer is not its own.
    """


class Ended(NamedTuple):
    """How a command ended.

    `code`: as of `subprocess`, None if its time was over; `error`: why it could not be started.
    """

    code: int | None = None
    seconds: float = 0.0
    error: str = ""


class Reaper:
    """Runs commands one after another.

    What a command leaves running is ended before the next one, on Linux also in other sessions.

    Leaving the block ends a running command with all its processes; so does the end of this
    process.
    """

    def __enter__(self) -> Reaper:
        words = [sys.executable, "-IS", reaper.__file__]
        self._process = subprocess.Popen(  # noqa: S603
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.send_signal(signal.SIGCONT)  # a command may have stopped it
        try:
            with suppress(BrokenPipeError):
                self._process.communicate(timeout=GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def run(self, words: Sequence[str], cwd: Path, output: Path, limit: float) -> Ended:
        """Run a command, at most `limit` seconds; its streams go to the file `output`.

        Raises ReaperDied.
        """
        limit = min(limit, _LONGEST_SECONDS)
        mark = secrets.token_hex()
        asked = {
            "mark": mark,
            "words": list(words),
            "cwd": str(cwd),
            "output": str(output),
            "limit": limit,
        }
        assert self._process.stdin, "a pipe"
        assert self._process.stdout, "a pipe"
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{json.dumps(asked)}\n".encode())
            self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], limit + GRACE_SECONDS)[0]:
            raise ReaperDied  # a command stopped it
        try:
            answered, found = json.loads(self._process.stdout.readline())
        except (ValueError, TypeError):
            raise ReaperDied from None
        if answered != mark:
            raise ReaperDied  # a command wrote it
        return Ended(**found)


def _open_pseudo_terminal() -> PseudoTerminal:
    """Open a pseudo-terminal with the size and settings of the real terminal.

    Without typed input, the real terminal is not raw and translates line ends, so the new one
    leaves them unchanged.
    """
    ours, theirs = pty.openpty()
    reads_input = False
    if os.isatty(STDIN):
        with suppress(
            OSError
        ):  # a job in the background that changes the terminal would be stopped
            reads_input = os.tcgetpgrp(STDIN) == os.getpgrp()
    settings = termios.tcgetattr(STDOUT)
    if not reads_input:
        settings[1] &= ~termios.OPOST  # the flags for output
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    _copy_size(ours)
    return PseudoTerminal(ours, theirs, reads_input)


def _take_as_terminal() -> None:
    """Make standard output the terminal of the new session; runs in the child."""
    fcntl.ioctl(STDOUT, termios.TIOCSCTTY, 0)


def _copy_size(ours: int) -> None:
    """Copy the size of the real terminal; the agent gets SIGWINCH if it changed."""
    with suppress(OSError):
        fcntl.ioctl(
            ours,
            termios.TIOCSWINSZ,
            fcntl.ioctl(STDOUT, termios.TIOCGWINSZ, struct.pack("HHHH", 0, 0, 0, 0)),
        )


@contextmanager
def _raw_mode(is_wanted: bool) -> Iterator[None]:
    """Put the real terminal into raw mode, which passes on every key, until the block ends."""
    if not is_wanted:
        yield
        return
    before = termios.tcgetattr(STDIN)
    tty.setraw(STDIN)
    try:
        yield
    finally:
        termios.tcsetattr(STDIN, termios.TCSADRAIN, before)
