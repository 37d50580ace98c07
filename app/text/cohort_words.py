"""What the comparison of two cohorts says: a table for people, and sentences for one measure."""

from __future__ import annotations

import pyarrow as pa

from app.queries.bootstrap import LEVEL, Comparison, Estimate, Verdict
from app.queries.cohorts import Cohorts
from app.text.columns import labelled, measured
from app.text.formatting import UNKNOWN, human
from schemas.catalogue.measures import MEASURES, Measure
from schemas.catalogue.unit_names import Unit


def as_words(cohorts: Cohorts, names: tuple[str, str]) -> pa.Table:
    """One row per measure, each figure as people read it."""
    rows = [_words(MEASURES[key], found) for key, found in cohorts.compared.items()]
    labels = {"measure": "Measure", "first": names[0], "second": names[1], "verdict": "Second against first"}
    labels |= {"ratio": "Second ÷ first", "interval": f"{LEVEL:.0%} interval", "tasks": "Task by task"}
    table = pa.Table.from_pylist(rows, pa.schema([(key, pa.string()) for key in labels]))
    known = [key for key in labels if key != "tasks" or any(row["tasks"] != UNKNOWN for row in rows)]
    return measured(labelled(table.select(known), labels), dict.fromkeys(known, Unit.TEXT))


def finding(measure: Measure, found: Comparison, names: tuple[str, str]) -> str:
    """What the comparison of one measure shows, as a title."""
    first, second = (human(value, measure.unit) for value in found.medians)
    if found.verdict is Verdict.TOO_FEW:
        return f"{measure.label}: too few runs to compare, medians {first} and {second}"
    if found.verdict is Verdict.UNCLEAR:
        return f"{measure.label}: no clear difference, medians {first} and {second}"
    return f"{measure.label}: {names[1]} is {found.verdict}, median {second} against {first}"


def certainty(measure: Measure, found: Comparison) -> str:
    """How sure the difference of one measure is."""
    difference = found.difference
    if difference.low is None:
        return f"Known for {found.known[0]:,} and {found.known[1]:,} runs; an interval needs five on each side."
    text = f"Difference of medians {signed(difference.value, measure)}, with {LEVEL:.0%} confidence {_interval(difference, measure)}"
    return f"{text}; known for {found.known[0]:,} and {found.known[1]:,} runs."


def task_words(measure: Measure, found: Comparison) -> str:
    """What the tasks say that both cohorts have; empty where there is none."""
    pairs = found.paired
    if pairs is None:
        return ""
    text = f"Task by task, over {pairs.tasks:,} both have: lower in {pairs.lower:,}, higher in {pairs.higher:,}"
    interval = f", with {LEVEL:.0%} confidence {_interval(pairs.difference, measure)}" if pairs.difference.low is not None else ""
    return f"{text}; median difference {signed(pairs.difference.value, measure)}{interval}."


def signed(value: float, measure: Measure) -> str:
    """`+12.3 s`, `−$0.0021`, `±0`."""
    if not value:
        return "±0"
    return f"{'+' if value > 0 else '−'}{human(abs(value), measure.unit)}"


def _interval(estimate: Estimate, measure: Measure) -> str:
    return f"{signed(estimate.low or 0.0, measure)} to {signed(estimate.high or 0.0, measure)}"


def _words(measure: Measure, found: Comparison) -> dict[str, str]:
    first, second = (human(value, measure.unit) for value in found.medians)
    pairs = found.paired
    return {
        "measure": measure.label,
        "first": first,
        "second": second,
        "ratio": human(found.ratio.value, Unit.RATIO) if found.ratio else UNKNOWN,
        "interval": f"{human(found.ratio.low, Unit.RATIO)} to {human(found.ratio.high, Unit.RATIO)}"
        if found.ratio and found.ratio.low is not None
        else UNKNOWN,
        "verdict": str(found.verdict),
        "tasks": f"lower in {pairs.lower:,}, higher in {pairs.higher:,} of {pairs.tasks:,}" if pairs else UNKNOWN,
    }
