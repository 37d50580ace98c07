"""The one description of a column.

Label, unit, words for its keys, bounds, and how many runs a figure rests on.

The catalogue (`schemas.catalogue.columns`) defines the columns. Grids and the sheets of workbooks
have their values, all other tables their cells (`table.TextTable`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

import pyarrow as pa

from app.queries import Row
from app.queries.filters import FILTERS, TIME, TIMES, FilterKind, moment, this_moment
from app.queries.runs import KNOWN_SUFFIX
from app.text.claims import NAMES, VERDICT_COLUMNS, evidence_words, few_others, words
from app.text.formatting import (
    AT_LEAST,
    FORMS,
    NAMELESS,
    UNKNOWN,
    UNKNOWN_NAME,
    agent_name,
    bound_sign,
    exact,
    model_words,
    rate_words,
    short,
    with_sign,
)
from app.text.table import TextCell
from schemas.catalogue.columns import RUNS
from schemas.catalogue.cost_measures import BOUNDS, COST_MEASURES, GROUP_COSTS, NEARLY_ALL
from schemas.catalogue.dimensions import DIMENSIONS, LABEL_PREFIX, MODEL_DIMENSIONS, SYNONYMS
from schemas.catalogue.entry import UNNAMED, Columns, Dimension, Entry
from schemas.catalogue.failures import REASONS, WHOSE
from schemas.catalogue.metrics import FEWEST_VALUES, HIGH, LOW, MEDIANS
from schemas.catalogue.usage import LOWER_BOUNDS, USAGE_DIMENSIONS, WHOLE_RUNS
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import visible
from schemas.units import Unit

NEVER_STARTED, NOT_RECORDED = "never started", "not recorded"

STARTED = "started_runs"

BOUNDS_SUFFIX, OF_SUFFIX = "_bounds", "_of"
"""Suffixes of columns that belong to a figure: the kinds of its bounds, and its number of runs if
not the row's.
"""

BOUNDS_COLUMNS = {column: f"{column}{BOUNDS_SUFFIX}" for column in BOUNDS}
"""Column of a cost → the column with the kinds of its bounds. People see these as a sign before the
cost.
"""

OF_FILE = "file"

IDS = frozenset({"run_id", "session_id", "source_id", "run", "session"})
ID_WIDTH = 8
"""Characters of an id that people see; commands take as few."""

_BASES = (("runs",), ("responses", WHOLE_RUNS), ("calling_responses",))
"""Columns that can hold the number of cases behind a row's figures; the first one present is used.
"""

_NAMES = (DIMENSIONS | SYNONYMS | MODEL_DIMENSIONS | USAGE_DIMENSIONS).keys() - {
    "provider",
    "region",
}
"""Groupings that have a value for every run. Region is left out: most models have none."""

_LOWER_BOUNDS = ("output_tokens", "total_tokens", "cost_list_usd")
"""Figures that are lower bounds in a row that counts LOWER_BOUNDS."""

_TOTALS = {measure.total for measure in COST_MEASURES.values()}


def cause_words(keys: str) -> str:
    """Return `fallback pricing, matches list` for the keys of causes."""
    return ", ".join(
        CAUSES[CostCause(key)].label if key in set(CostCause) else key for key in keys.split(", ")
    )


_TIME_SOURCES = {
    "stream": "event stream",
    "record": "the log itself (zone unknown)",
    "sidecar": "sidecar file",
    "path": "file path",
    "file": "file modification time",
    "trusted_file": "file modification time (trusted)",
    "label": "given by hand (label date)",
}
PROGRESS = {"improving": "still improving", "plateauing": "slowing", "stuck": "stuck"}
"""Whether a loop still gets anywhere → words."""

_WORDS: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(VERDICT_COLUMNS, lambda key: NAMES.get(key, words(key))),
    "gain_verdict": words,
    "state": lambda key: PROGRESS.get(key, key),
    "agent": agent_name,
    **dict.fromkeys(("cost_cause", "causes", "cause"), cause_words),
    **dict.fromkeys(("evidence", "claimed_evidence"), evidence_words),
}
TABLE_WORDS = _WORDS | {
    **dict.fromkeys(
        ("reason", "failure"), lambda key: REASONS[key].label if key in REASONS else key
    ),
    "other_values": few_others,
    "whose": lambda key: WHOSE.get(key, key),
}
"""Column → function that formats its keys, in terminal tables and in files for people."""

SCREEN_WORDS = _WORDS | {
    **dict.fromkeys(("outcome", "tokens_basis"), words),
    "time_source": lambda key: _TIME_SOURCES.get(key, key),
}
"""The same for screens and workbooks."""


def fact_words(value: Any, key: str) -> str:
    """Return a column's exact value for a screen.

    `yes`, `limit reached`, `regional endpoint`, `2026-11-20 14:00`.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key in SCREEN_WORDS:
        return SCREEN_WORDS[key](str(value))
    return (
        words(str(value))
        if key == "scope"
        else exact(value, RUNS[key].unit if key in RUNS else Unit.TEXT)
    )


