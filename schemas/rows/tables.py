"""The tables of the store: name → row model → Arrow schema and Arrow tables.

The row models define every column, its type and its meaning. The store's DDL
(`ingest/store/sql/schema.sql`) is written from the Arrow schemas, and a test compares them.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, get_args

import pyarrow as pa
from pydantic import ConfigDict, TypeAdapter, ValidationError

from schemas.rows.annotation import AnnotationRow, BudgetRow, SavedViewRow
from schemas.rows.claim import ClaimRow, StatementRow
from schemas.rows.landing import LandingRow
from schemas.rows.loop import ExperimentRow, LoopRow
from schemas.rows.measurement import MeasurementRow, SourceMeasuresRow
from schemas.rows.price import PriceFileRow
from schemas.rows.published import PublishedRow
from schemas.rows.response import ResponseCopyRow, ResponseRow
from schemas.rows.row import Row, stored_type, types_of
from schemas.rows.run import (
    FileChangeRow,
    ModelUsageRow,
    PatchFileRow,
    PatchRow,
    RunRow,
    ToolCallRow,
)
from schemas.rows.source import (
    ArchiveMemberRow,
    FindingRow,
    FoundFileRow,
    IngestRow,
    RejectRow,
    RunRecordRow,
    SightingRow,
    SourceRow,
    StoreMetaRow,
    SupersededRejectRow,
    SupersededResponseCopyRow,
    SupersededSourceRow,
)
from schemas.text import paired
from schemas.units import Unit

TABLES: dict[str, type[Row]] = {
    "store_meta": StoreMetaRow,
    "sources": SourceRow,
    "runs": RunRow,
    "model_usage": ModelUsageRow,
    "tool_calls": ToolCallRow,
    "claims": ClaimRow,
    "file_changes": FileChangeRow,
    "patch_files": PatchFileRow,
    "patches": PatchRow,
    "statements": StatementRow,
    "findings": FindingRow,
    "responses": ResponseRow,
    "response_copies": ResponseCopyRow,
    "rejects": RejectRow,
    "measurements": MeasurementRow,
    "published": PublishedRow,
    "loops": LoopRow,
    "experiments": ExperimentRow,
    "price_files": PriceFileRow,
    "ingests": IngestRow,
    "run_records": RunRecordRow,
    "found_files": FoundFileRow,
    "sightings": SightingRow,
    "archive_members": ArchiveMemberRow,
    "source_measures": SourceMeasuresRow,
    "superseded_sources": SupersededSourceRow,
    "superseded_rejects": SupersededRejectRow,
    "superseded_response_copies": SupersededResponseCopyRow,
    "annotations": AnnotationRow,
    "landings": LandingRow,
    "saved_views": SavedViewRow,
    "budgets": BudgetRow,
}


@cache
def arrow_schema(row: type[Row]) -> pa.Schema:
    """Return the Arrow schema of a row model.

    Fields in order, nullability from `| None`, comment in the field's metadata.
    """
    return pa.schema([_arrow_field(row, name) for name in row.columns])


class WrongValue(ValueError):
    """A value that does not fit its column.

    `runs.num_turns: Input should be a valid integer (found 1.5)`.
    """

    def __init__(self, row: type[Row], column: str, value: object, error: Exception) -> None:
        table = next((name for name, model in TABLES.items() if model is row), row.__name__)
        super().__init__(f"{table}.{column}: {_reason(error)} (found {shown(value)})")


def arrow_table(row: type[Row], rows: Sequence[Row]) -> pa.Table:
    """Return rows of one kind as an Arrow table with the columns of `arrow_schema(row)`.

    Every value is checked by its field's strict type and by Arrow, column by column. Raises
    WrongValue, and TypeError for a row of another kind.
    """
    if other := next((one for one in rows if type(one) is not row), None):
        raise TypeError(f"{shown(other)} is no {row.__name__}")
    return (
        arrow_columns(row, zip(*(one.values() for one in rows), strict=True))
        if rows
        else arrow_schema(row).empty_table()
    )


def arrow_columns(row: type[Row], columns: Iterable[tuple[Any, ...]]) -> pa.Table:
    """Return the same table, made of columns in the order of the fields."""
    schema = arrow_schema(row)
    arrays = [
        _checked(row, field, check, column)
        for field, check, column in zip(schema, _checks(row), columns, strict=True)
    ]
    return pa.table(arrays, schema=schema)


def shown(value: object) -> str:
    """Return a value for an error message, truncated if long."""
    try:
        return _SHORT.repr(value)
    except Exception:  # a number of thousands of digits, or a class that cannot say what it is
        return f"a value of type {type(value).__name__}"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def is_compressed(field: pa.Field) -> bool:
    """Return whether the store should compress the column with zstd."""
    return b"compressed" in (field.metadata or {})


def comment(field: pa.Field) -> str:
    return str((field.metadata or {})[b"comment"].decode())


@cache
def _checks(row: type[Row]) -> tuple[Callable[[Sequence[Any]], Sequence[Any]], ...]:
    """Return for each field, in order, the function that strictly checks a column of its values."""
    return tuple(_check(types_of(row)[name]) for name in row.columns)


def _check(type_: Any) -> Callable[[Sequence[Any]], Sequence[Any]]:
    return TypeAdapter(
        tuple[type_, ...], config=ConfigDict(strict=True, allow_inf_nan=False)
    ).validate_python


def _checked(
    row: type[Row],
    field: pa.Field,
    check: Callable[[Sequence[Any]], Sequence[Any]],
    values: Sequence[Any],
) -> pa.Array:
    """Return a column as an Arrow array. Raises WrongValue with the first unfit value."""
    if (
        field.nullable and values and values[0] is None and values.count(None) == len(values)
    ):  # as half of the columns of runs
        return pa.nulls(len(values), field.type)
    try:
        return _array(field, check(values))
    except MemoryError:
        raise
    except Exception as error:
        if len(values) == 1:
            raise WrongValue(row, field.name, values[0], error) from error
        for value in values:
            _checked(row, field, check, (value,))
        raise


def _array(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    made = [sorted(value.items()) for value in values] if pa.types.is_map(field.type) else values
    try:
        array = pa.array(made, field.type)
    except UnicodeEncodeError:
        array = pa.array(paired(made), field.type)
    array.validate(full=True)  # bytes that are no UTF-8: DuckDB would refuse to read them
    return array


def _reason(error: Exception) -> str:
    """Return why a value was refused, without the value."""
    return (
        str(error.errors(include_url=False, include_context=False)[0]["msg"])
        if isinstance(error, ValidationError)
        else str(error)
    )


def _arrow_field(row: type[Row], name: str) -> pa.Field:
    arrow = stored_type(row, name)
    told = f"{row.columns[name].description}{_IN_UNITS.get(arrow.unit, '')}"
    metadata = {"comment": told} | ({"compressed": "zstd"} if arrow.compressed else {})
    return pa.field(
        name, arrow.type, nullable=type(None) in get_args(types_of(row)[name]), metadata=metadata
    )


_IN_UNITS = {Unit.USD: " In USD.", Unit.MILLISECONDS: " In ms."}
"""Suffix of a column's comment, since readers of the store see bare numbers."""
