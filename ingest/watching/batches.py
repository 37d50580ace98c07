"""Which changed paths are ingested when, decided from events and times alone. Nothing here reads a clock or a file.

Times are seconds on any clock that only goes forward.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

QUIET_SECONDS = 0.1
"""A batch is due when nothing changed for so long: a record is mostly written at one go."""

LONGEST_SECONDS = 0.4
"""A batch is due so long after its first change, however much goes on: half of the second that a row may take."""

BACK_OFF_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Pauses after one, two … failures in a row."""

LONGEST_REST_SECONDS = 10.0
"""The longest pause after an ingest that took long."""

MOST_TRIES = 5
"""How often a file is tried again that could not be read, before the next change of it."""

MOST_PATHS = 5_000
"""Paths of one batch: more are ingested in several."""


@dataclass
class Batches:
    """Changed paths that wait for their ingest. One batch is under way at a time: `take` it, then say how it ended."""

    _first: float = 0.0
    _last: float = 0.0
    _not_before: float = 0.0
    _failures: int = 0
    _limit: int = MOST_PATHS
    _paths: dict[str, None] = field(default_factory=dict)
    _taken: tuple[str, ...] = ()
    _tries: dict[str, int] = field(default_factory=dict)
    _retried_at: float = float("inf")
    _retried: dict[str, None] = field(default_factory=dict)

    def changed(self, path: str, at: float) -> None:
        """A path was made, grew or came from elsewhere."""
        self._first = self._first if self._paths else at
        self._last = at
        self._paths[path] = None
        if self._tries:
            self._tries.pop(path, None)

    @property
    def is_under_way(self) -> bool:
        """Whether a batch was taken and has not come to its end."""
        return bool(self._taken)

    @property
    def waiting(self) -> int:
        """How many paths wait."""
        return len(self._paths) + len(self._retried)

    def due_at(self) -> float:
        """When the next batch can be taken; infinity where nothing waits or one is under way."""
        if self._taken:
            return float("inf")
        quiet = min(self._last + QUIET_SECONDS, self._first + LONGEST_SECONDS) if self._paths else float("inf")
        return max(self._not_before, min(quiet, self._retried_at))

    def take(self, at: float) -> tuple[str, ...]:
        """The paths of the batch that is due, those that changed first in front; none where it is not due."""
        if at < self.due_at():
            return ()
        if at >= self._retried_at:
            self._paths, self._retried, self._retried_at = {**self._retried, **self._paths}, {}, float("inf")
        self._taken = tuple(path for path, _ in zip(self._paths, range(self._limit), strict=False))
        for path in self._taken:
            del self._paths[path]
        return self._taken

    def ingested(self, at: float, seconds: float, unread: Iterable[str] = ()) -> None:
        """The batch is in the store, but for the files `unread`, which are tried again. `seconds`: what it took.

        After a long ingest there is a pause of its length: of a long transcript that grows without end, each reading may take seconds.
        """
        self._taken, self._failures, self._limit = (), 0, MOST_PATHS
        self._not_before = at + (min(seconds, LONGEST_REST_SECONDS) if seconds >= 1.0 else 0.0)
        for path in unread:
            tries = self._tries[path] = self._tries.get(path, 0) + 1
            if tries < MOST_TRIES:
                self._retried[path] = None
                self._retried_at = at + BACK_OFF_SECONDS[min(tries, len(BACK_OFF_SECONDS)) - 1]

    def failed(self, at: float) -> None:
        """The store took nothing: the same paths wait again, for longer after each failure."""
        self._paths = {**dict.fromkeys(self._taken), **self._paths}
        self._first, self._taken = at, ()
        self._not_before = at + BACK_OFF_SECONDS[min(self._failures, len(BACK_OFF_SECONDS) - 1)]
        self._failures += 1

    def crashed(self, at: float) -> str:
        """The process that ingested the batch ended within it: the next batch has half of its paths.

        A path that was alone is given up until it changes; returns it, else nothing. Nothing is changed where no batch was under way.
        """
        if not self._taken:
            return ""
        alone = self._taken[0] if len(self._taken) == 1 and self._failures else ""
        self._limit = max(1, len(self._taken) // 2)
        if alone:
            self._taken = ()
        self.failed(at)
        return alone
