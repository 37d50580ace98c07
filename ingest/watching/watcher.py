"""The watcher: events and polls → batches → the process that ingests. One thread decides; others only put into its queue."""

from __future__ import annotations

import os
import queue
import stat
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ingest.store.opening import OwnFiles, is_path
from ingest.watching.batches import Batches
from ingest.watching.events import Events
from ingest.watching.ingester import Answer, Ingester
from ingest.watching.places import Place, place_of, too_many_folders, without_events
from ingest.watching.polls import Polls, files
from schemas.errors import ExitCode, TachographError

NET_SECONDS = 600.0
"""How often all files are looked at where events tell of them: what a full queue of the kernel lost comes with the next look."""

GLANCE_SECONDS = 2.0
"""How often it is looked whether a watched folder was replaced by another, of which the old one's events say nothing."""

IDLE_SECONDS = 600.0
"""The process that ingests ends after so long without a batch."""

MANY_SOURCES = 2_000
"""After a batch of so many files it ends at once, since Python gives little memory back."""


@dataclass
class State:
    """What the status line shows. `how`: events or polling, and why."""

    places: tuple[str, ...] = ()
    how: str = ""
    files: int = 0
    runs: int = 0
    ingests: int = 0
    errors: int = 0
    waiting: int = 0
    last: datetime | None = None
    does: str = ""


class Failed(TachographError):
    """It makes no sense to go on."""

    def __init__(self, message: str, hint: str, exit_code: int) -> None:
        super().__init__(message, hint)
        self.exit_code = ExitCode(exit_code)


