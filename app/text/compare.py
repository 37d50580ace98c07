"""Groups of runs beside a baseline.

Names, cells of their table, and a sentence never stronger than bounds allow. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import pyarrow as pa

from app.queries.comparison import TASK, ComparedGroup, Comparison
from app.queries.filters import FILTERS, NO_FILTERS, Filters
from app.queries.ratios import FEWEST, Ratio, Verdict
from app.text import html_parts
from app.text.formatting import NOT_RECORDED, UNKNOWN, agent_name, model_name, ratio, short
from app.text.sentences import Said, joined, none_or, upper_first
from app.text.table import Col, TextCell, TextTable
from schemas.catalogue.columns import COMPARED_WORDS, METRICS_COMPARED
from schemas.catalogue.cost_measures import LIST, REPORTED
from schemas.text import agreeing, one_line, plural, visible

MOST_TOLD = 2

BASES = {REPORTED.key: "Reported cost", LIST.key: "List price"}

_NOUNS = {"cost": "cost", "wall": "wall time", "speedup": "measured speedup"}
"""Metrics in sentences; turns appear in chart and table only."""

_LEGEND = {"≤": " ◁ upper bound.", "≥": " ▷ lower bound.", "?": " ○ unknown."}
"""Legend for tasks with a bound as ratio."""

_COUNTED = {"cheaper": "cost", "faster": "wall"}
"""Column of the table → the metric that it counts tasks by."""


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a group: label `TRAE`, detail `gpt-5`.

    Sentences use `said`, `TRAE with gpt-5`, if labels are not unique.
    """

    label: str
    detail: str
    said: str
    agent: str | None


def names(groups: Sequence[ComparedGroup], chosen: Sequence[Filters], base: str = "") -> list[Name]:
    """Return the names of groups by the filters that chose them; duplicates are numbered.

    `base`: the store of the first one's runs.
    """

    def clean(text: str) -> str:
        return visible(one_line(text)).replace("**", "*")  # a sentence marks its emphasis with `**`

    labels = []
    for group, filters in zip(groups, chosen, strict=True):
        agents = filters.values("agent")
        if len(agents) == 1 and {key for key, _ in filters.chosen} <= {
            "agent",
            "main-model",
            "model",
        }:
            models = (
                filters.values("main-model")
                or filters.values("model")
                or (group.models if len(group.models) == 1 else ())
            )
            labels.append((clean(agent_name(agents[0])), clean(", ".join(map(model_name, models)))))
            continue
        words = []
        for key, value in ((key, value) for key, values in filters.chosen for value in values):
            needs_no_key = FILTERS[key].kind.is_many
            words.append(
                agent_name(value) if key == "agent" else value if needs_no_key else f"{key} {value}"
            )
        labels.append((clean(" · ".join(words)) or "All runs", ""))
    if base:
        labels[0] = f"{labels[0][0]} ({clean(base)})", labels[0][1]
    found = list[Name]()
    for number, ((label, detail), group) in enumerate(zip(labels, groups, strict=True), 1):
        said = (
            f"{label} with {detail}"
            if detail and sum(other[0] == label for other in labels) > 1
            else label
        )
        which = f" ({number})" if labels.count((label, detail)) > 1 else ""
        found.append(
            Name(
                f"{label}{which}",
                detail,
                f"{said}{which}",
                group.agents[0] if len(group.agents) == 1 else None,
            )
        )
    return found


def times(value: float, sign: str = "") -> str:
    """Return a ratio, with a sign rounded so that the bound still holds: `0.47×`, `≤ 4.03×`."""
    if sign not in ("≤", "≥"):
        return "?" if sign else ratio(value)
    step = 1 if value >= 99.95 else 10 if value >= 9.995 else 100
    rounded = {"≤": ceil, "≥": floor}[sign](value * step) / step if value < 1e15 else value
    return f"{sign}\u00a0{ratio(rounded)}"


