"""The process that ingests for a watcher: started with the first batch, ended after a while without any.

What an ingest needs takes some 250 MB; a watcher that waits takes a tenth of that. Both speak in lines of JSON: the process gets
`{"paths": […]}` for each batch, and says how it ended.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from ingest.system.signals import put_off

_PATIENCE_SECONDS = 10.0
"""How long an ingest may take to come to its end when the watcher ends; then it is interrupted, and nothing of it is written."""


@dataclass(frozen=True)
class Answer:
    """What the process says. One of: the `folders` to watch, the number of files `read` so far, who is `waited` for, the end of a batch.

    At the end of a batch `counts` are those of `ingest --json`, `ingest` its number (None where nothing changed), `unread` the files that
    could not be read and `notes` what people should know of it. `error` and `hint` are there if nothing was written. `exit_code`: it makes
    no sense to try again. `gone`: the process itself came to its end, or failed at the batch by a mistake of ours.
    """

    folders: tuple[str, ...] = ()
    read: int = 0
    waited: str = ""
    counts: dict[str, float] = field(default_factory=dict)
    ingest: int | None = None
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    hint: str = ""
    exit_code: int = 0
    gone: bool = False

    @classmethod
    def of(cls, line: bytes) -> Self:
        """From a line. Raises ValueError."""
        said: dict[str, Any] = json.loads(line)
        values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
        return cls(**values)

    @property
    def is_end(self) -> bool:
        """Whether the batch came to its end."""
        return bool(self.counts or self.error or self.gone)


class Ingester:
    """The process, as the watcher sees it. `tell` gets each answer, in a thread of its own."""

    def __init__(self, command: Sequence[str], order: dict[str, Any], tell: Callable[[Answer], object]) -> None:
        self._command, self._order, self._tell = command, order, tell
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def start(self) -> None:
        """Start the process, unless it runs: it says which folders to watch."""
        if self._process is None:
            with put_off():
                self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603  our own
            threading.Thread(target=self._listen, args=(self._process,), name="ingester", daemon=True).start()
            self._say(self._order)

    def ingest(self, paths: Sequence[str]) -> None:
        """Begin to ingest files and folders."""
        self.start()
        self._say({"paths": list(paths)})

    def stop(self) -> None:
        """Let it finish what it is at, then end it. One that takes too long is interrupted, and writes nothing."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        with suppress(OSError):
            process.stdin.close()
        ways: tuple[Callable[[], object], ...] = (process.poll, process.terminate, process.kill)
        for end in ways:
            end()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE_SECONDS)
                return

    def _say(self, what: dict[str, Any]) -> None:
        """A process that is gone is told by its last answer."""
        if self._process and self._process.stdin:
            with suppress(OSError):
                self._process.stdin.write(json.dumps(what).encode() + b"\n")
                self._process.stdin.flush()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        for line in process.stdout or ():
            with suppress(ValueError):
                self._tell(Answer.of(line))
        process.wait()
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(OSError):
                pipe.close()
        if self._process is process:
            self._process = None
            code = process.returncode
            how = f"was killed by {signal.Signals(-code).name}: memory may be short" if code < 0 else f"ended with exit code {code}"
            self._tell(Answer(error=f"the process that ingests {how}." if code else "", gone=True))
