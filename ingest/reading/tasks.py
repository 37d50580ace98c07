"""Sources → tasks: small files together, big ones alone or in portions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import Self

from ingest.reading.known_bytes import SMALL_BYTES, known_source
from ingest.reading.known_sources import KnownSources, Stamp
from ingest.reading.settings import Beginning, Settings
from ingest.reading.task import Task
from ingest.sources.archives import archive_kind
from ingest.sources.files import CHANGED, Source, changed
from ingest.sources.identity import Identity, identify_in_portions
from ingest.sources.portions import BIG_BYTES, portions
from ingest.store.read_result import PortionKey, ReadResult
from schemas.errors import InputUnreadable

ReadBefore = Callable[[Mapping[str, Stamp]], Mapping[str, Beginning]]
"""By name: sources of transcripts that have grown → what was read of them."""

TASK_BYTES = 1 << 24
TASK_SOURCES = 1000
"""Small files are put into one task until it has this many bytes or sources."""


class TaskPlanner:
    """Makes tasks of sources. A file that is read in portions is hashed by a thread meanwhile; `identified` adds the hash to its results.

    The length of a source is fixed when its task is made. Later bytes of its file are for the next ingest.
    """

    def __init__(self, settings: Settings, known: KnownSources | None = None, read_before: ReadBefore | None = None) -> None:
        self._settings = settings
        self._known_sources = known or KnownSources()
        self._read_before = read_before
        self._grown: dict[str, tuple[Source, Stamp]] = {}
        self._hasher = ThreadPoolExecutor(1)
        self._numbers = count()
        self._identities: dict[str, Future[Identity]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hasher.shutdown(wait=False, cancel_futures=True)

    def tasks(self, sources: Iterator[Source]) -> Iterator[Task | list[ReadResult]]:
        """The sources as tasks, in their order, and results of unchanged files and of small files that the store has already.

        Hashing a small file costs less than sending it to a worker; if all files are known, no worker is started.
        """
        batch: list[Source] = []
        known: list[ReadResult] = []
        number = size = 0
        for source in self._current_ones(sources):
            if isinstance(source, ReadResult):
                known.append(source)
                if len(known) >= TASK_SOURCES:
                    yield known
                    known = []
            elif source.size >= BIG_BYTES:
                yield from self._big(source, f"big{number}")
                number += 1
            else:
                batch.append(source)
                size += source.size
                if size >= TASK_BYTES or len(batch) >= TASK_SOURCES:
                    yield Task(f"small{number}", tuple(batch))
                    batch, size, number = [], 0, number + 1
        if known:
            yield known
        if batch:
            yield Task(f"small{number}", tuple(batch))
        yield from self._tasks_of_grown()

    def _tasks_of_grown(self) -> Iterator[Task]:
        """Transcripts that have grown come last, when all of them are known: what was read of them is looked up together."""
        if not (self._grown and self._read_before):
            return
        beginnings = self._read_before({name: stamp for name, (_, stamp) in self._grown.items()})
        batch: list[Source] = []
        size = number = 0
        for source, stamp in self._grown.values():
            if size >= TASK_BYTES:
                yield _task_of_grown(number, batch, beginnings)
                batch, size, number = [], 0, number + 1
            batch.append(source)
            size += source.size - (stamp.resume_at or 0)
        yield _task_of_grown(number, batch, beginnings)

    def identified(self, result: ReadResult) -> ReadResult:
        """The result of a portion with the source_id, which its reader did not know; `unreadable` where the file was changed meanwhile."""
        if result.source_id or result.unreadable:
            return result
        try:
            identity = self._identities[result.key.reading].result()
        except InputUnreadable as error:
            return replace(result, unreadable=error)
        except Exception as error:
            said = getattr(error, "strerror", None) or error
            return replace(result, unreadable=InputUnreadable(f"cannot read {result.name}: {said}"))
        if identity.checksums[result.key.portion] != result.checksum:
            return replace(result, unreadable=changed(result.name, CHANGED))
        return replace(result, source_id=identity.source_id, begins_with=identity.begins_with)

    def _big(self, source: Source, name: str) -> Iterator[Task | list[ReadResult]]:
        try:
            parts = [] if archive_kind(source) else portions(source)
        except Exception:  # reading it reports the error
            parts = []
        if len(parts) < 2:
            yield Task(name, (source,))
        elif result := self._known(source, name):
            yield [result]
        else:
            self._identities[name] = self._hasher.submit(identify_in_portions, source, self._settings.earlier(source), parts)
            for number, part in enumerate(parts):
                yield Task(name, (source,), part, number)

    def _current_ones(self, sources: Iterator[Source]) -> Iterator[Source | ReadResult]:
        for source in sources:
            if (now := self._current(source)) is not None:
                yield now

    def _current(self, source: Source) -> Source | ReadResult | None:
        """The source as it is now, or the result of a small file that the store has. Other small files are loaded into memory.

        None: a transcript that has grown, which is kept for later.

        With a new store nothing is known, and the workers load the files.
        """
        if source_id := self._known_sources.unchanged(source):
            return ReadResult(PortionKey(f"known{next(self._numbers)}"), source_id, source.name, source.size, source.size, known=True)
        try:
            source = source.as_it_is_now()
            if self._read_before and (stamp := self._known_sources.left_off(source)):
                self._grown[source.name] = source, stamp
                return None
            if not self._settings.known or source.size > SMALL_BYTES:
                return source
            source = source.loaded()
        except Exception:  # reading it reports the error
            return source
        return self._known(source, f"known{next(self._numbers)}") or source

    def _known(self, source: Source, name: str) -> ReadResult | None:
        """The result of a source that the store has; None for any other. Reads the whole file, so only with a store that has sources."""
        try:
            return known_source(source, name, self._settings)
        except Exception:  # reading it reports the error
            return None


def _task_of_grown(number: int, batch: Sequence[Source], beginnings: Mapping[str, Beginning]) -> Task:
    return Task(f"grown{number}", tuple(batch), beginnings={one.name: beginnings[one.name] for one in batch if one.name in beginnings})
