"""Parquet: every column with its type, money as DECIMAL, and in the file's metadata what the table is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from app.reports.exports.values import json_text
from schemas.catalogue.entry import UNNAMED, Columns

if TYPE_CHECKING:
    from app.reports.cost_report import Report

ABOUT = b"tachograph"
"""Key of the file's metadata that says what it covers."""


def write_parquet(table: pa.Table, heading: str = "", _of: Columns = UNNAMED) -> bytes:
    """The table, compressed with zstd. Without rows it keeps its columns."""
    about = {ABOUT: heading.encode()} if heading else {}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(about), sink, compression="zstd")
    return bytes(sink.getvalue())


def write_report(report: Report) -> bytes:
    """The report's groups, or its totals; the header as JSON in the metadata."""
    return write_parquet(report.main.table, json_text(report.header.as_dict()))
