"""Which sources are read together, which alone, and which in portions."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import Self

from ingest.documents.contents import Source, archive_kind, portions
from ingest.reading.read_source import SMALL_BYTES, Settings, known_source
from ingest.reading.workers import Task
from ingest.sources.files import CHANGED, changed
from ingest.sources.identity import Identity, identify_in_portions
from ingest.sources.portions import BIG_BYTES
from ingest.store.read_result import ReadResult
from schemas.errors import InputUnreadable

TASK_BYTES = 1 << 22
TASK_SOURCES = 1000
"""Small files are read together, until a task has this many bytes or sources."""


class Plan:
    """Makes tasks of sources. A file read in portions is hashed meanwhile; `identified` puts the hash on its results.

    A source is as long as its file is when its turn comes. What is appended later is for the next ingest.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._hasher = ThreadPoolExecutor(1)
        self._numbers = count()
        self._identities: dict[str, Future[Identity]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hasher.shutdown(wait=False, cancel_futures=True)

    def tasks(self, sources: Iterator[Source]) -> Iterator[Task | list[ReadResult]]:
        """The sources as tasks, in the order they come; results of small files that the store has already.

        To hash a small file costs less than to hand it over: where all are known no process need be started.
        """
        batch: list[Source] = []
        known: list[ReadResult] = []
        number = size = 0
        for source in map(self._looked_at, sources):
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

    def identified(self, result: ReadResult) -> ReadResult:
        """The result of a portion with the source_id, which its reader did not know; `unreadable` where the file was changed meanwhile."""
        if result.source_id or result.unreadable:
            return result
        try:
            identity = self._identities[result.key.reading].result()
        except OSError as error:
            return replace(result, unreadable=InputUnreadable(f"cannot read {result.name}: {error.strerror or error}"))
        except InputUnreadable as error:
            return replace(result, unreadable=error)
        if identity.checksums[result.key.portion] != result.checksum:
            return replace(result, unreadable=changed(result.name, CHANGED))
        return replace(result, source_id=identity.source_id, begins_with=identity.begins_with)

    def _big(self, source: Source, name: str) -> Iterator[Task | list[ReadResult]]:
        try:
            parts = [] if archive_kind(source) else portions(source)
        except (OSError, InputUnreadable):  # its reader will say so
            parts = []
        if len(parts) < 2:
            yield Task(name, (source,))
        elif result := self._known(source, name):
            yield [result]
        else:
            self._identities[name] = self._hasher.submit(identify_in_portions, source, self._settings.earlier(source), parts)
            for number, part in enumerate(parts):
                yield Task(name, (source,), part, number)

    def _looked_at(self, source: Source) -> Source | ReadResult:
        """The source as it is now, or the result of a small file that is known. Other small ones have their bytes with them.

        Of a new store's, nothing is known: their readers load them.
        """
        try:
            source = source.as_it_is_now()
            if not self._settings.known or source.size > SMALL_BYTES:
                return source
            source = source.loaded()
        except OSError:  # its reader will say so
            return source
        return self._known(source, f"known{next(self._numbers)}") or source

    def _known(self, source: Source, name: str) -> ReadResult | None:
        """Its result, if the store has it. Costs reading the file once, so not asked of a new store."""
        try:
            return known_source(source, name, self._settings)
        except (OSError, InputUnreadable):  # its reader will say so
            return None
