"""Kept records → rows once more: for a rebuild, an undo, and a run with several records."""

from __future__ import annotations

from collections.abc import Iterable

from ingest.agents.base import Context, Rows
from ingest.agents.left_out import reject_without_text, without_text
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.store.record_rows import RowTable, checked_tables, completed_tables, read_record
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.source import RejectRow


def read_batch(batch: Iterable[tuple[Document, Context]], *, keeps_text: bool = True) -> tuple[list[RowTable], list[RejectRow]]:
    """The tables of the records that can still be read, and the rejects of the others; both without texts where none are kept."""
    read: list[tuple[Document, Context, Rows]] = []
    refused: list[tuple[Document, Context, InvalidRecord]] = []
    for document, context in batch:
        try:
            rows = read_one(document, context)
            read.append((document, context, rows if keeps_text else without_text(rows)))
        except InvalidRecord as error:
            refused.append((document, context, error))
    tables, wrong = checked_tables([rows for _, _, rows in read], completed_tables)
    refused += [(*read[place][:2], error) for place, error in wrong.items()]
    return tables, [_reject(document, error, keeps_text=keeps_text).row(context.source_id) for document, context, error in refused]


def _reject(document: Document, error: InvalidRecord, *, keeps_text: bool) -> Unreadable:
    part = document.refused(error.reason, error.detail)
    return part if keeps_text else reject_without_text(part)


def read_one(document: Document, context: Context) -> Rows:
    """The rows of one record, before `complete`; values are not checked yet. Raises InvalidRecord."""
    rows = read_record(document, lambda *_: context)
    if rows is None:
        raise InvalidRecord(RejectReason.NO_RECORD, "this record's format is no longer supported")
    return rows
