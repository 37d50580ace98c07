"""The tables of the store, one place: name → row model → Arrow schema.

The row models name every column, its type and its meaning; what is here turns them into Arrow. The store's DDL
(`ingest/sql/schema.sql`) is written from the same truth, and a test compares them.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Union, get_args, get_origin

import pyarrow as pa

from schemas.claim import ClaimRow, MeasurementRow
from schemas.row import Row
from schemas.run import FileChangeRow, ModelUsageRow, RunRow, ToolCallRow
from schemas.source import FindingRow, RejectRow, SourceRow, StoreMetaRow
from schemas.units import ArrowType

SCHEMA_VERSION = 1
"""Raised with every change of a table. A store of another version is refused, never migrated: `rebuild` makes it anew."""

TABLES: dict[str, type[Row]] = {
    "store_meta": StoreMetaRow,
    "sources": SourceRow,
    "runs": RunRow,
    "model_usage": ModelUsageRow,
    "tool_calls": ToolCallRow,
    "claims": ClaimRow,
    "file_changes": FileChangeRow,
    "measurements": MeasurementRow,
    "findings": FindingRow,
    "rejects": RejectRow,
}


@cache
def arrow_schema(row: type[Row]) -> pa.Schema:
    """Arrow schema of a row model: field order as written, nullability from `| None`, comment in the field's metadata."""
    return pa.schema([_arrow_field(row, name) for name in row.model_fields])


def arrow_table(row: type[Row], rows: Sequence[Row]) -> pa.Table:
    """Rows of one kind as an Arrow table with the columns of `arrow_schema(row)`."""
    schema = arrow_schema(row)
    if not rows:
        return schema.empty_table()
    columns = zip(*map(attrgetter(*schema.names), rows), strict=True)
    return pa.table([_array(field, values) for field, values in zip(schema, columns, strict=True)], schema=schema)


def is_compressed(field: pa.Field) -> bool:
    """Whether the store should keep the column with zstd."""
    return b"compressed" in (field.metadata or {})


def comment(field: pa.Field) -> str:
    """What the column means."""
    return str((field.metadata or {})[b"comment"].decode())


def _array(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    if pa.types.is_map(field.type):
        return pa.array([sorted(value.items()) for value in values], field.type)
    return pa.array(values, field.type)


def _arrow_field(row: type[Row], name: str) -> pa.Field:
    info = row.model_fields[name]
    arrow = _arrow_type(info.annotation, info.metadata)
    if arrow is None:
        raise TypeError(f"{row.__name__}.{name} names no ArrowType")
    metadata = {"comment": info.description or ""} | ({"compressed": "zstd"} if arrow.compressed else {})
    return pa.field(name, arrow.type, nullable=_is_optional(info.annotation), metadata=metadata)


def _arrow_type(annotation: Any, metadata: Iterable[Any] = ()) -> ArrowType | None:
    """The `ArrowType` beside the type: on the field itself, or inside `Annotated[…] | None`."""
    found = next((item for item in metadata if isinstance(item, ArrowType)), None)
    if found or not get_args(annotation):
        return found
    inner = get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        return next(filter(None, map(_arrow_type, inner)), None)
    return next((item for item in inner if isinstance(item, ArrowType)), None)


def _is_optional(annotation: Any) -> bool:
    return type(None) in get_args(annotation)