def value_words(key: str, value: str) -> str:
    """Return a filter's value in words: `Claude Code`, `Last night`, `from 2026-11-20`."""
    if key == TIME:
        return value[:1].upper() + value.partition(" in ")[0][1:]
    if key in TIMES:
        with suppress(ValueError):
            day = datetime.fromisoformat(value)
            value = f"{day:%-d %b}" if day.year == this_moment().year else f"{day:%-d %b %Y}"
        return f"{'from' if key == TIMES[0] else 'before'} {value}"
    one = FILTERS[key]
    if one.kind is FilterKind.FLAG:
        return one.name
    is_name = one.kind.is_many or one.kind is FilterKind.TEXT
    return fact_words(value, key) if is_name else f"{one.name} {fact_words(value, key)}"


def period_words(since: str, until: str) -> str:
    """Return the days from a moment to before another: `18–19 Mar`, `28 Feb–3 Mar`, `1–31 Mar`.

    "" if either moment is unknown or the period is empty.
    """
    begin, end = moment(since), moment(until)
    if begin is None or end is None or begin >= end:
        return ""
    last = end - timedelta(microseconds=1)
    year = "" if last.year == begin.year == this_moment().year else f" {last.year}"
    first = f"{begin:%-d %b}" + (f" {begin.year}" if begin.year != last.year else "")
    if (begin.year, begin.month) == (last.year, last.month):
        first = "" if begin.day == last.day else f"{begin.day}"
    return f"{first}{'–' if first else ''}{last:%-d %b}{year}"


def fact_label(entry: Entry, run: Row) -> str:
    """Return the label of a run's fact; a time names its zone, and a file's date is named so."""
    label = (
        "File modified at"
        if entry.key in ("started_at", "ended_at") and run.get("time_source") == OF_FILE
        else entry.label
    )
    return f"{label} (UTC)" if entry.unit is Unit.TIME else label


