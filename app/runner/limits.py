"""Limits of a run: the agent's own options if it has them, else watched and enforced.

A signal enforces them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from threading import Event, Thread

from app.runner.process import GRACE_SECONDS
from app.runner.reaper import end
from ingest.system.files import temporary_folder
from schemas.agents import Program
from schemas.errors import TachographError
from schemas.wire.launch import MAX_MINUTES, MAX_USD

_LEAST_PAUSE, _PAUSE_FACTOR = 2.0, 5
"""Least seconds between two checks of the cost, and least pause as a multiple of a check's CPU
time: wall time grows on a busy machine.
"""


@dataclass(frozen=True)
class Limits:
    """Maximum cost and time of a run, None for no limit.

    `grace`: seconds between SIGTERM and SIGKILL.
    """

    usd: Decimal | None = None
    minutes: float | None = None
    grace: float = GRACE_SECONDS

    @property
    def seconds(self) -> float | None:
        """The maximum time in seconds."""
        return None if self.minutes is None else self.minutes * 60


@dataclass(frozen=True)
class Limited:
    """A command with the agent's own options for limits, and the remaining limits to watch.

    `notes`: messages about this.
    """

    command: Sequence[str]
    watched: Limits
    notes: tuple[str, ...] = ()


def with_own_options(command: Sequence[str], program: Program | None, limits: Limits) -> Limited:
    """Put the agent's options after its name, unless the command has them already."""
    words, notes, usd, minutes = list(command), [], limits.usd, limits.minutes
    if program and program.max_usd and usd is not None:
        notes += _insert(words, program.max_usd, usd=plain_usd(usd))
        usd = None
    if program and program.max_minutes and limits.seconds is not None:
        notes += _insert(words, program.max_minutes, seconds=str(max(1, round(limits.seconds))))
        minutes = None
    return Limited(words, Limits(usd, minutes, limits.grace), tuple(notes))


def plain_usd(usd: Decimal) -> str:
    """Return the exact amount in as few characters as possible: `1`, `0.5`."""
    return f"{usd.normalize():f}"


def _insert(words: list[str], option: Sequence[str], **values: str) -> list[str]:
    name, *rest = (word.format(**values) for word in option)
    if any(word == name or word.startswith(f"{name}=") for word in words[1:]):
        return [f"{words[0]} has {name} already: left as it is"]
    words[1:1] = [name, *rest]
    return [f"limit by its own option: {' '.join([name, *rest])}"]


@dataclass
class Watch:
    """Watches the limits of one run. `reached`: the limit that ended it.

    `cost_unknown`: its cost was watched but never known.
    """

    limits: Limits
    sources: Callable[[], Sequence[Path]]
    reached: str = ""
    _is_over: Event = field(default_factory=Event)
    _cost: Decimal | None = None
    _read_bytes: int = -1

    @property
    def cost_unknown(self) -> bool:
        """Whether a cost limit could not be watched."""
        return self.limits.usd is not None and self._cost is None

    def is_overspent(self, records: Sequence[Path]) -> bool:
        """Return whether the ended run exceeded its cost, by records too late to end it."""
        cost = None
        if self.limits.usd is not None and records:
            with suppress(TachographError, OSError):
                cost = cost_so_far(records)
        return cost is not None and self.limits.usd is not None and cost > self.limits.usd

    @contextmanager
    def over(self, session: int) -> Iterator[None]:
        """Watch a session until the end of the block."""
        thread = (
            Thread(target=self._watch, args=(session,), daemon=True)
            if self.limits.usd or self.limits.minutes
            else None
        )
        if thread:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            if thread:
                thread.join()

    def _watch(self, session: int) -> None:
        started = looked = time.monotonic()
        pause = _LEAST_PAUSE
        if self.limits.usd is not None:
            with suppress(TachographError, OSError):
                cost_so_far(
                    ()
                )  # loads what reads logs, so that the first check takes no longer than the others
        while not self._is_over.wait(0.05):
            now = time.monotonic()
            if self.limits.seconds is not None and now - started >= self.limits.seconds:
                self.reached = MAX_MINUTES
            elif self.limits.usd is not None and now - looked >= pause:
                used = time.process_time()
                self.reached = MAX_USD if self._is_spent(self.limits.usd) else ""
                looked = time.monotonic()
                pause = max(_LEAST_PAUSE, _PAUSE_FACTOR * (time.process_time() - used))
            if self.reached:
                if not end(session, self.limits.grace):
                    self.reached = ""  # it had ended by itself
                return

    def _is_spent(self, usd: Decimal) -> bool:
        """Return whether the recorded cost exceeds the limit. Unchanged files are not reread."""
        paths = [path for path in self.sources() if path.is_file()]
        size = sum(path.stat().st_size for path in paths)
        if size != self._read_bytes:
            self._read_bytes = size
            with suppress(TachographError, OSError):
                self._cost = cost_so_far(paths)
        return self._cost is not None and self._cost > usd


def cost_so_far(paths: Sequence[Path]) -> Decimal | None:
    """Return the cost of the runs in the logs: reported, else at list prices; None if unknown.

    Raises TachographError, OSError.
    """
    from app.queries.filters import NO_FILTERS
    from app.queries.runs import summary
    from ingest.pipeline import Options, ingest
    from ingest.sources.walking import read_paths
    from ingest.store.database import Store

    with tempfile.TemporaryDirectory(dir=temporary_folder()) as folder:
        store = Store(Path(folder, "cost.duckdb"))
        if not ingest(read_paths(paths), store, Options(jobs=1)).has_runs:
            return None
        [found] = summary(store, NO_FILTERS, metrics=("cost_usd", "cost_list_usd")).to_pylist()
    known = found["cost_usd"] if found["cost_usd"] is not None else found["cost_list_usd"]
    return None if known is None else Decimal(known)
