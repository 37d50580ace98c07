"""SQL that is parsed once in a process, however many stores and connections run it.

DuckDB parses a statement again each time it gets its text, which takes a quarter of the time of a statement on a few rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

import duckdb

_SQL = resources.files("ingest.store") / "sql"

_MOST = 1024
"""Texts that are kept parsed: a page's queries differ by their filters."""

_parsed: dict[str, list[duckdb.Statement]] = {}


def run(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None) -> duckdb.DuckDBPyConnection:
    """Run one or more statements, and return the connection with the result of the last one, which takes the parameters.

    For SQL that comes again: without values, paths and names of one time.
    """
    *before, last = _parsed.get(sql) or _parse(connection, sql)
    for statement in before:
        connection.execute(statement)
    return connection.execute(last, parameters)


def _parse(connection: duckdb.DuckDBPyConnection, sql: str) -> list[duckdb.Statement]:
    if len(_parsed) >= _MOST:
        _parsed.clear()
    _parsed[sql] = statements = connection.extract_statements(sql)
    return statements


@cache
def sql_of(step: str) -> str:
    """The text of one file of `sql/`, for instance "commit/01_chosen"."""
    return (_SQL / f"{step}.sql").read_text()