@dataclass(frozen=True)
class ShownColumn:
    """One column for people.

    `known` names the column with the number of rows behind its figures; `header` is its name on a
    grid.

    `is_name`: it names a group, and a missing value is the unknown group.
    """

    name: str
    label: str
    unit: Unit
    known: str | None = None
    meaning: str = ""
    header: str = ""
    is_name: bool = False
    mark: str = ""

    @property
    def is_figure(self) -> bool:
        """Whether its cells are right-aligned."""
        return FORMS[self.unit].is_number

    @property
    def kind(self) -> str:
        return "r" if self.is_figure else ""

    def cell(self, row: Row) -> TextCell:
        """Return the value for a reader, the number of runs it rests on, and all its digits."""
        text = self.text(row)
        whole = self.exact(row) if FORMS[self.unit].exact else text
        if self.name in IDS:
            text = text[:ID_WIDTH]
        return TextCell(text, self.note(row), hint=whole if whole != text else "")

    def text(self, row: Row) -> str:
        """Return the value for a reader.

        A range for the median of few values (`$0.10–$0.30, n 3`), words for keys, signs for bounds.
        """
        value, known = row[self.name], row.get(self.known or "")
        if value is None:
            is_lost = self.name in _TOTALS and row.get(STARTED)
            if self.is_name:
                return NAMELESS.get(self.name, UNKNOWN_NAME)
            return NOT_RECORDED if is_lost else UNKNOWN
        if isinstance(value, list):  # a map is a list of pairs, written as `--label` takes it
            return short(
                ", ".join(
                    "=".join(map(str, item)) if isinstance(item, tuple) else str(item)
                    for item in value
                )
            )
        if isinstance(value, float) and not isfinite(value):
            return UNKNOWN
        ends = [row.get(f"{self.name}{end}") for end in (LOW, HIGH)]
        if known and known < FEWEST_VALUES and None not in ends:
            return (
                self.bound(row)
                + "–".join(dict.fromkeys(short(end, self.unit) for end in ends))
                + f", n {known:,}"
            )
        if self.name == "error_rate" and known and row.get("runs"):
            return rate_words(value, known, row["runs"])
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif self.name == "evidence" and value:
            value = evidence_words(value, row.get("kind") or "quantified")
        elif self.name in TABLE_WORDS and value:
            value = TABLE_WORDS[self.name](value)
        return with_sign(self.bound(row), short(value, self.unit))

    def exact(self, row: Row) -> str:
        """Return the value without rounding sums."""
        value = row[self.name]
        if not FORMS[self.unit].exact or (isinstance(value, float) and not isfinite(value)):
            return self.text(row)
        return self.bound(row) + exact(value, self.unit)

    def bound(self, row: Row) -> str:
        """Return `≥ ` for a figure that is a lower bound, `≤ ` for an upper one."""
        sign = bound_sign(row, self.name, row.get(f"{self.name}{BOUNDS_SUFFIX}"))
        is_least = (
            self.name in _LOWER_BOUNDS and row.get(LOWER_BOUNDS) and row[self.name] is not None
        )
        return sign or (AT_LEAST if is_least else "")

    def note(self, row: Row) -> str:
        """Return `41 of 57` for a figure that rests on only some of the group's runs, else ""."""
        if self.name == "error_rate":  # its cell says it
            return ""
        base = next(
            (sum(row.get(name) or 0 for name in base) for base in _BASES if base[0] in row), None
        )
        known, of = row.get(self.known or ""), base
        least = of
        if of and (self.name in GROUP_COSTS or self.name in ("duration_ms", "lost_ms")):
            of = row.get(STARTED, of)
            least = NEARLY_ALL * of
        return f"{known:,} of {of:,}" if known and of and least and known < least else ""


@dataclass(frozen=True, slots=True)
class Pivoted(Entry):
    """A figure of the groups that have one value of a grouping, as a column of its own.

    `group`: the value, for people.

    `figure` is its entry in a row per group; `sources` gives for each column of such a row the one
    of the pivoted table.
    """

    group: str = field(kw_only=True)
    figure: Entry = field(kw_only=True)
    sources: Mapping[str, str] = field(kw_only=True)


@dataclass(frozen=True)
class PivotedColumn(ShownColumn):
    """A column whose cells are those of `figure` in a row per group.

    The same words, bounds and counts.
    """

    group: str = field(kw_only=True)
    figure: ShownColumn = field(kw_only=True)
    sources: Mapping[str, str] = field(kw_only=True)

    def _row(self, row: Row) -> dict[str, Any]:
        return {key: row[name] for key, name in self.sources.items()}

    def text(self, row: Row) -> str:
        """Return the value for a reader, `–` for a group without runs, or a word for unknown.

        The word is for a value that is unknown for the group's runs.
        """
        mine = self._row(row)
        said = self.figure.text(mine)
        if said != UNKNOWN or not mine["runs"]:
            return said
        return NEVER_STARTED if mine.get(STARTED) == 0 else UNKNOWN_NAME

    def exact(self, row: Row) -> str:
        """Return the value without rounding sums."""
        return self.text(row) if row[self.name] is None else self.figure.exact(self._row(row))

    def bound(self, row: Row) -> str:
        """Return the sign of a bound."""
        return self.figure.bound(self._row(row))

    def note(self, row: Row) -> str:
        """Return `41 of 57` for a figure that rests on only some of the group's runs."""
        return self.figure.note(self._row(row))


def group_name(word: str, value: str | None) -> str:
    """Return one group of a grouping as the head of a column, in the words of a row.

    `Claude Code`, `gpt-5`, `unknown`.
    """
    if value is None:
        return NAMELESS.get(word, UNKNOWN_NAME)
    words_of: Callable[[str], str] = TABLE_WORDS.get(word, visible)
    return words_of(value)


