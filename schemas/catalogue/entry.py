"""An entry of the catalogue: a column's name, unit, meaning and, if derived, its SQL.

An `Entry` is any column. A `Figure` belongs to a single row, a `Metric` adds up many rows, a
`Dimension` groups them. The lists are in the files beside this one; all but `columns` do without
pydantic and Arrow, so that help texts cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Self, TypeVar

from schemas.units import Unit

Better = Literal["lower", "higher", "neither"]
E = TypeVar("E", bound="Entry")


@dataclass(frozen=True, slots=True)
class Entry:
    """One column.

    `short` is its name for narrow places such as grids and cards; `meaning` is one sentence.
    """

    key: str
    label: str
    unit: Unit = Unit.TEXT
    better: Better = "neither"
    meaning: str = ""
    short: str = field(default="", kw_only=True)

    @property
    def header(self) -> str:
        """The name on a grid or a card."""
        return self.short or self.label


Columns = Mapping[str, Entry]
"""Columns of a table by name (`schemas.catalogue.columns`)."""

UNNAMED: Columns = MappingProxyType({})
"""For tables outside the catalogue: columns are shown by their names."""


@dataclass(frozen=True, slots=True)
class Figure(Entry):
    """A figure of one row of a table, stored or derived by `sql`; NULL if unknown.

    `word` names it in links; a figure with a word is drawn as a distribution and compared. One that
    is `listed` is a column of the lists of runs and a card on a run's page; `order` names the
    sorting by it, largest first. `aggregates` are keys of AGGREGATES: each makes a metric of it.
    """

    sql: str = field(default="", kw_only=True)
    word: str = field(default="", kw_only=True)
    listed: bool = field(default=False, kw_only=True)
    order: str = field(default="", kw_only=True)
    aggregates: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Metric(Entry):
    """A figure of a group: `sql` aggregates its rows, `known` counts the rows with a value.

    The figure is based on these rows.

    If `sql` divides money, it casts the quotient to `decimal(38, 9)`: the last digits of a float
    differ between workbook and JSON. Over `v_model_rows`, where a run may have several rows,
    `known` is a condition instead: the figure is based on the runs with a row that meets it.
    """

    sql: str = field(kw_only=True)
    known: str = field(kw_only=True)

    @classmethod
    def of(cls, entry: Entry, *, sql: str, known: str, key: str = "", meaning: str = "") -> Self:
        """Return a metric with the label and unit of another entry."""
        about = entry.label, entry.unit, entry.better, meaning or entry.meaning
        return cls(key or entry.key, *about, short=entry.short, sql=sql, known=known)


@dataclass(frozen=True, slots=True)
class Dimension(Entry):
    """One way to group rows: `sql` gives a row's group, NULL if unknown.

    `$zone` stands for the name of a time zone, `$key` for the part after the colon of a grouping
    (`label:team`); both are always bound parameters. Groups of an `in_order` dimension are sorted
    by their value, others by cost.
    """

    sql: str = field(kw_only=True)
    in_order: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A way to aggregate a column.

    `label` and `meaning` are for metrics made from a figure of a run.
    """

    sql: str
    label: str
    meaning: str


_MONEY = "cast({} as decimal(38, 9))"
"""Otherwise a mean or a quantile of money would be a float, with inexact digits."""

AGGREGATES = {
    "sum": Aggregate("sum({})", "{} (total)", "{} Total over the runs."),
    "worked": Aggregate(
        "sum({}) filter (is_started)", "{} (total)", "{} Total over the runs that started."
    ),
    "mean": Aggregate(
        "avg({}) filter (is_started)", "{} per run (avg)", "{} Average over the runs."
    ),
    "median": Aggregate(
        "median({}) filter (is_started)", "{} per run (p50)", "{} Median (p50) over the runs."
    ),
    "p90": Aggregate(
        "quantile_cont({}, 0.9) filter (is_started)",
        "{} per run (p90)",
        "{} 90th percentile over the runs.",
    ),
    "max": Aggregate("max({})", "Max {}", "{} Maximum over the runs."),
}

PER_RUN = ("worked", "mean", "median", "p90")
"""Aggregates over runs that started: the others took no time or money, and their cost and time are
not known to be 0.
"""


def by_key(*entries: E) -> dict[str, E]:
    """Return entries by key. Raises ValueError for a repeated key."""
    found = {entry.key: entry for entry in entries}
    if len(found) < len(entries):
        raise ValueError(
            f"two entries of one key among {', '.join(entry.key for entry in entries)}: give "
            "each its own."
        )
    return found


def over(
    column: str, key: str, label: str, unit: Unit, better: Better, meaning: str, how: str = "sum"
) -> Metric:
    """Return a metric over one column by one of AGGREGATES, based on the rows with a value."""
    sql = AGGREGATES[how].sql.format(column)
    sql = _MONEY.format(sql) if unit is Unit.USD and how in ("mean", "p90") else sql
    of_started = how in PER_RUN or unit is Unit.USD  # a run that never started costs 0
    known = f"count({column}) filter (is_started)" if of_started else f"count({column})"
    return Metric(key, label, unit, better, meaning, sql=sql, known=known)


def aggregates_of(figure: Figure) -> list[Metric]:
    """Return the metrics that a figure of a run makes."""
    return [_aggregate(figure, how, AGGREGATES[how]) for how in figure.aggregates]


def _aggregate(figure: Figure, how: str, words: Aggregate) -> Metric:
    label, meaning = words.label.format(figure.label), words.meaning.format(figure.meaning)
    return over(figure.key, f"{figure.key}_{how}", label, figure.unit, figure.better, meaning, how)


def quotient(above: str, below: str, only: str = "true") -> tuple[str, str]:
    """Return SQL for the sum of one column divided by that of another, and for the count.

    Both are over rows that have both columns and meet `only`.
    """
    has_both = f"{only} and {below} > 0 and {above} is not null"
    return (
        f"sum({above}) filter ({has_both}) / sum({below}) filter ({has_both})",
        f"count(*) filter ({has_both})",
    )


def of_model(column: str, like: Entry, key: str = "", meaning: str = "") -> Metric:
    """Return the sum of one column of model rows, based on the runs that have it.

    Named like the same figure of runs.
    """
    return Metric.of(
        like,
        key=key or column,
        meaning=meaning,
        sql=f"sum({column})",
        known=f"{column} is not null",
    )
