"""Columns as people see them: what a column is called, what its figures count, and how a cell reads.

Terminal tables and Markdown share this page, so that they differ in layout only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import pyarrow as pa

from app.queries.runs import KNOWN_SUFFIX
from app.text.formatting import EXACT_UNITS, UNITS_OF_COLUMNS, UNKNOWN, exact, human
from schemas.catalogue.metrics import DIMENSIONS, MODEL_DIMENSIONS, MODEL_METRICS, RUN_METRICS
from schemas.catalogue.unit_names import Unit
from schemas.text import visible

_LABELS = {
    "cost_reported_usd": "Cost as logged",
    "cost_own_usd": "Reported cost",
    "num_turns": "Turns",
    "parallelism": "API ÷ wall time",
    "cost_per_turn_usd": "Reported cost per turn",
    "cache_read_share": "Input from cache",
    "session_id": "Session",
    "cost_list_usd": "List cost",
    "cost_what_if_usd": "What if: list cost",
    "cost_what_if_delta_usd": "What if, less list cost",
    "run_id": "Run",
    "source_name": "Source",
    "name": "Source",
    "bytes": "Size",
    "received_at": "First read",
}
"""Stored columns whose name does not read well by itself."""

_LABEL, _UNIT, _MEANING = b"label", b"unit", b"meaning"
_METRICS = MODEL_METRICS | RUN_METRICS
_DIMENSIONS = MODEL_DIMENSIONS | DIMENSIONS


@dataclass(frozen=True)
class Column:
    """One column for people. `known` names the column that says how many rows its figures rest on; `meaning` is often not told here."""

    name: str
    label: str
    unit: Unit
    known: str | None = None
    meaning: str = ""

    @property
    def is_figure(self) -> bool:
        """Whether the cells stand to the right."""
        return self.unit not in (Unit.TEXT, Unit.TIME)

    def cell(self, row: Mapping[str, Any]) -> str:
        """The value for a reader."""
        value = row[self.name]
        if isinstance(value, list):
            return human(", ".join(map(_item, value)))
        if isinstance(value, float) and not isfinite(value):
            return UNKNOWN
        return human(("no", "yes")[value] if isinstance(value, bool) else value, self.unit)

    def exact(self, row: Mapping[str, Any]) -> str:
        """The value with nothing of a sum rounded away."""
        return exact(row[self.name], self.unit) if self.unit in EXACT_UNITS else self.cell(row)

    def note(self, row: Mapping[str, Any]) -> str:
        """`41 of 57` where the figure rests on some of the group's runs only, else empty."""
        known, runs = row.get(self.known or ""), row.get("runs")
        return f"{known:,} of {runs:,}" if known and runs and known < runs else ""


def labelled(table: pa.Table, labels: Mapping[str, str]) -> pa.Table:
    """The table with other labels than its columns' names suggest: `model` is the main model of a run, but not everywhere."""
    return _told(table, _LABEL, labels)


def measured(table: pa.Table, units: Mapping[str, Unit]) -> pa.Table:
    """The table with the units of columns whose names tell none."""
    return _told(table, _UNIT, units)


def explained(table: pa.Table, meanings: Mapping[str, str]) -> pa.Table:
    """The table with what its columns mean, where that is not what a stored column of the name means: a sum over a group's runs, say."""
    return _told(table, _MEANING, meanings)


def _told(table: pa.Table, key: bytes, words: Mapping[str, str]) -> pa.Table:
    fields = [
        field.with_metadata((field.metadata or {}) | {key: words[field.name]}) if field.name in words else field for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def columns(table: pa.Table) -> list[Column]:
    """The table's columns in order; a count of known rows is no column of its own, but the note of its figure."""
    notes = _notes(table.schema)
    return [_column(field, notes) for field in table.schema if field.name not in notes]


def _notes(schema: pa.Schema) -> set[str]:
    """Counts beside a figure. A label's key may end like one: its values are text."""
    names = {field.name for field in schema if field.name.endswith(KNOWN_SUFFIX) and pa.types.is_integer(field.type)}
    return {name for name in names if name.removesuffix(KNOWN_SUFFIX) in schema.names}


def _column(field: pa.Field, notes: set[str]) -> Column:
    known = f"{field.name}{KNOWN_SUFFIX}"
    meaning = (field.metadata or {}).get(_MEANING, b"").decode()
    return Column(field.name, visible(_label(field)), _unit(field), known if known in notes else None, meaning)


def _label(field: pa.Field) -> str:
    if _LABEL in (field.metadata or {}):
        return str(field.metadata[_LABEL].decode())
    named = _DIMENSIONS.get(field.name) or _METRICS.get(field.name)
    return _LABELS.get(field.name) or (named.label if named else field.name.replace("_", " ").capitalize())


def _unit(field: pa.Field) -> Unit:
    """The unit the table itself, a metric or the list of stored columns states, else what the type suggests."""
    if _UNIT in (field.metadata or {}):
        return Unit(field.metadata[_UNIT].decode())
    if field.name in _METRICS:
        return _METRICS[field.name].unit
    if field.name in UNITS_OF_COLUMNS:
        return UNITS_OF_COLUMNS[field.name]
    if pa.types.is_timestamp(field.type):
        return Unit.TIME
    is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
    return Unit.COUNT if is_number else Unit.TEXT


def _item(item: Any) -> str:
    """An entry of a list, or of a map (which Arrow gives as pairs) the way `--label` writes it."""
    return "=".join(map(str, item)) if isinstance(item, tuple) else str(item)
