"""Starts a command and passes its streams and signals through, byte for byte, while its standard output is recorded.

Standard input and error are inherited. Standard output is a pipe that is copied, or a pseudo-terminal where ours is a terminal. The command
leads a session of its own: signals that reach us are sent to it, and nothing of it is left behind.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from app.runner import ending
from app.runner.pseudo_terminal import STDERR, STDIN, STDOUT, PseudoTerminal, copy_size, open_pseudo_terminal, raw_mode, take_as_terminal
from schemas.errors import UsageError

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit codes of shells for a command that is not there, and for one that cannot be started."""

PASSED_ON = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGWINCH") if hasattr(signal, name))

_BLOCK_BYTES = 1 << 16
_POLL_SECONDS = 0.1
_DRAIN_SECONDS = 2.0
"""How long the output of what an ended command left running is still read."""

Begun = Callable[["Running"], None]


@dataclass
class Running:
    """A command under way. `signalled`: the last signal that was passed on; `unrecorded`: why not all of its output is in the log."""

    process: subprocess.Popen[bytes]
    reading: int
    terminal: PseudoTerminal | None
    signalled: signal.Signals | None = None
    unrecorded: str = ""

    @property
    def session(self) -> int:
        """The session that it leads."""
        return self.process.pid

    @property
    def exit_code(self) -> int:
        """As shells have it: 128 + signal where one ended it."""
        code = self.process.wait()
        return code if code >= 0 else 128 - code


class NotStarted(Exception):
    """The command could not be started. `exit_code`: as shells have it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def pass_through(command: Sequence[str], log: Path, begun: Begun) -> Running:
    """Run the command to its end; its standard output goes to ours and into the log. `begun` is called once it runs.

    Raises NotStarted, and UsageError where the log cannot be written.
    """
    try:
        log.touch(0o600)
        record = log.open("wb", buffering=0)
    except OSError as error:
        raise UsageError(f"cannot write {log}: {error.strerror}.", "Choose another folder with --keep.") from error
    signals = _Signals()
    with record, signals.passed_on():
        running = _started(command)
        with raw_mode(running.terminal is not None and running.terminal.reads_input):
            try:
                signals.begin(running)
                begun(running)
                _relay(running, record)
                running.process.wait()
            finally:
                ending.end(running.session, ending.LEFT_SECONDS)
    return running


def _started(command: Sequence[str]) -> Running:
    terminal = open_pseudo_terminal() if os.isatty(STDOUT) else None
    reading, writing = (terminal.ours, terminal.theirs) if terminal else os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603  the command is what it is for
            command,
            stdin=writing if terminal and terminal.reads_input else None,
            stdout=writing,
            stderr=writing if terminal and os.isatty(STDERR) else None,
            start_new_session=True,
            preexec_fn=take_as_terminal if terminal else None,  # noqa: PLW1509  no thread runs yet
        )
    except OSError as error:
        os.close(reading)
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        raise NotStarted(f"cannot start {command[0]!r}: {error.strerror}", code) from error
    finally:
        os.close(writing)
    return Running(process, reading, terminal)


class _Signals:
    """Sends signals to the command instead of us. Those that come before it runs wait."""

    def __init__(self) -> None:
        self._running: Running | None = None
        self._waiting: list[int] = []

    @contextmanager
    def passed_on(self) -> Iterator[None]:
        """Within the block. A signal that we ignore, as under `nohup`, the command ignores too."""
        handlers = dict.fromkeys(PASSED_ON, self._pass_on) | {signal.SIGTSTP: self._stop}
        former = {one: signal.signal(one, handler) for one, handler in handlers.items() if signal.getsignal(one) != signal.SIG_IGN}
        try:
            yield
        finally:
            for one, handler in former.items():
                signal.signal(one, handler)

    def begin(self, running: Running) -> None:
        """The command runs."""
        self._running = running
        for number in self._waiting:
            self._pass_on(number, None)

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        running = self._running
        if running is None:
            self._waiting.append(number)
        elif number != signal.SIGWINCH:
            running.signalled = signal.Signals(number)
            ending.send(running.session, number)
        elif running.terminal:
            copy_size(running.reading)
        else:
            ending.send(running.session, number)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-Z: the command stops with us, and goes on with us."""
        if self._running:
            ending.send(self._running.session, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            ending.send(self._running.session, signal.SIGCONT)


def _relay(running: Running, record: BinaryIO) -> None:
    """Copy until the output ends: with the command, or a moment later where something that it left running still holds it."""
    sources = [running.reading]
    if running.terminal and running.terminal.reads_input:
        sources.append(STDIN)
    last = float("inf")
    try:
        while time.monotonic() < last:
            ready = select.select(sources, [], [], _POLL_SECONDS)[0]
            if running.process.poll() is not None:
                last = min(last, time.monotonic() + _DRAIN_SECONDS)
                if not ready:
                    return
            if STDIN in ready and not _typed(running.reading):
                sources.remove(STDIN)
            if running.reading in ready and not _copied(running, record):
                return
    finally:
        os.close(running.reading)


def _copied(running: Running, record: BinaryIO) -> bool:
    """Copy what the command wrote. False at its end, or where nobody reads ours any more: its next write fails then, as without us."""
    try:
        block = os.read(running.reading, _BLOCK_BYTES)
    except OSError as error:
        if error.errno != errno.EIO:  # how a pseudo-terminal ends
            raise
        return False
    if block and not running.unrecorded:
        _write_log(running, record, block)
    return bool(block) and _write(STDOUT, block)


def _write_log(running: Running, record: BinaryIO, block: bytes) -> None:
    rest = memoryview(block)
    try:
        while rest:
            rest = rest[record.write(rest) :]
    except OSError as error:
        running.unrecorded = error.strerror or str(error)


def _typed(ours: int) -> bool:
    """Pass on what was typed. False where nothing more comes."""
    block = os.read(STDIN, _BLOCK_BYTES)
    return bool(block) and _write(ours, block)


def _write(descriptor: int, block: bytes) -> bool:
    """Write all of it, waiting where the other end is slow. False where it is gone."""
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
