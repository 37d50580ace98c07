"""The tables of a lake: those of any store, in the SQL that DuckLake takes, and its options."""

from __future__ import annotations

import re

import duckdb

_ONLY_OF_FILES = re.compile(r" using compression zstd|^comment on column v_\w+\..*\n", re.MULTILINE)
"""Compression is an option of the whole lake, and the columns of a view take no comments."""

_OPTIONS = {"parquet_compression": "zstd", "data_inlining_row_limit": 100}
"""Options of a new lake. Texts of records shrink to a fifth with zstd. A commit with at most so many rows of a table leaves no file: its
rows are kept in the catalog until `compact` writes them."""


def as_lake_sql(sql: str) -> str:
    """The SQL of tables and views for a lake."""
    return _ONLY_OF_FILES.sub("", sql)


def set_options(connection: duckdb.DuckDBPyConnection, alias: str) -> None:
    """Set the options of a new lake, for everybody who will ever write to it. Before its views: DuckLake 1.0 crashes otherwise."""
    for name, value in _OPTIONS.items():
        connection.execute(f"call {alias}.set_option('{name}', '{value}')")
