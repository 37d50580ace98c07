"""Groups of runs beside a baseline: what they are called, and the cells of their table. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import pyarrow as pa

from app.queries.comparison import Comparison, Group
from app.queries.filters import FILTERS, Filters, Kind
from app.queries.ratios import FEWEST, Ratio, Verdict
from app.text import brief
from app.text.html_parts import agent_name
from schemas.catalogue.columns import COMPARED_WORDS, METRICS_COMPARED
from schemas.catalogue.cost_measures import LIST
from schemas.text import one_line, visible

_OF_NAMES = {"agent", "main-model", "model"}
_COUNTED = {"cheaper": "cost", "faster": "wall"}
"""Column of the table → the metric whose tasks it counts."""

UNRECORDED = "its logs do not record it"


@dataclass(frozen=True, slots=True)
class Name:
    """What a group is called: `TRAE` `gpt-5`, in a sentence `TRAE with gpt-5`, where another group has the same label. `agent`: its key."""

    label: str
    detail: str
    said: str
    agent: str | None


def names(groups: Sequence[Group], chosen: Sequence[Filters], base: str = "") -> list[Name]:
    """The names of groups by the filters that chose them; those of one name are numbered. `base`: where the first one's runs are."""
    labels = [_label(group, filters) for group, filters in zip(groups, chosen, strict=True)]
    if base:
        labels[0] = f"{labels[0][0]} ({_clean(base)})", labels[0][1]
    found = list[Name]()
    for number, ((label, detail), group) in enumerate(zip(labels, groups, strict=True)):
        alike = [other for other in labels if other[0] == label]
        said = f"{label} with {detail}" if detail and len(alike) > 1 else label
        if alike.count((label, detail)) > 1:
            label, said = f"{label} ({number + 1})", f"{said} ({number + 1})"  # noqa: PLW2901
        found.append(Name(label, detail, said, group.agents[0] if len(group.agents) == 1 else None))
    return found


def _label(group: Group, filters: Filters) -> tuple[str, str]:
    agents = filters.values("agent")
    if len(agents) == 1 and {key for key, _ in filters.chosen} <= _OF_NAMES:
        models = filters.values("main-model") or filters.values("model") or (group.models if len(group.models) == 1 else ())
        return _clean(agent_name(agents[0])), _clean(", ".join(map(short_model, models)))
    told = [(key, value) for key, values in filters.chosen for value in values]
    words = [agent_name(value) if key == "agent" else value if _speaks(key) else f"{key} {value}" for key, value in told]
    return _clean(" · ".join(words)) or "All runs", ""


def _speaks(key: str) -> bool:
    """Whether a value needs no name of its filter beside it."""
    return FILTERS[key].kind in (Kind.NAMES, Kind.LABELS)


def _clean(text: str) -> str:
    """A text of a log as part of a sentence, which marks its emphasis with `**`."""
    return visible(one_line(text)).replace("**", "*")


def short_model(model: str) -> str:
    """`sonnet-4-5` for `claude-sonnet-4-5`."""
    return model.removeprefix("claude-")


def times(value: float, sign: str = "") -> str:
    """A ratio: `0.47×`, `7.10×`, `0.003×`; one with a sign is rounded so that the bound still holds: `≤ 4.03×`."""
    if 0 < value < 0.0995 and not sign:
        return f"{value:.2g}×" if value >= 0.0001 else "<0.0001×"
    if sign == "?":
        return "?"
    step = 1 if value >= 99.995 else 100
    rounded = {"≤": ceil, "≥": floor}.get(sign, round)(value * step) / step if value < 1e15 else value
    return f"{sign} {brief.ratio(rounded)}".strip()


def ratio_words(ratio: Ratio) -> tuple[str, str]:
    """(the ratio, what stands behind it): `0.47×` `0.43–0.53  n 174`, `≤ 4.03×` `upper bounds in 148 of 156`, `3.80–7.40×` `n 2`."""
    n = f"n {min(ratio.n):,}" if ratio.n else ""
    if ratio.verdict is Verdict.BOUNDS:
        kind = {"≤": "upper bounds", "≥": "lower bounds"}.get(ratio.sign, "bounds")
        return times(ratio.value, ratio.sign), f"{kind} in {ratio.bounded:,} of {min(ratio.n):,}" if ratio.tasks else f"a bound  {n}"
    if ratio.verdict is Verdict.TOO_FEW:
        if ratio.low is None or ratio.high is None:
            return times(ratio.value), n
        return (times(ratio.value) if ratio.low == ratio.high else f"{times(ratio.low)[:-1]}–{times(ratio.high)}"), n
    low, high = (times(end)[:-1] for end in (ratio.low or 0.0, ratio.high or 0.0))
    return times(ratio.value), f"{low}–{high}  {n}"


