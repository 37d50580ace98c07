"""Rows on their way to the store: Parquet files in a folder beside it, written while reading, read once by the commit.

So a reader holds no more than a chunk of rows, any number of processes can read at once, and the store itself is held only for
the one transaction at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.agents.base import CHILD_TABLES, Rows
from ingest.store.row_tables import tables_of
from schemas.errors import StoreError
from schemas.rows.source import RejectRow
from schemas.rows.tables import arrow_table

CHUNK_ROWS = 4096
"""Most runs kept before they are written."""

CHUNK_CHARACTERS = 1 << 25
"""Most characters of raw records kept before they are written."""

SPOOLED = ("runs", *CHILD_TABLES, "rejects")
"""The tables that pass through the spool."""

KEYS = ("reading", "portion", "document")
"""What tells one document of an ingest from all others: columns beside those of the table. `reading` names one reading of one
source, `portion` a part of a big file read by itself, `document` the number of the document in it."""

DocumentKey = tuple[str, int, int]
"""The values of KEYS."""


@dataclass(frozen=True)
class Key:
    """The reading and the portion that rows belong to."""

    reading: str
    portion: int = 0


class SpoolWriter:
    """Writes the rows of one task into files of its own: `<table>-<task>-<n>.parquet`."""

    def __init__(self, folder: Path, task: str) -> None:
        self._folder = folder
        self._task = task
        self._files = 0
        self._empty()

    def _empty(self) -> None:
        self._made: list[Rows] = []
        self._made_keys: list[DocumentKey] = []
        self._rejects: list[RejectRow] = []
        self._reject_keys: list[DocumentKey] = []
        self._characters = 0

    def add(self, key: Key, rows: Rows) -> None:
        """Keep the rows of one record."""
        self._made.append(rows)
        self._made_keys.append((key.reading, key.portion, rows.run.ordinal))
        self._characters += len(rows.run.raw)
        if len(self._made) >= CHUNK_ROWS or self._characters >= CHUNK_CHARACTERS:
            self.flush()

    def reject(self, key: Key, row: RejectRow) -> None:
        """Keep a reject."""
        self._rejects.append(row)
        self._reject_keys.append((key.reading, key.portion, row.ordinal))
        if len(self._rejects) >= CHUNK_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what is kept."""
        if self._made:
            for name, rows, records in tables_of(self._made):
                self._write(name, rows, [self._made_keys[record] for record in records])
        if self._rejects:
            self._write("rejects", arrow_table(RejectRow, self._rejects), self._reject_keys)
        self._files += 1
        if self._characters >= CHUNK_CHARACTERS:
            self._empty()
            pa.default_memory_pool().release_unused()  # else it keeps what a long text took
        self._empty()

    def _write(self, name: str, rows: pa.Table, keys: Sequence[DocumentKey]) -> None:
        for column, values, type_ in zip(KEYS, zip(*keys, strict=True), (pa.string(), pa.int64(), pa.int64()), strict=True):
            rows = rows.append_column(column, pa.array(values, type_))
        _write(rows, self._folder / f"{name}-{self._task}-{self._files}.parquet")


def _write(table: pa.Table, path: Path) -> None:
    try:
        pq.write_table(table, path, compression="lz4", use_dictionary=False, write_statistics=False)
    except OSError as error:
        raise StoreError(f"cannot write beside the store: {error}", "Make room on the disk, or choose another --db.") from error
