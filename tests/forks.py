"""`tachograph` commands as processes that start in milliseconds: client of `tests.fork_server`."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import IO, Any, Self

from tests.fork_server import MODULE, ROOT, End, Request

PATIENCE_SECONDS = 300
"""No command of a test takes so long, unless it hangs."""


def command(*arguments: str | Path) -> list[str]:
    """The command in an interpreter of its own."""
    return [sys.executable, "-m", MODULE, *map(str, arguments)]


def run_fresh(
    *arguments: str | Path, cwd: Path, environment: dict[str, str], **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command in an interpreter of its own.

    It takes a second to import what a command needs.
    """
    how: dict[str, Any] = {
        "capture_output": True,
        "text": True,
        "encoding": "utf-8",
        "timeout": PATIENCE_SECONDS,
    }
    return subprocess.run(
        command(*arguments), cwd=cwd, env=environment, check=False, **how | options
    )


@dataclass(frozen=True)
class Ended:
    """How a command ended. `code` is negative for a signal, as in `subprocess`."""

    code: int
    stdout: bytes
    stderr: bytes
    peak_bytes: int
    cpu_seconds: float
    seconds: float

    @property
    def out(self) -> str:
        """Its standard output. One that was killed may have ended within a character."""
        return self.stdout.decode(errors="replace")

    @property
    def err(self) -> str:
        """Its standard error."""
        return self.stderr.decode(errors="replace")

    @property
    def story(self) -> str:
        """Exit code and messages, for an assertion."""
        return f"exit code {self.code}, said {self.err.strip()!r}"


class Running:
    """A command under way."""

    def __init__(self, words: list[str], report: socket.socket, said: Sequence[IO[bytes]]) -> None:
        self._words = words
        self._report = report
        self._said = said
        self._started = time.monotonic()
        told = report.recv(64)
        assert told, "the fork server ended; what it said stands on standard error"
        self.pid = int(told)

    def fileno(self) -> int:
        """Ready to be read once the command has ended, for `select`.

        Negative once it was waited for.
        """
        return self._report.fileno()

    @property
    def has_ended(self) -> bool:
        """Whether it came to an end, or was killed."""
        return bool(select.select([self], [], [], 0)[0])

    def send(self, number: int) -> None:
        """Send it a signal, which is no error where it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> Ended:
        """How it ended. Kills it and raises AssertionError where it takes longer."""
        is_in_time = bool(select.select([self], [], [], max(0.0, seconds))[0])
        if not is_in_time:
            self.end()
        with self._report:
            end: End = json.loads(self._report.recv(1024))
        took = time.monotonic() - self._started
        out, err = map(_read, self._said)
        assert is_in_time, f"it had not ended after {seconds:.0f} s: {' '.join(self._words)[:200]}"
        return Ended(end["code"], out, err, end["peak_bytes"], end["cpu_seconds"], took)

    def end(self) -> None:
        """Kill it with all processes it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def _read(said: IO[bytes]) -> bytes:
    with said:
        said.seek(0)
        return said.read()


class Forks:
    """The fork server, started by the first command, as long as the block lasts.

    What still runs at its end is killed.

    `environment` are the variables that commands run with where no others are given.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._started: list[Running] = []
        self._channel: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for running in self._started:
            if running.fileno() >= 0:
                running.end()
                running.wait()
        if self._channel and self._server:
            self._channel.close()
            self._server.wait(PATIENCE_SECONDS)

    def start(
        self,
        folder: Path,
        *arguments: str | Path,
        environment: Mapping[str, str] | None = None,
        given: str | None = None,
        file_bytes: int = 0,
    ) -> Running:
        """Start a command in `folder`.

        Its temporary folder is `tmp` there, unless there are other variables. `given` comes through
        a pipe, `file_bytes` the most a file may hold, 0 for any.
        """
        if environment is None:
            (folder / "tmp").mkdir(exist_ok=True)
            environment = {**self._environment, "TMPDIR": str(folder / "tmp")}
        words = [*map(str, arguments)]
        request = Request(
            arguments=words,
            folder=str(folder),
            environment=dict(environment),
            file_bytes=file_bytes,
        )
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        said = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115  closed once it was waited for
        with theirs, _input(given) as reading:
            descriptors = [reading.fileno(), *(one.fileno() for one in said), theirs.fileno()]
            self._channel = self._channel or self._start_server()
            socket.send_fds(self._channel, [json.dumps(request).encode()], descriptors)
        running = Running(words, ours, said)
        self._started = [one for one in self._started if one.fileno() >= 0] + [running]
        return running

    def _start_server(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command, nothing = (
                [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
                subprocess.DEVNULL,
            )
            self._server = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment,
                pass_fds=[theirs.fileno()],
                stdin=nothing,
                stdout=nothing,
                start_new_session=True,
            )
        return ours

    def run(self, folder: Path, *arguments: str | Path, **how: Any) -> Ended:
        """Run a command to its end, as `start` does."""
        return self.start(folder, *arguments, **how).wait()

    def succeed(self, folder: Path, *arguments: str | Path, **how: Any) -> Ended:
        """Run a command that must succeed."""
        ended = self.run(folder, *arguments, **how)
        assert ended.code == 0, f"{arguments[0]} failed: {ended.story}"
        return ended


def _input(text: str | None) -> IO[bytes]:
    """A pipe that gives the text, or nothing; a command that wants only some is no error."""
    if text is None:
        return Path(os.devnull).open("rb")
    reading, writing = os.pipe()

    def feed() -> None:
        with suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
            pipe.write(text.encode())

    Thread(target=feed).start()
    return os.fdopen(reading, "rb")
