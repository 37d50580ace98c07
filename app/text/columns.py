"""Columns as people see them: what a column is called, what its figures count, and how a cell reads.

The catalogue (`schemas.catalogue.columns`) says it; terminal tables, Markdown, pages, workbooks and grids share this page, so that they
differ in layout only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from app.queries.runs import KNOWN_SUFFIX
from app.text.formatting import EXACT_UNITS, UNKNOWN, UNKNOWN_NAME, exact, human, rate_words
from app.text.words.claims import evidence_words
from app.text.words.measured import NAMES as VERDICT_WORDS
from app.text.words.measured import VERDICT_COLUMNS
from app.text.words.measures import bound_sign
from schemas.agents import AGENTS
from schemas.catalogue.cost_measures import BOUNDS, COST_MEASURES, GROUP_COSTS, NEARLY_ALL
from schemas.catalogue.dimensions import DIMENSIONS, LABEL_PREFIX, MODEL_DIMENSIONS
from schemas.catalogue.entry import UNNAMED, Columns, Dimension, Entry
from schemas.catalogue.failures import REASONS, WHOSE
from schemas.catalogue.metrics import FEWEST_VALUES, HIGH, LOW, MEDIANS
from schemas.catalogue.usage import LOWER_BOUNDS, USAGE_DIMENSIONS, WHOLE_RUNS
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import visible
from schemas.units import Unit

_NAMES = (DIMENSIONS | MODEL_DIMENSIONS | USAGE_DIMENSIONS).keys() - {"provider", "region"}
"""Groupings of which every run has one; most models have no region."""

CAUSE_COLUMNS = ("cost_cause", "causes", "cause")
"""Columns of causes of a cost difference, by their keys."""

EVIDENCE_COLUMNS = ("evidence", "claimed_evidence")
"""Columns of the evidence of a claim, likewise."""


REASON_COLUMNS = ("reason", "failure")
"""Columns of the reason of a failure, likewise."""


def cause_words(keys: str) -> str:
    """`fallback pricing, matches list` for the keys of causes."""
    return ", ".join(CAUSES[CostCause(key)].label if key in set(CostCause) else key for key in keys.split(", "))


def agent_name(key: str) -> str:
    """`Claude Code` for `claude-code`; an agent that is not in the list has its key."""
    return AGENTS[key].label if key in AGENTS else key


_BOUNDED = ("output_tokens", "total_tokens", "cost_list_usd")
"""Figures that are lower bounds in a row of usage that counts LOWER_BOUNDS."""

BOUNDS_SUFFIX, OF_SUFFIX = "_bounds", "_of"
"""Columns beside a figure: what bounds it, and of how many runs some are known, where those are not the row's."""

BOUNDS_COLUMNS = {column: f"{column}{BOUNDS_SUFFIX}" for column in BOUNDS}
"""Column of a cost → what bounds it in the row: no column of its own, but a sign before the cost."""

_BASES = (("runs",), ("responses", WHOLE_RUNS), ("calling_responses",))
"""What the figures of a row rest on: the first of these that it counts."""

_FOLLOWS = {"cost_per_turn_usd": "cost_own_usd", "cost_delta_usd": "cost_own_usd", "parallelism": "duration_api_own_ms"}
"""Figures that are unknown where another one is."""


def untold(agent: str) -> frozenset[str]:
    """Columns of a run that no record of the agent can fill, and those that follow from them."""
    told = AGENTS[agent].unrecorded if agent in AGENTS else frozenset[str]()
    return told | {key for key, source in _FOLLOWS.items() if source in told}


@dataclass(frozen=True)
class Column:
    """One column for people. `known` names the column that says how many rows its figures rest on; `header` is its name on a grid.

    `is_name`: it names a group; one without a value is called unknown.
    """

    name: str
    label: str
    unit: Unit
    known: str | None = None
    meaning: str = ""
    header: str = ""
    is_name: bool = False

    @property
    def is_figure(self) -> bool:
        """Whether the cells are aligned to the right."""
        return self.unit not in (Unit.TEXT, Unit.TIME)

    def cell(self, row: Mapping[str, Any]) -> str:
        """The value for a reader."""
        value = row[self.name]
        if value is None and self.is_name:
            return UNKNOWN_NAME
        if value is None and self.name in _TOTALS and row.get(STARTED):
            return NOT_RECORDED
        if isinstance(value, list):
            return human(", ".join(map(_item, value)))
        if isinstance(value, float) and not isfinite(value):
            return UNKNOWN
        if value is not None and (few := self._few(row)):
            return few
        if self.name == "error_rate" and value is not None and row.get(self.known or "") and row.get("runs"):
            return rate_words(value, row[self.known or ""], row["runs"])
        return self._bound(row) + human(("no", "yes")[value] if isinstance(value, bool) else self._words(value, row), self.unit)

    def _few(self, row: Mapping[str, Any]) -> str:
        """`$0.10–$0.30, n 3` of a median of fewer than FEWEST_VALUES values; empty of others, and where the row has no range."""
        known, ends = row.get(self.known or ""), [row.get(f"{self.name}{end}") for end in (LOW, HIGH)]
        if not known or known >= FEWEST_VALUES or None in ends:
            return ""
        words = dict.fromkeys(human(end, self.unit) for end in ends)
        return f"{self._bound(row)}{'–'.join(words)}, n {known:,}"

    def _words(self, value: Any, row: Mapping[str, Any]) -> Any:
        """What people call a key; any other value as it is."""
        if not value:
            return value
        if self.name in CAUSE_COLUMNS:
            return cause_words(value)
        if self.name in EVIDENCE_COLUMNS:
            return evidence_words(value, row.get("kind") or "quantified")
        if self.name in VERDICT_COLUMNS:
            return VERDICT_WORDS.get(value, value)
        if self.name in REASON_COLUMNS:
            return REASONS[value].label if value in REASONS else value
        if self.name == "whose":
            return WHOSE.get(value, value)
        return agent_name(value) if self.name == "agent" else value

    def exact(self, row: Mapping[str, Any]) -> str:
        """The value with nothing of a sum rounded away."""
        value = row[self.name]
        is_number = self.unit in EXACT_UNITS and not (isinstance(value, float) and not isfinite(value))
        return self._bound(row) + exact(value, self.unit) if is_number else self.cell(row)

    def _bound(self, row: Mapping[str, Any]) -> str:
        """`≥ ` before a figure that is a lower bound, `≤ ` before an upper one."""
        is_least = self.name in _BOUNDED and row.get(LOWER_BOUNDS) and row[self.name] is not None
        return "≥ " if is_least else bound_sign(row, self.name, row.get(f"{self.name}{BOUNDS_SUFFIX}"))

    def note(self, row: Mapping[str, Any]) -> str:
        """`41 of 57` where the figure rests on some of the group's runs only, else empty."""
        if self.name == "error_rate":  # says it itself
            return ""
        base = next((sum(row.get(name) or 0 for name in base) for base in _BASES if base[0] in row), None)
        known, of = row.get(self.known or ""), row.get(f"{self.name}{OF_SUFFIX}", base)
        least = of
        if of and (self.name in GROUP_COSTS or self.name in ("duration_ms", "lost_ms")):
            of = row.get(STARTED, of)
            least = NEARLY_ALL * of
        return f"{known:,} of {of:,}" if known and of and least and known < least else ""