class Watcher:
    """Watches what the process of `command` says is to be watched, and has it ingest what changes.

    `order`: the first line for the process. `poll_seconds`: look at all files so often instead of listening to events. `tell` gets each
    answer and the state behind it. Raises Failed, where the first ingest shows that none will succeed.
    """

    def __init__(
        self,
        command: Sequence[str],
        order: dict[str, Any],
        location: str,
        poll_seconds: float | None,
        tell: Callable[[Answer, State], object],
    ) -> None:
        self.state = State()
        self._queue: queue.SimpleQueue[str | Answer] = queue.SimpleQueue()
        self._ingester = Ingester(command, order, self._queue.put)
        self._own = OwnFiles(os.path.realpath(location)) if is_path(location) else ()
        self._outputs = _outputs()
        self._poll_seconds, self._tell = poll_seconds, tell
        self._batches = Batches()
        self._events: Events | None = None
        self._polls: Polls | None = None
        self._places: list[Place] = []
        self._glanced, self._busy_until = 0.0, float("inf")

    def run(self) -> None:
        """Watch until an interrupt: ends with KeyboardInterrupt, and leaves no ingest half done."""
        try:
            self._ingester.start()
            while True:
                self._step()
        finally:
            for part in (self._events, self._polls, self._ingester):
                if part:
                    part.stop()

    def _step(self) -> None:
        """Take what came, then do what is due."""
        now = time.monotonic()
        due = min(self._batches.due_at(), self._glanced + GLANCE_SECONDS, self._retires_at())
        with suppress(queue.Empty):
            came = self._queue.get(timeout=max(0.0, due - now))
            while True:
                self._take(came)
                came = self._queue.get_nowait()
        now = time.monotonic()
        if now >= self._batches.due_at():
            self._begin(now)
        if now >= self._retires_at():
            self._ingester.stop()
        if now >= self._glanced + GLANCE_SECONDS:
            self._glance(now)

    def _retires_at(self) -> float:
        return self._busy_until if self._ingester.is_running else float("inf")

    def _take(self, came: str | Answer) -> None:
        if isinstance(came, str):
            if not self._batches.waiting:
                self._ingester.start()  # what takes longest: it comes up while the batch fills
                self._busy_until = time.monotonic() + IDLE_SECONDS
            self._batches.changed(came, time.monotonic())
            return
        if came.folders and not self._places:
            self._watch([place_of(folder) for folder in came.folders])
        elif came.read or came.waited:
            self.state.does = came.waited or f"reading: {came.read:,} files"
            self._tell(came, self.state)
        elif came.is_end:
            self._end(came, time.monotonic())

    def _watch(self, places: list[Place]) -> None:
        """Listen first, then take the snapshot, then ingest all: nothing falls between."""
        self._places = places
        self.state.places = tuple(place.shown for place in places)
        why = "as asked" if self._poll_seconds is not None else without_events(places) or too_many_folders(places)
        if not why:
            try:
                self._events = Events(places, self._queue.put)
                self._events.start()
            except OSError as error:
                self._events, why = None, f"no events: {error.strerror or error}"
        self._polls = Polls(self._roots, self._queue.put, NET_SECONDS if self._events else self._poll_seconds)
        self._polls.start()
        self.state.how = "" if self._events else f"polling every {self._polls.pause:.3g} s ({why})"
        for place in places:
            self._queue.put(place.shown)

    def _roots(self) -> list[str]:
        return [place.shown for place in self._places]

    def _begin(self, now: float) -> None:
        taken = self._batches.take(now)
        wanted = [path for path in taken if self._is_wanted(path)]
        if self._polls:
            self._polls.note(path for path in wanted if path not in self.state.places)
            self.state.files = self._polls.known
        if not wanted:
            self._batches.ingested(now, 0.0)
            return
        self.state.does = "ingesting"
        self._busy_until = float("inf")
        self._ingester.ingest(wanted)

    def _is_wanted(self, path: str) -> bool:
        """Whether it is a file or folder, is still there, and is neither the store nor where this process writes to."""
        try:
            status = os.stat(path)  # noqa: PTH116
        except (OSError, ValueError):
            return False
        is_read = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        return is_read and (status.st_dev, status.st_ino) not in self._outputs and Path(path) not in self._own

    def _end(self, answer: Answer, now: float) -> None:
        """A batch came to its end; or the process did, within it or without any."""
        self.state.does = ""
        self._busy_until = now + IDLE_SECONDS
        if answer.exit_code:
            raise Failed(answer.error, answer.hint, answer.exit_code)
        if answer.gone:
            if not self._places:
                raise Failed("the process that ingests did not start.", "See the output above.", ExitCode.STORE_UNUSABLE)
            if not self._batches.is_under_way:  # somebody ended it while it waited: it is started with the next batch
                return
            alone = self._batches.crashed(now)
            hint = f"It is left out until it changes: {alone}" if alone else "The next try has half of these files."
            if alone and os.path.isdir(alone):  # noqa: PTH112
                hint = "The next tries have its files one by one."
                for path, _ in files([alone]):
                    self._batches.changed(path, now)
            answer = Answer(error=answer.error or "the process that ingests ended before it was done.", hint=hint, gone=True)
        elif answer.error:
            self._batches.failed(now)
        else:
            self._succeed(answer, now)
        self.state.errors += bool(answer.error)
        self.state.waiting = self._batches.waiting
        self._tell(answer, self.state)

    def _succeed(self, answer: Answer, now: float) -> None:
        self._batches.ingested(now, answer.counts["seconds"], answer.unread)
        self.state.errors += len(answer.unread)
        self.state.last = datetime.now().astimezone()
        self.state.runs += int(answer.counts["accepted"])
        self.state.ingests += answer.ingest is not None
        if answer.counts["sources"] >= MANY_SOURCES:
            self._busy_until = now

    def _glance(self, now: float) -> None:
        """Listen to folders that were replaced, and ingest what they hold."""
        self._glanced = now
        if self._events:
            with suppress(OSError):
                for place in self._events.replaced():
                    self._queue.put(place.shown)


def _outputs() -> set[tuple[int, int]]:
    """The files that our own output goes to: each line would be a change, which makes a line."""
    found = set()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            status = os.fstat(stream.fileno())
            if stat.S_ISREG(status.st_mode):
                found.add((status.st_dev, status.st_ino))
    return found
