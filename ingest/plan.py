"""Which sources are read together, which alone, and which in portions."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import Self

from ingest.containers import Source, archive_kind, portions
from ingest.reading import SMALL_BYTES, Card, Settings, known_card
from ingest.workers import Task

TASK_BYTES = 1 << 22
TASK_SOURCES = 1000
"""Small files are read together, until a task has this many bytes or sources."""

BIG_BYTES = 1 << 25
"""From this size on a file is a task by itself, and read in portions if it is made of records line by line."""


class Plan:
    """Makes tasks of sources. A file read in portions is hashed meanwhile; `identified` puts the hash on its cards."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._hasher = ThreadPoolExecutor(1)
        self._numbers = count()
        self._hashes: dict[str, Future[str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hasher.shutdown(wait=False, cancel_futures=True)

    def tasks(self, sources: Iterator[Source]) -> Iterator[Task | list[Card]]:
        """The sources as tasks, in the order they come; cards of small files that the store has already.

        To hash a small file costs less than to hand it over: where all are known no process need be started.
        """
        batch: list[Source] = []
        known: list[Card] = []
        number = size = 0
        for source in map(self._looked_at, sources):
            if isinstance(source, Card):
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

    def identified(self, card: Card) -> Card:
        """The card with the source_id that a portion's reader did not know."""
        return card if card.source_id else replace(card, source_id=self._hashes[card.key.reading].result())

    def _big(self, source: Source, name: str) -> Iterator[Task]:
        try:
            parts = [] if self._is_known(source) or archive_kind(source) else portions(source)
        except OSError:  # its reader will say so
            parts = []
        if len(parts) < 2:
            yield Task(name, (source,))
            return
        self._hashes[name] = self._hasher.submit(lambda: source.source_id)
        for number, part in enumerate(parts):
            yield Task(name, (source,), part, number)

    def _looked_at(self, source: Source) -> Source | Card:
        """The card of a small file that is known. Any other small file comes back with its bytes, unless the store knows none."""
        if not self._settings.known or source.size > SMALL_BYTES:
            return source
        try:
            source = source.loaded()
        except OSError:  # its reader will say so
            return source
        return known_card(source, f"known{next(self._numbers)}") if self._is_known(source) else source

    def _is_known(self, source: Source) -> bool:
        """Whether the store has it. Costs reading the file once, so not asked of a new store."""
        return bool(self._settings.known) and source.source_id in self._settings.known