def column(entry: Entry, known: str | None = None) -> ShownColumn:
    if isinstance(entry, Pivoted):
        figure = column(entry.figure, f"{entry.figure.key}{KNOWN_SUFFIX}")
        about = (
            entry.key,
            visible(entry.label),
            entry.unit,
            known,
            entry.meaning,
            visible(entry.header),
        )
        return PivotedColumn(
            *about, group=visible(entry.group), figure=figure, sources=entry.sources
        )
    is_name = entry.key.startswith(LABEL_PREFIX) or (
        isinstance(entry, Dimension) and entry.key in _NAMES
    )
    return ShownColumn(
        entry.key,
        visible(entry.label),
        entry.unit,
        known,
        entry.meaning,
        visible(entry.header),
        is_name,
    )


def columns(table: pa.Table, of: Columns = UNNAMED) -> list[ShownColumn]:
    """Return the table's columns in order, without those for counts, ends and bounds of figures."""
    names = table.schema.names
    # the key of a label may end like a count, but its values are text
    counts = {
        one.name
        for one in table.schema
        if one.name.endswith(KNOWN_SUFFIX) and pa.types.is_integer(one.type)
    }
    counts = {name for name in counts if name.removesuffix(KNOWN_SUFFIX) in names}
    beside = (
        counts
        | {f"{name}{suffix}" for name in names for suffix in (BOUNDS_SUFFIX, OF_SUFFIX)}
        | {STARTED, *BOUNDS_COLUMNS.values()}
    )
    beside |= {
        f"{key}{end}"
        for key in MEDIANS
        if key in names
        for end in (LOW, HIGH, LOW + KNOWN_SUFFIX, HIGH + KNOWN_SUFFIX)
    }
    beside |= {
        name
        for entry in of.values()
        if isinstance(entry, Pivoted)
        for name in entry.sources.values()
    } - of.keys()
    found = []
    for one in table.schema:
        if one.name in beside:
            continue
        is_number = (
            pa.types.is_integer(one.type)
            or pa.types.is_floating(one.type)
            or pa.types.is_decimal(one.type)
        )
        unit = (
            Unit.TIME if pa.types.is_timestamp(one.type) else Unit.COUNT if is_number else Unit.TEXT
        )
        known = f"{one.name}{KNOWN_SUFFIX}"
        entry = of[one.name] if one.name in of else Entry(one.name, one.name, unit)
        found.append(column(entry, known if known in counts else None))
    return found


def with_starts(table: pa.Table) -> pa.Table:
    """Return the table with marks.

    `limit_reached, never started`, and `gpt-5 asked for` for runs without a model of their own.
    """
    if {"model", "asked_model"} <= set(table.column_names):
        models = [
            model_words(row) or None for row in table.select(["model", "asked_model"]).to_pylist()
        ]
        table = table.set_column(
            table.column_names.index("model"), "model", pa.array(models, pa.string())
        )
    if not {"outcome", "is_started"} <= set(table.column_names):
        return table
    pairs = zip(table["outcome"].to_pylist(), table["is_started"].to_pylist(), strict=True)
    said = [
        f"{outcome}, {NEVER_STARTED}" if is_started is False else outcome
        for outcome, is_started in pairs
    ]
    return table.set_column(
        table.column_names.index("outcome"), "outcome", pa.array(said, pa.string())
    )


def with_bounds(table: pa.Table, shown: Sequence[str] = ()) -> pa.Table:
    """Return the table with the bounds of its costs and the number of started runs of each group.

    `shown`: chosen columns.
    """
    if {"runs", "never_started_runs"} <= set(
        table.column_names
    ) and STARTED not in table.column_names:
        pairs = zip(table["runs"].to_pylist(), table["never_started_runs"].to_pylist(), strict=True)
        table = table.append_column(
            STARTED, pa.array([runs - others for runs, others in pairs], pa.int64())
        )
    for cost, names in BOUNDS.items():
        bounds = next((name for name in names if name in table.column_names), None)
        if (
            bounds
            and cost in (shown or table.column_names)
            and BOUNDS_COLUMNS[cost] not in table.column_names
        ):
            table = table.append_column(BOUNDS_COLUMNS[cost], table[bounds])
    return table
