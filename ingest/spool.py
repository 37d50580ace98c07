"""Rows on their way to the store: Parquet files in a folder beside it, written while reading, read once by the commit.

So a reader holds no more than a chunk of rows, any number of processes can read at once, and the store itself is held only for
the one transaction at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.formats.base import CHILD_TABLES, Rows
from schemas.errors import StoreError
from schemas.row import Row
from schemas.source import RejectRow
from schemas.tables import TABLES, arrow_table

CHUNK_ROWS = 4096
"""Most runs kept before they are written."""

CHUNK_CHARACTERS = 1 << 25
"""Most characters of raw records kept before they are written."""

SPOOLED = ("runs", *CHILD_TABLES, "rejects")
"""The tables that pass through the spool."""

KEYS = ("reading", "portion", "document")
"""What tells one document of an ingest from all others: columns beside those of the table. `reading` names one reading of one
source, `portion` a part of a big file read by itself, `document` the number of the document in it."""


@dataclass(frozen=True)
class Key:
    """The reading and the portion that rows belong to."""

    reading: str
    portion: int = 0


@dataclass
class _Buffer:
    """Rows of one table with the keys of their documents."""

    rows: list[Row] = field(default_factory=list)
    keys: list[tuple[str, int, int]] = field(default_factory=list)


class SpoolWriter:
    """Writes the rows of one task into files of its own: `<table>-<task>-<n>.parquet`."""

    def __init__(self, folder: Path, task: str) -> None:
        self._folder = folder
        self._task = task
        self._buffers = {table: _Buffer() for table in SPOOLED}
        self._characters = 0
        self._files = 0

    def add(self, key: Key, rows: Rows) -> None:
        """Keep the rows of one record."""
        document = (key.reading, key.portion, rows.run.ordinal)
        self._keep("runs", document, (rows.run,))
        for table in CHILD_TABLES:
            self._keep(table, document, getattr(rows, table))
        self._characters += len(rows.run.raw)
        if len(self._buffers["runs"].rows) >= CHUNK_ROWS or self._characters >= CHUNK_CHARACTERS:
            self.flush()

    def reject(self, key: Key, row: RejectRow) -> None:
        """Keep a reject."""
        self._keep("rejects", (key.reading, key.portion, row.ordinal), (row,))
        if len(self._buffers["rejects"].rows) >= CHUNK_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what is kept."""
        for table, buffer in self._buffers.items():
            if buffer.rows:
                _write(_with_keys(table, buffer), self._folder / f"{table}-{self._task}-{self._files}.parquet")
        self._buffers = {table: _Buffer() for table in SPOOLED}
        self._characters = 0
        self._files += 1

    def _keep(self, table: str, document: tuple[str, int, int], rows: Sequence[Row]) -> None:
        if rows:
            buffer = self._buffers[table]
            buffer.rows.extend(rows)
            buffer.keys.extend([document] * len(rows))


def _write(table: pa.Table, path: Path) -> None:
    try:
        pq.write_table(table, path, compression="lz4", use_dictionary=False, write_statistics=False)
    except OSError as error:
        raise StoreError(f"cannot write beside the store: {error}", "Make room on the disk, or choose another --db.") from error


def _with_keys(table: str, buffer: _Buffer) -> pa.Table:
    made = arrow_table(TABLES[table], buffer.rows)
    for name, values, type_ in zip(KEYS, zip(*buffer.keys, strict=True), (pa.string(), pa.int64(), pa.int64()), strict=True):
        made = made.append_column(name, pa.array(values, type_))
    return made
