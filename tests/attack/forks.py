"""`tachograph` commands as processes that start in milliseconds: the client of `tests.attack.fork_server`."""

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
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.conftest import ROOT, environment

PATIENCE_SECONDS = 300
"""No command of an attack takes so long, unless it hangs."""


@dataclass(frozen=True)
class Request:
    """One command. `said`: path of the files for its two streams, without suffix; `file_bytes`: the most a file may hold, 0 for any."""

    arguments: list[str]
    folder: str
    temporary: str
    said: str
    file_bytes: int = 0


@dataclass(frozen=True)
class Ended:
    """How a command ended. `code` is negative for a signal, as in `subprocess`."""

    code: int
    out: str
    err: str
    peak_bytes: int
    cpu_seconds: float
    seconds: float

    @property
    def story(self) -> str:
        """Exit code and messages, for an assertion."""
        return f"exit code {self.code}, said {self.err.strip()!r}"


class Running:
    """A command under way."""

    def __init__(self, request: Request, connection: socket.socket) -> None:
        self._request = request
        self._connection = connection
        self._line = connection.makefile("rw")
        self._started = time.monotonic()
        print(json.dumps(asdict(request)), file=self._line, flush=True)
        self.pid = int(self._line.readline())

    def fileno(self) -> int:
        """Ready to be read once the command has ended, for `select`; negative once it was waited for."""
        return self._connection.fileno()

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
        told = json.loads(self._line.readline())
        took = time.monotonic() - self._started
        self._line.close()
        self._connection.close()
        out, err = (_said(Path(f"{self._request.said}.{stream}")) for stream in ("out", "err"))
        assert is_in_time, f"it had not ended after {seconds:.0f} s: {' '.join(self._request.arguments)[:200]}"
        return Ended(told["code"], out, err, told["peak_bytes"], told["cpu_seconds"], took)

    def end(self) -> None:
        """Kill it with all processes it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def _said(file: Path) -> str:
    """What a command wrote; nothing where it was killed before it opened the file."""
    return file.read_text(errors="replace") if file.exists() else ""


class Forks:
    """The fork server, as long as the block lasts. What still runs at its end is killed."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="forks-")
        self._address = f"{self._folder.name}/socket"
        self._started: list[Running] = []
        self._numbers = count()
        command = [sys.executable, "-m", "tests.attack.fork_server", self._address]
        pipe = subprocess.PIPE
        self._server = subprocess.Popen(command, cwd=ROOT, env=environment(), start_new_session=True, stdin=pipe, stdout=pipe)
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for running in self._started:
            running.end()
        self._server.communicate()
        self._folder.cleanup()

    def start(self, folder: Path, *arguments: str | Path, temporary: Path | None = None, file_bytes: int = 0) -> Running:
        """Start a command in `folder`, where what it says is kept in `said-N`; its temporary folder is `tmp` there, unless named."""
        temporary = temporary or folder / "tmp"
        temporary.mkdir(exist_ok=True)
        said = f"{folder}/said-{next(self._numbers)}"
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        running = Running(Request([*map(str, arguments)], str(folder), str(temporary), said, file_bytes), connection)
        self._started = [one for one in self._started if one.fileno() >= 0] + [running]
        return running

    def run(self, folder: Path, *arguments: str | Path, temporary: Path | None = None, file_bytes: int = 0) -> Ended:
        """Run a command to its end."""
        return self.start(folder, *arguments, temporary=temporary, file_bytes=file_bytes).wait()

    def succeed(self, folder: Path, *arguments: str | Path, temporary: Path | None = None) -> Ended:
        """Run a command that must succeed."""
        ended = self.run(folder, *arguments, temporary=temporary)
        assert ended.code == 0, f"{arguments[0]} failed: {ended.story}"
        return ended
