"""What a metric and a dimension are, and short ways to write common ones. The lists are in `metrics` and `dimensions` beside it.

A metric is an aggregate over the rows of a view, with the number of rows it rests on; unknown rows are left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.catalogue.unit_names import Unit

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure.

    `sql` aggregates rows of the view; `known` counts the rows it rests on. Over `v_model_rows`, where a run may have several rows,
    `known` is a condition instead: the figure rests on the runs with a row that meets it. `meaning` is one sentence for help texts.
    """

    key: str
    label: str
    sql: str
    known: str
    unit: Unit
    better: Better
    meaning: str


@dataclass(frozen=True, slots=True)
class Dimension:
    """One way to group rows: `sql` gives a row's group, NULL where it is not known.

    `$zone` in it stands for the name of a time zone, `$key` for what the word of the grouping says after its colon (`label:team`);
    both only ever travel as bound parameters. Groups of an `in_order` dimension follow one another, others go by what they cost.
    """

    key: str
    label: str
    sql: str
    meaning: str
    in_order: bool = False


def over(column: str, key: str, label: str, unit: Unit, better: Better, meaning: str, sql: str = "sum({})") -> Metric:
    """A metric over one column, resting on the rows that have it."""
    return Metric(key, label, sql.format(column), f"count({column})", unit, better, meaning)


def of_model(column: str, label: str, unit: Unit, better: Better, meaning: str, key: str = "") -> Metric:
    """The sum of one column of model rows, resting on the runs that have it."""
    return Metric(key or column, label, f"sum({column})", f"{column} is not null", unit, better, meaning)


def table(*metrics: Metric) -> dict[str, Metric]:
    """Metrics by their keys."""
    return {metric.key: metric for metric in metrics}