def ratio_words(found: Ratio) -> tuple[str, str]:
    """Return the ratio and its details.

    `0.47×` `0.43–0.53 n 174`, `≤ 4.03×` `upper bounds in 148 of 156`, `3.80–7.40×` `n 2`.
    """
    n = f"n {min(found.n):,}" if found.n else ""
    if found.verdict is Verdict.BOUNDS:
        kind = {"≤": "upper bounds", "≥": "lower bounds"}.get(found.sign, "bounds")
        return times(
            found.value, found.sign
        ), f"{kind} in {found.bounded:,} of {min(found.n):,}" if found.tasks else f"a bound  {n}"
    if found.verdict is Verdict.TOO_FEW:
        is_range = found.low is not None and found.high is not None and found.low != found.high
        return f"{times(found.low or 0.0)[:-1]}–{times(found.high or 0.0)}" if is_range else times(
            found.value
        ), n
    low, high = (times(end)[:-1] for end in (found.low or 0.0, found.high or 0.0))
    return times(found.value), f"{low}–{high}  {n}"


def lacks(comparison: Comparison, place: int, metric: str, called: Sequence[Name]) -> str:
    """Return why the other group at this place has no ratio of a metric, or "" if it has one.

    `called`: names of all groups.
    """
    verdict, baseline = comparison.ratios[place][metric].verdict, called[0].label

    def why(group: ComparedGroup, whose: str) -> str:
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
        return f"{whose} logs do not record it"

    if verdict is Verdict.NO_RATIO:
        return f"{baseline}'s is 0"
    if verdict is Verdict.UNSHARED:
        return (
            "no task that both completed" if metric == "wall" else "no task of which both record it"
        )
    if verdict is not Verdict.UNRECORDED:
        return ""
    if mine := why(comparison.others[place], "its"):
        return mine
    theirs = why(comparison.baseline, f"{baseline}'s")
    return theirs if theirs.startswith(f"{baseline}'s logs") else f"{baseline}: {theirs}"


def _median(group: ComparedGroup, metric: str) -> str:
    """Return the median of a group's runs, or their range if there are fewer than FEWEST."""
    known, unit = group.of(metric), METRICS_COMPARED[metric].unit
    if known.median is None:
        return (
            NOT_RECORDED
            if group.started and not (metric == "wall" and not group.completed)
            else UNKNOWN
        )
    sign = f"{known.sign}\u00a0" if known.sign else ""
    if known.runs >= FEWEST:
        return f"{sign}{short(known.median, unit)}"
    least, most = short(known.least, unit), short(known.most, unit)
    return f"{sign}{most}" if sign or least == most else f"{least}–{most}"


def counts(ratio: Ratio) -> str:
    """Return the numbers of tasks on which a group has less and more.

    `165 / 9`, `165 / 6, 3 ?`, `17 / ?`.
    """
    if not ratio.tasks:
        return UNKNOWN
    if 2 * ratio.undecided > len(ratio.tasks):
        return {"≤": f"{ratio.lower:,} / ?", "≥": f"? / {ratio.higher:,}"}.get(ratio.sign, "?")
    return f"{ratio.lower:,} / {ratio.higher:,}" + (
        f", {ratio.undecided:,} ?" if ratio.undecided else ""
    )


def _rows(comparison: Comparison, called: Sequence[Name]) -> list[dict[str, str]]:
    """Return a row of cells (COMPARED_WORDS) per group, the baseline first."""
    found = []
    for number, (group, name) in enumerate(zip(comparison.groups, called, strict=True)):
        ratios = comparison.ratios[number - 1] if number else {}
        completed = (
            f"{group.completed_tasks:,}" + (" at least" if group.open_tasks else "")
            if group.tasks
            else UNKNOWN
        )
        row = {
            "group": " ".join(filter(None, (name.label, name.detail)))
            + ("" if number else ", baseline")
        }
        row |= {"tasks": f"{group.tasks:,}", "completed": completed}
        for metric in comparison.metrics:
            runs = group.of(metric).runs
            why = lacks(comparison, number - 1, metric, called) if number else ""
            row |= {
                metric: _median(group, metric),
                f"{metric}_n": f"{runs:,}" if runs else UNKNOWN,
            }
            row[f"{metric}_ratio"] = (
                "1×" if not number else why or "  ".join(ratio_words(ratios[metric]))
            )
        row |= {
            column: counts(ratios[metric]) if number else UNKNOWN
            for column, metric in _COUNTED.items()
        }
        found.append(row)
    return found