def columns(table: pa.Table, of: Columns = UNNAMED) -> list[Column]:
    """The table's columns in order; a count of known rows is no column of its own, but the note of its figure."""
    notes = _notes(table.schema)
    return [_column(field, of, notes) for field in table.schema if field.name not in notes]


STARTED = "started_runs"
"""Beside the figures of a group: how many of its runs started."""

NOT_RECORDED = "not recorded"
"""The cost of a group whose runs started, and of none of which a cost is known."""

_TOTALS = {measure.total for measure in COST_MEASURES.values()}
NEVER_STARTED = "never started"
"""What the outcome of a run adds that did no work."""


def with_starts(table: pa.Table) -> pa.Table:
    """The table, in which the outcome of a run that never started says so: `limit_reached, never started`."""
    if not {"outcome", "is_started"} <= set(table.column_names):
        return table
    pairs = zip(table["outcome"].to_pylist(), table["is_started"].to_pylist(), strict=True)
    said = [f"{outcome}, {NEVER_STARTED}" if is_started is False else outcome for outcome, is_started in pairs]
    return table.set_column(table.column_names.index("outcome"), "outcome", pa.array(said, pa.string()))


def column(entry: Entry, known: str | None = None) -> Column:
    """The column of an entry."""
    is_name = entry.key.startswith(LABEL_PREFIX) or (isinstance(entry, Dimension) and entry.key in _NAMES)
    return Column(entry.key, visible(entry.label), entry.unit, known, entry.meaning, visible(entry.header), is_name)


def with_bounds(table: pa.Table, shown: Sequence[str] = ()) -> pa.Table:
    """The table with what bounds its list-price and best-known costs beside them, and how many runs of a group started.

    Cells say so. `shown`: chosen columns.
    """
    if {"runs", "never_started_runs"} <= set(table.column_names) and STARTED not in table.column_names:
        table = table.append_column(STARTED, pc.subtract(table["runs"], table["never_started_runs"]))
    for cost, names in BOUNDS.items():
        told = next((name for name in names if name in table.column_names), None)
        if told and cost in (shown or table.column_names) and BOUNDS_COLUMNS[cost] not in table.column_names:
            table = table.append_column(BOUNDS_COLUMNS[cost], table[told])
    return table


def _notes(schema: pa.Schema) -> set[str]:
    """Counts and bounds beside a figure. A label's key may end like a count: its values are text."""
    names = {field.name for field in schema if field.name.endswith(KNOWN_SUFFIX) and pa.types.is_integer(field.type)}
    ends = {f"{key}{end}" for key in MEDIANS if key in schema.names for end in (LOW, HIGH, LOW + KNOWN_SUFFIX, HIGH + KNOWN_SUFFIX)}
    beside = {f"{name}{suffix}" for name in schema.names for suffix in (BOUNDS_SUFFIX, OF_SUFFIX)}
    return {name for name in names if name.removesuffix(KNOWN_SUFFIX) in schema.names} | beside | {STARTED, *BOUNDS_COLUMNS.values()} | ends


def _column(field: pa.Field, of: Columns, notes: set[str]) -> Column:
    entry = of[field.name] if field.name in of else Entry(field.name, field.name, _unit(field.type))
    known = f"{field.name}{KNOWN_SUFFIX}"
    return column(entry, known if known in notes else None)


def _unit(type_: pa.DataType) -> Unit:
    """What the type of a column suggests that the catalogue does not name."""
    if pa.types.is_timestamp(type_):
        return Unit.TIME
    is_number = pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)
    return Unit.COUNT if is_number else Unit.TEXT


def _item(item: Any) -> str:
    """An entry of a list, or of a map (which Arrow gives as pairs) the way `--label` writes it."""
    return "=".join(map(str, item)) if isinstance(item, tuple) else str(item)
