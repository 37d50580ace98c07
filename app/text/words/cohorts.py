"""What the comparison of two cohorts says: a table for people, and sentences for one measure."""

from __future__ import annotations

import pyarrow as pa

from app.queries.comparisons.bootstrap import LEVEL, Comparison, Estimate, Verdict
from app.queries.comparisons.cohorts import Cohorts
from app.text.formatting import MINUS, UNKNOWN, human
from schemas.catalogue.columns import MEASURES, compared
from schemas.catalogue.entry import Figure
from schemas.unit_names import Unit


def as_words(cohorts: Cohorts) -> pa.Table:
    """One row per measure, each figure as people read it: columns of `schemas.catalogue.columns.compared`."""
    rows = [_words(MEASURES[key], found) for key, found in cohorts.compared.items()]
    known = [key for key in compared() if key != "tasks" or any(row["tasks"] != UNKNOWN for row in rows)]
    return pa.Table.from_pylist(rows, pa.schema([(key, pa.string()) for key in known]))


def finding(measure: Figure, found: Comparison, names: tuple[str, str]) -> str:
    """What the comparison of one measure shows, as a title."""
    first, second = (human(value, measure.unit) for value in found.medians)
    if found.verdict is Verdict.TOO_FEW:
        return f"{measure.label}: too few runs to compare (medians {first} and {second})"
    if found.verdict is Verdict.UNCLEAR:
        return f"{measure.label}: no clear difference (medians {first} and {second})"
    return f"{measure.label}: {names[1]} is {found.verdict} (median {second} vs. {first})"


def certainty(measure: Figure, found: Comparison) -> str:
    """How sure the difference of one measure is."""
    difference = found.difference
    if difference.low is None:
        return f"n = {found.known[0]:,}, {found.known[1]:,}; a confidence interval needs five runs on each side."
    text = f"Difference of medians {signed(difference.value, measure)}, {LEVEL:.0%} CI {_interval(difference, measure)}"
    return f"{text}; n = {found.known[0]:,}, {found.known[1]:,}."


def task_words(measure: Figure, found: Comparison) -> str:
    """What the tasks say that both cohorts have; empty where there is none."""
    pairs = found.paired
    if pairs is None:
        return ""
    text = f"By task ({pairs.tasks:,} in both): lower in {pairs.lower:,}, higher in {pairs.higher:,}"
    interval = f", {LEVEL:.0%} CI {_interval(pairs.difference, measure)}" if pairs.difference.low is not None else ""
    return f"{text}; median difference {signed(pairs.difference.value, measure)}{interval}."


def signed(value: float, measure: Figure) -> str:
    """`+12.3s`, `−$0.0021`, `±0`."""
    if not value:
        return "±0"
    return f"{'+' if value > 0 else MINUS}{human(abs(value), measure.unit)}"


def _interval(estimate: Estimate, measure: Figure) -> str:
    return f"[{signed(estimate.low or 0.0, measure)}, {signed(estimate.high or 0.0, measure)}]"


def _words(measure: Figure, found: Comparison) -> dict[str, str]:
    first, second = (human(value, measure.unit) for value in found.medians)
    pairs = found.paired
    return {
        "measure": measure.label,
        "first": first,
        "second": second,
        "ratio": human(found.ratio.value, Unit.RATIO) if found.ratio else UNKNOWN,
        "interval": f"[{human(found.ratio.low, Unit.RATIO)}, {human(found.ratio.high, Unit.RATIO)}]"
        if found.ratio and found.ratio.low is not None
        else UNKNOWN,
        "verdict": str(found.verdict),
        "tasks": f"lower in {pairs.lower:,}, higher in {pairs.higher:,} of {pairs.tasks:,}" if pairs else UNKNOWN,
    }
