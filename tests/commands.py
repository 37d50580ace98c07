"""The command as processes that start in milliseconds: the client of `tests.command_server`."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

from tests.command_server import MODULE, ROOT, Request

PATIENCE_SECONDS = 120


def command(*arguments: str | Path) -> list[str]:
    """The command in an interpreter of its own."""
    return [sys.executable, "-m", MODULE, *map(str, arguments)]


def run_fresh(*arguments: str | Path, cwd: Path, environment: dict[str, str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in an interpreter of its own, which takes a second to import what a command needs."""
    how: dict[str, Any] = {"capture_output": True, "text": True, "encoding": "utf-8", "timeout": PATIENCE_SECONDS}
    return subprocess.run(command(*arguments), cwd=cwd, env=environment, check=False, **how | options)


class CommandServer:
    """Runs commands, one at a time, each in a process of its own. Started by the first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._channel: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self, arguments: list[str], cwd: Path, environment: dict[str, str], given: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """What `subprocess.run` would answer. `given` is the standard input. Raises subprocess.TimeoutExpired."""
        request = Request(arguments=arguments, cwd=str(cwd), environment=environment)
        reads, writes = zip(*(os.pipe() for _ in range(3)), strict=True)
        with self._lock, ThreadPoolExecutor(3) as threads:
            try:
                child = self._begin(request, [reads[0], *writes[1:]])
            finally:
                for stream in (reads[0], *writes[1:]):
                    os.close(stream)
            threads.submit(_feed, writes[0], given or "")
            out, err = threads.submit(_drain, reads[1]), threads.submit(_drain, reads[2])
            code = self._end(child, arguments)
            return subprocess.CompletedProcess(command(*arguments), code, out.result(), err.result())

    def _begin(self, request: Request, streams: list[int]) -> int:
        """The id of the process."""
        channel = self._channel = self._channel or self._start()
        socket.send_fds(channel, [json.dumps(request).encode()], streams)
        told = channel.recv(64)
        assert told, "the command server ended; what it said stands on standard error"
        return int(told)

    def _end(self, child: int, arguments: list[str]) -> int:
        """The exit code of the process."""
        assert self._channel is not None
        try:
            return int(self._channel.recv(64))
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            self._channel.recv(64)
            raise subprocess.TimeoutExpired(command(*arguments), PATIENCE_SECONDS) from None

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            served = [sys.executable, "-m", "tests.command_server", str(theirs.fileno())]
            self._process = subprocess.Popen(served, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
        ours.settimeout(PATIENCE_SECONDS)
        return ours

    def __enter__(self) -> CommandServer:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        if self._channel and self._process:
            self._channel.close()
            self._process.wait(PATIENCE_SECONDS)


def _feed(stream: int, text: str) -> None:
    """Write the standard input; a command that does not want all of it is no error."""
    try:
        with open(stream, "w", encoding="utf-8") as pipe:
            pipe.write(text)
    except BrokenPipeError:
        pass


def _drain(stream: int) -> str:
    with open(stream, encoding="utf-8") as pipe:
        return pipe.read()
