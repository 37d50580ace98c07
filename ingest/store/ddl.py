"""The store's DDL, written from `schemas.rows.tables`: `python -m ingest.store.ddl > ingest/store/sql/schema.sql` (or `make schema`).

The written file is what the store runs and what a reader opens; a test compares it with what this module writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa

from schemas.rows.row import Row
from schemas.rows.tables import SCHEMA_VERSION, TABLES, arrow_schema, comment, is_compressed

_HEADER = f"""\
-- The tables of the store, version {SCHEMA_VERSION}. Written by `make schema` from the row models in schemas/; do not edit.
-- No keys, constraints, sequences or indexes: the store is whatever DuckDB can attach.
"""


def schema_sql() -> str:
    """CREATE TABLE and COMMENT ON for every table and column, in the order of TABLES."""
    return _HEADER + "".join(f"\n{_table(name, row)}" for name, row in TABLES.items())


def _table(name: str, row: type[Row]) -> str:
    fields = list(arrow_schema(row))
    columns = ",\n".join(f"    {_column(field)}" for field in fields)
    return f"create table {name} (\n{columns}\n);\n" + "".join(_comments(name, row, fields))


def _column(field: pa.Field) -> str:
    compression = " using compression zstd" if is_compressed(field) else ""
    return f'"{field.name}" {_duckdb_type(field.type)}{"" if field.nullable else " not null"}{compression}'


def _comments(name: str, row: type[Row], fields: list[pa.Field]) -> Iterator[str]:
    summary = (row.__doc__ or "").partition("\n")[0]
    yield f"comment on table {name} is {_literal(summary)};\n"
    for field in fields:
        yield f'comment on column {name}."{field.name}" is {_literal(comment(field))};\n'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _duckdb_type(type_: pa.DataType) -> str:
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision}, {type_.scale})"
    if pa.types.is_list(type_):
        return f"{_duckdb_type(type_.value_type)}[]"
    if pa.types.is_map(type_):
        return f"map({_duckdb_type(type_.key_type)}, {_duckdb_type(type_.item_type)})"
    return _SIMPLE_TYPES[type_]


_SIMPLE_TYPES = {
    pa.string(): "varchar",
    pa.bool_(): "boolean",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.date32(): "date",
    pa.timestamp("us", tz="UTC"): "timestamptz",
}


if __name__ == "__main__":
    sys.stdout.write(schema_sql())