def as_words(comparison: Comparison, called: Sequence[Name]) -> pa.Table:
    shown = [
        key
        for key in COMPARED_WORDS
        if key.partition("_")[0] not in set(METRICS_COMPARED) - set(comparison.metrics)
    ]
    return pa.Table.from_pylist(
        _rows(comparison, called), pa.schema([(key, pa.string()) for key in shown])
    )


def comparison_table(comparison: Comparison, called: Sequence[Name]) -> str:
    """Return an HTML table with a row per group, the baseline first, and n for every median.

    A name links to its runs.
    """

    def name(row: tuple[Any, ...]) -> TextCell:
        group, called_here, number, _ = row
        detail = ", ".join(filter(None, (called_here.detail, "" if number else "baseline")))
        to = html_parts.link("runs", NO_FILTERS if group.filters is None else group.filters)
        sign = html_parts.mark(called_here.agent)
        return TextCell(called_here.label, detail, address=to, kind="t-plain", mark=sign)

    def column(title: str, key: str) -> Col:
        field = "note" if key.endswith("_n") else "text"
        return Col(title, lambda row: TextCell(**{field: row[3][key]}), "r")

    titles = {key: entry.label for key, entry in METRICS_COMPARED.items()}
    titles |= {
        "cost": f"{BASES[comparison.basis.key]} per run",
        "wall": f"{titles['wall']}, completed",
    }
    counted = {"cost": ("cheaper", "Cheaper / dearer"), "wall": ("faster", "Faster / slower")}
    shown = [
        Col("Group", name),
        column("Tasks", "tasks"),
        column("Completed\n(task at least once)", "completed"),
    ]
    for metric in METRICS_COMPARED:
        if metric in comparison.metrics:
            shown += [column(f"{titles[metric]}\n(median)", metric), column("n", f"{metric}_n")]
            if metric in counted:
                key, title = counted[metric]
                shown.append(column(f"{title}\non how many tasks", key))
    counted_rows = _rows(comparison, called)
    groups = [*zip(comparison.groups, called, range(len(called)), counted_rows, strict=True)]
    return TextTable(shown, groups).html(kind="t-grid")


def compare(comparison: Comparison, called: Sequence[Name]) -> Said:
    """Return the first lines of a screen or answer about these groups.

    `called`: the names of all groups, the baseline's first.
    """
    silent = (Verdict.UNRECORDED, Verdict.UNSHARED, Verdict.NO_RATIO)
    places = [
        place
        for place, ratios in enumerate(comparison.ratios)
        if any(ratios[key].verdict not in silent for key in _NOUNS if key in comparison.metrics)
    ]
    first = places[0] if places else 0
    who, whose = called[first + 1].said, called[0].said
    open_ = _clauses(comparison, first, "")[2]
    second = [f"{who}: {'; '.join(open_.values())}." if open_ else ""]
    group, baseline = comparison.others[first], comparison.baseline
    if group.tasks and baseline.tasks:
        mine, theirs = (
            f"{'at least ' if one.open_tasks else ''}{one.completed_tasks:,} of {one.tasks:,}"
            for one in (group, baseline)
        )
        second.append(
            f"{'It' if places else who} completes {mine} "
            f"{'task' if group.tasks == 1 else 'tasks'}; {whose} {theirs}."
        )
    for place in places[1:][:MOST_TOLD]:
        clear, unclear, open_ = _clauses(comparison, place, "")
        parts = [joined(clear).replace("**", "")] if clear else []
        parts += [f"no clear difference in {joined(unclear)}"] if unclear else []
        second.append(
            f"{called[place + 1].said}{'' if clear else ':'} "
            f"{'; '.join([*parts, *open_.values()])}."
        )
    return Said(
        _heading(comparison, first, called),
        " ".join(filter(None, second)),
        _caption(comparison, called),
    )