def lacks(comparison: Comparison, place: int, metric: str, called: Sequence[Name]) -> str:
    """Why the other group at this place has no ratio of a metric; empty where it has one. `called`: names of all groups."""
    group, baseline, ratio = comparison.others[place], comparison.baseline, comparison.ratios[place][metric]
    if ratio.verdict is Verdict.NO_RATIO:
        return f"{called[0].label}'s is 0"
    if ratio.verdict is Verdict.UNSHARED:
        return "no task that both completed" if metric == "wall" else "no task of which both record it"
    if ratio.verdict is not Verdict.UNRECORDED:
        return ""
    mine = _unknown(group, metric, comparison)
    if mine:
        return mine.replace("logs do", "its logs do")
    theirs = _unknown(baseline, metric, comparison)
    return theirs.replace("logs do", f"{called[0].label}'s logs do") if "logs do" in theirs else f"{called[0].label}: {theirs}"


def _unknown(group: Group, metric: str, comparison: Comparison) -> str:
    """Why no run of a group has a metric; empty where one has."""
    if group.of(metric).runs:
        return ""
    if not group.runs:
        return "no run matches"
    if metric == "speedup":
        return "none is comparable"
    if not group.started:
        return "no run started"
    if metric == "wall" and not group.completed:
        return "no run is known to be completed" if group.unknown_ends else "no run completed"
    if metric == "cost" and comparison.basis == LIST and group.with_tokens:
        return "no list price for its models"
    return "logs do not record it"


WRITERS: dict[str, Callable[[Any], str]] = {
    "cost": brief.usd,
    "wall": brief.duration,
    "turns": lambda value: f"{float(value):,.1f}".removesuffix(".0"),
    "speedup": times,
}
"""How a value of each metric is written."""


def median(group: Group, metric: str) -> str:
    """The median of a group's runs; with fewer than FEWEST of them, their range."""
    known, write = group.of(metric), WRITERS[metric]
    if known.median is None:
        return brief.NOT_RECORDED if group.started and not (metric == "wall" and not group.completed) else brief.NO_VALUE
    sign = f"{known.sign} " if known.sign else ""
    if known.runs >= FEWEST:
        return f"{sign}{write(known.median)}"
    least, most = write(known.least), write(known.most)
    return f"{sign}{most}" if sign or least == most else f"{least}–{most}"


def counts(ratio: Ratio) -> str:
    """On how many tasks a group has less and more: `165 / 9`, `165 / 6, 3 ?`, `17 / ?`."""
    if not ratio.tasks:
        return brief.NO_VALUE
    if 2 * ratio.undecided > len(ratio.tasks):
        return {"≤": f"{ratio.lower:,} / ?", "≥": f"? / {ratio.higher:,}"}.get(ratio.sign, "?")
    return f"{ratio.lower:,} / {ratio.higher:,}" + (f", {ratio.undecided:,} ?" if ratio.undecided else "")


def completed(group: Group) -> str:
    """How many tasks a group completed: `53`, `32 at least`, where the end of some runs is unknown."""
    if not group.tasks:
        return brief.NO_VALUE
    return f"{group.completed_tasks:,}" + (" at least" if group.open_tasks else "")


def rows(comparison: Comparison, called: Sequence[Name]) -> list[dict[str, str]]:
    """A row of cells per group, the baseline first: columns of COMPARED_WORDS."""
    found = []
    for number, (group, name) in enumerate(zip(comparison.groups, called, strict=True)):
        ratios = comparison.ratios[number - 1] if number else {}
        row = {"group": " ".join(filter(None, (name.label, name.detail))) + ("" if number else ", baseline")}
        row |= {"tasks": f"{group.tasks:,}", "completed": completed(group)}
        for metric in comparison.metrics:
            row |= {metric: median(group, metric), f"{metric}_n": f"{group.of(metric).runs:,}" if group.of(metric).runs else brief.NO_VALUE}
            why = lacks(comparison, number - 1, metric, called) if number else ""
            row[f"{metric}_ratio"] = "1×" if not number else why or "  ".join(ratio_words(ratios[metric]))
        row |= {column: counts(ratios[metric]) if number else brief.NO_VALUE for column, metric in _COUNTED.items()}
        found.append(row)
    return found


def as_words(comparison: Comparison, called: Sequence[Name]) -> pa.Table:
    """The table for people."""
    shown = [key for key in COMPARED_WORDS if key.partition("_")[0] not in set(METRICS_COMPARED) - set(comparison.metrics)]
    return pa.Table.from_pylist(rows(comparison, called), pa.schema([(key, pa.string()) for key in shown]))
