"""Rows on their way to the store.

Parquet files in a folder beside it, written while reading, read once by the commit.

So a worker holds at most a chunk of rows in memory, any number of workers can read at once, and the
store is locked only for the final transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.agents.base import CHILD_TABLES, RESPONSES, Rows
from ingest.agents.textless import TEXTS_OF_EXPERIMENTS, reject_without_text, without_text
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.store.read_result import ReadResult
from ingest.store.record_rows import checked_tables, completed_tables
from ingest.system.bounds import unbounded
from schemas.errors import StoreError
from schemas.rows.source import RejectRow
from schemas.rows.tables import arrow_table

CHUNK_ROWS = 4096

CHUNK_CHARACTERS = 1 << 25

FILE_TABLES = ("measurements", "published", "loops", "experiments")
"""Tables whose rows belong to a file, not to a run."""

SPOOLED = ("runs", *CHILD_TABLES, RESPONSES, "rejects", *FILE_TABLES)

KEYS = ("reading", "portion", "document")
"""Additional columns that identify a document of an ingest. `reading`: one reading of one source;
`portion`: number of a part of a big file; `document`: number of the document in it.
"""

DocumentKey = tuple[str, int, int]


class _Record(NamedTuple):
    """A record not yet written. `document` has the beginning of its text, for a reject."""

    result: ReadResult
    document: Document
    rows: Rows


class SpoolWriter:
    """Writes the rows of one task into files `<table>-<task>-<n>.parquet`.

    It counts records and rejects in the results of their sources.

    A record is counted when it is written, since its rows are completed and checked then, those of
    many records together. Without `keeps_text`, no text of a record or reject is written
    (`ingest.agents.textless`).
    """

    def __init__(self, folder: Path, task: str, *, keeps_text: bool = True) -> None:
        self.keeps_text = keeps_text
        self._folder = folder
        self._task = task
        self._files = 0
        self._empty()

    def _empty(self) -> None:
        self._records: list[_Record] = []
        self._rejects: list[RejectRow] = []
        self._reject_keys: list[DocumentKey] = []
        self._of_files: dict[str, list[pa.Table]] = {table: [] for table in FILE_TABLES}
        self._file_keys: dict[str, list[DocumentKey]] = {table: [] for table in FILE_TABLES}
        self._characters = 0

    def add(self, result: ReadResult, document: Document, rows: Rows) -> None:
        rows = rows if self.keeps_text else without_text(rows)
        self._records.append(_Record(result, document.beginning(), rows))
        patches = (
            getattr(patch, "text", None) for patch in rows.patches
        )  # values are checked later
        self._characters += len(document.content) + sum(
            len(text) for text in patches if isinstance(text, str)
        )
        if len(self._records) >= CHUNK_ROWS or self._characters >= CHUNK_CHARACTERS:
            self.flush()

    def reject(self, result: ReadResult, part: Unreadable) -> None:
        self._keep_reject(result, part)
        if len(self._rejects) >= CHUNK_ROWS:
            self.flush()

    def measure(self, result: ReadResult, rows: pa.Table, published: pa.Table) -> None:
        """Add the rows of `measurements` and `published` of a file."""
        result.measurements += len(rows)
        result.judgements += len(published)
        result.without_variant += rows["variant"].null_count
        self._add_of_file(result, "measurements", rows)
        self._add_of_file(result, "published", published)

    def loop(self, result: ReadResult, loops: pa.Table, experiments: pa.Table) -> None:
        """Add the rows of `loops` and `experiments` of a file; without texts if none are kept."""
        result.loops += len(loops)
        result.experiments += len(experiments)
        if not self.keeps_text:
            for place, column in enumerate(experiments.schema):
                if column.name in TEXTS_OF_EXPERIMENTS:
                    experiments = experiments.set_column(
                        place, column, pa.nulls(len(experiments), column.type)
                    )
        self._add_of_file(result, "loops", loops)
        self._add_of_file(result, "experiments", experiments)

    def _add_of_file(self, result: ReadResult, table: str, rows: pa.Table) -> None:
        self._of_files[table].append(rows)
        self._file_keys[table] += [(result.key.reading, result.key.portion, 0)] * len(rows)
        if len(self._file_keys[table]) >= CHUNK_ROWS:
            self.flush()

    @unbounded()
    def flush(self) -> None:
        """Write all rows in memory. Records with wrong rows become rejects."""
        if self._records:
            self._write_records()
        if self._rejects:
            self._write("rejects", arrow_table(RejectRow, self._rejects), self._reject_keys)
        for table, keys in self._file_keys.items():
            if keys:
                self._write(table, pa.concat_tables(self._of_files[table]), keys)
        self._files += 1
        if self._characters >= CHUNK_CHARACTERS:
            self._empty()
            # otherwise Arrow would keep the memory of a long text
            pa.default_memory_pool().release_unused()
        self._empty()

    def _write_records(self) -> None:
        tables, refused = checked_tables(
            [record.rows for record in self._records], completed_tables
        )
        keys: list[DocumentKey] = []
        for place, (result, document, rows) in enumerate(self._records):
            if error := refused.get(place):
                self._keep_reject(result, document.refused(error.reason, error.detail))
            else:
                result.accept(rows.run.run_id)
                keys.append((result.key.reading, result.key.portion, document.ordinal))
        for name, table, records in tables:
            self._write(name, table, [keys[record] for record in records])

    def _keep_reject(self, result: ReadResult, part: Unreadable) -> None:
        self._rejects.append(result.reject(part if self.keeps_text else reject_without_text(part)))
        self._reject_keys.append((result.key.reading, result.key.portion, part.ordinal))

    def _write(self, name: str, rows: pa.Table, keys: Sequence[DocumentKey]) -> None:
        for column, values, type_ in zip(
            KEYS, zip(*keys, strict=True), (pa.string(), pa.int64(), pa.int64()), strict=True
        ):
            rows = rows.append_column(column, pa.array(values, type_))
        _write(rows, self._folder / f"{name}-{self._task}-{self._files}.parquet")


def _write(table: pa.Table, path: Path) -> None:
    try:
        pq.write_table(table, path, compression="lz4", use_dictionary=False, write_statistics=False)
    except OSError as error:
        raise StoreError(
            f"cannot write beside the store: {error}",
            "Make room on the disk, or choose another --db.",
        ) from error