def is_told(ratio: Ratio) -> bool:
    """Return whether sentences state a direction.

    The interval lies on one side of 1, and so does the rounded ratio.
    """
    return ratio.is_clear and times(ratio.value) != "1.00×"


def _clauses(
    comparison: Comparison, place: int, whom: str
) -> tuple[list[str], list[str], dict[str, str]]:
    """Return (clear results, nouns of unclear ones, results that stay open).

    Bounds or too few values leave a result open. `whom`: name of the baseline.
    """
    clear, unclear, open_ = list[str](), list[str](), dict[str, str]()
    for key, found in comparison.ratios[place].items():
        if key not in _NOUNS or key not in comparison.metrics:
            continue
        if is_told(found):
            figure = f"**{times(found.value)}**"
            is_named = whom and not clear
            if key == "cost":
                clear.append(
                    f"costs {figure} what {whom} costs" if whom else f"costs {figure} as much"
                )
            elif key == "wall":
                clear.append(f"takes {figure} as long" + (f" as {whom}" if is_named else ""))
            else:
                clear.append(
                    f"has {figure} the measured speedup" + (f" of {whom}" if is_named else "")
                )
        elif found.is_clear or found.verdict is Verdict.UNCLEAR:
            unclear.append(_NOUNS[key])
        elif found.verdict is Verdict.BOUNDS:
            kind = {"≤": "upper bounds", "≥": "at least what is recorded"}.get(
                found.sign, "bounds on either side"
            )
            sure, word = (found.higher, "dearer") if found.sign == "≥" else (found.lower, "cheaper")
            surely = "which do not tell"
            if found.tasks:
                of = f"{none_or(sure).lower()} of {plural(len(found.tasks), 'task')}"
                surely = f"so it is surely {word} on {of}, and for the rest nobody can say"
            open_[key] = f"its {_NOUNS[key]}s are {kind}, {surely}"
        elif found.verdict is Verdict.TOO_FEW:
            what = "shared task" if found.tasks else "run"
            open_[key] = f"{_NOUNS[key]} rests on only {plural(min(found.n), what)}"
    return clear, unclear, open_


def _heading(comparison: Comparison, place: int, called: Sequence[Name]) -> str:
    group, baseline, is_paired = called[place + 1].said, called[0].said, comparison.is_paired(place)
    who, whom = (
        (f"On the same task {group}", baseline)
        if is_paired
        else (f"A run of {group}", f"one of {baseline}")
    )
    clear, unclear, open_ = _clauses(comparison, place, whom)
    if clear:
        rest = f"; no clear difference in {joined(unclear)}" if unclear else ""
        return f"{who} {joined(clear)}{rest}."
    if unclear:
        on = "on the same tasks" if is_paired else "from run to run"
        return (
            f"**No clear difference** in {' or '.join(unclear)} between {group} and {baseline} "
            f"{on}."
        )
    if open_:
        better = {"cost": "costs less", "wall": "is faster", "speedup": "has the larger speedup"}[
            next(iter(open_))
        ]
        return f"Whether {group} or {baseline} {better} is open."
    what = "No task has a cost or wall time" if is_paired else "Neither cost nor wall time is"
    return f"{what} known for both {group} and {baseline}."


def _caption(comparison: Comparison, called: Sequence[Name]) -> str:
    """Return the legend of dots, crosses and n."""
    whose = called[0].said
    alone = [name.said for place, name in enumerate(called[1:]) if not comparison.is_paired(place)]
    if len(alone) == len(comparison.others):
        why = (
            ""
            if comparison.pair != TASK
            else f"No group shares a task with {whose}, so runs are not paired. "
        )
        return (
            f"{why}Cross: median of all runs divided by the median of {whose}'s, with its 95% "
            "interval. n: runs of the smaller side."
        )
    said = (
        f"Dot: a task, the median of its runs divided by the median of {whose}'s. Cross: median "
        "over tasks with its 95% interval. "
    )
    said += "n: tasks that both sides have."
    signs = {
        span.sign for ratios in comparison.ratios for span in (ratios["cost"].tasks or {}).values()
    }
    said += "".join(words for sign, words in _LEGEND.items() if sign in signs)
    return said + (f" {joined(alone)}: no shared task, so medians of all runs." if alone else "")


def notes(comparison: Comparison, called: Sequence[Name]) -> list[str]:
    """Return notes on what the table leaves out and what its figures rest on."""
    found, whose = list[str](), called[0].said
    if comparison.is_forced:
        basis = "at list price" if comparison.basis == LIST else "as reported"
        found.append(
            f"Cost is {basis} for all groups: best-known costs would mix reported ones and "
            "list prices."
        )
    for number, (group, name) in enumerate(zip(comparison.groups, called, strict=True)):
        if not group.runs:
            found.append(f"No run of {name.said} matches.")
        if group.unknown_ends:
            verbs = (
                ("does", "it", "it counts")
                if group.unknown_ends == 1
                else ("do", "they", "they count")
            )
            of = f"{group.unknown_ends:,} of {name.said}'s {plural(group.runs, 'run')}"
            found.append(
                f"{of} {verbs[0]} not say how {verbs[1]} ended; {verbs[2]} as neither "
                "completed nor failed."
            )
        if comparison.pair == TASK and group.taskless:
            found.append(
                f"{plural(group.taskless, 'run')} of {name.said} "
                f"{'names' if group.taskless == 1 else 'name'} no task."
            )
        if not number:
            continue
        ratio, overlap = comparison.ratios[number - 1]["cost"], comparison.overlap[number - 1]
        if ratio.bounded and ratio.verdict is not Verdict.BOUNDS:
            of = (
                f"{ratio.bounded:,} of {name.said}'s {plural(len(ratio.tasks or ()), 'cost ratio')}"
            )
            found.append(
                f"{of} {agreeing(ratio.bounded, 'rests')} on bounds; the interval "
                "includes what these leave open."
            )
        if overlap:
            found.append(
                f"{plural(overlap, 'run')} of {name.said} {agreeing(overlap, 'is')} "
                f"in {whose}, too."
            )
    measured = [
        name.said
        for group, name in zip(comparison.groups, called, strict=True)
        if group.of("speedup").runs
    ]
    if measured and "speedup" not in comparison.metrics:
        few = (
            "has comparable ones"
            if len(measured) == 1
            else f"have comparable ones, not {FEWEST} each"
        )
        found.append(
            f"Measured speedups: only {joined(measured)} {few}, so there is nothing to compare."
        )
    return found


def too_few_groups(runs: int, name: str) -> str:
    """Return a message that fewer than two groups can be compared."""
    if not runs:
        return "There is no run that started, so there is nothing to compare."
    whose = f"The {plural(runs, 'run')} are" if runs > 1 else "The only run is"
    return (
        f"{whose} {name}'s: a comparison needs runs of **another agent or model**, or two groups "
        "by label."
    )


def chart_caption(comparison: Comparison, metric: str, called: Sequence[Name]) -> str:
    """Return `List price, all runs that started; Claude Code = 1×`."""
    of = {
        "cost": f"{BASES[comparison.basis.key]}, all runs that started",
        "wall": "where both completed" if comparison.pair == TASK else "completed runs",
        "turns": "all runs that started",
        "speedup": "runs with a comparable baseline",
    }[metric]
    return f"{upper_first(of)}; {called[0].said} = 1×"
