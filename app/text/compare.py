"""Groups of runs beside a baseline.

Names, the rows of their table, and a sentence never stronger than bounds allow. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf

import pyarrow as pa

from app.queries.comparison import (
    TASK,
    ComparedGroup,
    Comparison,
    PairOffered,
    as_text,
    narrowed,
)
from app.queries.filters import FILTERS, NO_FILTERS, Filters
from app.queries.ratios import FEWEST, Ratio, Verdict
from app.text import html_parts
from app.text.formatting import (
    AT_LEAST,
    NOT_RECORDED,
    UNKNOWN,
    agent_name,
    interval,
    model_name,
    ratio,
    short,
)
from app.text.sentences import Doubt, Said, joined
from app.text.table import Col, TextCell, TextTable
from schemas.catalogue.columns import COMPARED_WORDS, METRICS_COMPARED
from schemas.catalogue.cost_measures import ALL_IN, LIST, REPORTED
from schemas.text import agreeing, join_known, one_line, plural, visible

LONGEST_HEADING, LONGEST_NAME = 110, 22
"""Characters of a heading, and of a name in it."""

MOST_PAIRS = 3

COMPLETED = "Completed"

BASES = {REPORTED.key: "reported", LIST.key: "list price", ALL_IN.key: "all-in"}

_SIDES = {
    "cost": ("cheaper", "dearer"),
    "wall": ("faster", "slower"),
    "turns": ("fewer", "more"),
    "speedup": ("smaller", "larger"),
}
"""Metric → the words for less and more of it on a task."""

_NOUNS = {"cost": "cost", "wall": "wall time"}
"""Metrics in headings; the others are in chart and table only."""

_SHORT = {"cost": "cost", "wall": "time", "turns": "turns", "speedup": "measured speedup"}

SIGNS = {"≤": "◁ upper bound", "≥": "▷ lower bound", "?": "○ unknown"}
"""Legend for tasks with a bound as ratio."""


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a group: label `TRAE`, detail `gpt-5`.

    Sentences use `said`: with the model if the filters name it, and not too long.
    """

    label: str
    detail: str
    said: str
    agent: str | None

    @property
    def whole(self) -> str:
        """Return `TRAE gpt-5`."""
        return f"{self.label} {self.detail}".strip()


def names(groups: Sequence[ComparedGroup], chosen: Sequence[Filters], base: str = "") -> list[Name]:
    """Return the names of groups by the filters that chose them; duplicates are numbered.

    `base`: the store of the first one's runs.
    """
    parts = [named(one, group.models) for one, group in zip(chosen, groups, strict=True)]
    if base:
        parts[0] = f"{parts[0][0]} ({_clean(base)})", parts[0][1]
    found = list[Name]()
    for number, ((label, detail), group, one) in enumerate(
        zip(parts, groups, chosen, strict=True), 1
    ):
        has_model = one.values("main-model") or one.values("model")
        is_shared = sum(label == other for other, _ in parts) > 1
        is_one_agent = len(parts) == len({detail for other, detail in parts if other == label})
        said = f"{label} {detail}".strip() if has_model or is_shared else label
        said = detail if is_one_agent and detail else said
        said = said if len(said) <= LONGEST_NAME else f"{said[: LONGEST_NAME - 1].rstrip()}…"
        which = f" ({number})" if parts.count((label, detail)) > 1 else ""
        agent = group.agents[0] if len(group.agents) == 1 else None
        found.append(Name(f"{label}{which}", detail, f"{said}{which}", agent))
    return found


def named(filters: Filters, models: Sequence[str] = ()) -> tuple[str, str]:
    """Return (label, detail) of a group by its filters. `models`: those of its runs."""
    agents = filters.values("agent")
    if len(agents) == 1 and {key for key, _ in filters.chosen} <= {"agent", "main-model", "model"}:
        of_filters = filters.values("main-model") or filters.values("model")
        shown = of_filters or (models if len(models) == 1 else ())
        return _clean(agent_name(agents[0])), _clean(", ".join(map(model_name, shown)))
    words = []
    for key, value in ((key, value) for key, values in filters.chosen for value in values):
        needs_no_key = FILTERS[key].kind.is_many
        words.append(
            agent_name(value) if key == "agent" else value if needs_no_key else f"{key} {value}"
        )
    return _clean(" · ".join(words)) or "All runs", ""


def _clean(text: str) -> str:
    return visible(one_line(text)).replace("**", "*")  # a sentence marks its emphasis with `**`


def times(value: float, sign: str = "") -> str:
    """Return a ratio, with a sign rounded so that the bound still holds: `0.47×`, `≤ 4.03×`."""
    if sign not in ("≤", "≥"):
        return "?" if sign else ratio(value)
    step = 1 if value >= 99.95 else 10 if value >= 9.995 else 100
    rounded = {"≤": ceil, "≥": floor}[sign](value * step) / step if value < 1e15 else value
    return f"{sign}\u00a0{ratio(rounded)}"


def ratio_words(found: Ratio) -> tuple[str, str]:
    """Return the ratio and its interval: `0.47×` `(0.42–0.53)`, `≤ 4.03×`, `3.80–7.40×`."""
    if found.verdict is Verdict.BOUNDS or found.low is None or found.high is None:
        return times(found.value, found.sign), ""
    if found.high == inf or not found.low:
        ends = f"≥ {times(found.low)}" if found.low else f"≤ {times(found.high)}"
        return times(found.value), f"({ends})" if found.low or found.high < inf else ""
    if found.verdict is Verdict.TOO_FEW:
        is_range = found.low != found.high
        return f"{interval(found.low, found.high)}×" if is_range else times(found.value), ""
    return times(found.value), f"({interval(found.low, found.high)})"


def lacks(comparison: Comparison, place: int, metric: str, called: Sequence[Name]) -> str:
    """Return why the other group at this place has no ratio of a metric, or "" if it has one."""
    verdict = comparison.ratios[place][metric].verdict
    if verdict is Verdict.NO_RATIO:
        return f"{called[0].said}'s is 0"
    if verdict is Verdict.UNLIKE:
        return "not comparable: Codex counts prompts, others requests"
    if verdict is Verdict.UNSHARED:
        return "no task that both completed" if metric == "wall" else "no task that both record"
    if verdict is not Verdict.UNRECORDED:
        return ""
    sides = ((comparison.others[place], called[place + 1]), (comparison.baseline, called[0]))
    group, name = next((one for one in sides if not one[0].of(metric).runs), sides[0])
    if not group.runs:
        return f"no run of {name.said} matches"
    if metric == "speedup":
        return "cannot be compared"
    if not group.started:
        return f"no run of {name.said} started"
    if metric == "wall" and not group.completed:
        known = "is known to be completed" if group.unknown_ends else "completed"
        return f"no run of {name.said} {known}"
    if metric == "cost" and comparison.basis == LIST and group.with_tokens:
        return f"no list price for the models of {name.said}"
    return f"not recorded by {name.said}"


def in_words(comparison: Comparison, place: int, metric: str, called: Sequence[Name]) -> str:
    """Return what a ratio means: `cheaper on 164 tasks, dearer on 6, undecided on 4 (bounds)`."""
    if why := lacks(comparison, place, metric, called):
        return why
    found, (less, more) = comparison.ratios[place][metric], _SIDES[metric]
    is_unclear = found.verdict is Verdict.UNCLEAR or (
        found.is_clear and not states_direction(found)
    )
    if not found.tasks:
        of = " and ".join(f"{runs:,}" for runs in reversed(found.n))
        what = {Verdict.LOWER: less, Verdict.HIGHER: more, Verdict.BOUNDS: "a bound"}
        kind = "no clear difference" if is_unclear else what.get(found.verdict, "too few to judge")
        return f"{kind}; {of} runs"
    tasks = plural(len(found.tasks), "task") + (" that both completed" if metric == "wall" else "")
    if is_unclear:
        return f"no clear difference on {tasks}"
    equal = len(found.tasks) - found.lower - found.higher - found.undecided
    counted = {less: found.lower, more: found.higher, "equal": equal, "undecided": found.undecided}
    parts = [(word, count) for word, count in counted.items() if count]
    bounds = " (bounds)" if found.undecided else ""
    few = "; too few to judge" if found.verdict is Verdict.TOO_FEW else ""
    if len(parts) == 1:
        every = "all " if len(found.tasks) > 1 else ""
        return f"{parts[0][0]} on {every}{tasks}{bounds}{few}"
    first, *others = (f"{word} on {count:,}" for word, count in parts)
    noun = "task" if parts[0][1] == 1 else "tasks"
    return f"{', '.join([f'{first} {noun}', *others])}{bounds}{few}"


def _median(group: ComparedGroup, metric: str) -> str:
    """Return the median of a group's runs, or their range if there are fewer than FEWEST."""
    known, unit = group.of(metric), METRICS_COMPARED[metric].unit
    if known.median is None:
        is_unrecorded = group.started and not (metric == "wall" and not group.completed)
        return NOT_RECORDED if is_unrecorded else UNKNOWN
    sign = f"{known.sign}\u00a0" if known.sign else ""
    if known.runs >= FEWEST:
        return f"{sign}{short(known.median, unit)}"
    least, most = short(known.least, unit), short(known.most, unit)
    return f"{sign}{most}" if sign or least == most else f"{least}–{most}"


@dataclass(frozen=True, slots=True)
class MeasureCells:
    """A row of the table: a measure, a value per group, and a ratio and words per other one."""

    label: str
    note: str
    values: tuple[str, ...]
    ratios: tuple[tuple[str, str], ...]
    words: tuple[str, ...]


def measure_cells(comparison: Comparison, called: Sequence[Name]) -> list[MeasureCells]:
    """Return the rows of the table; a measure that no group has is left out."""
    notes = {"cost": f" per run, {BASES[comparison.basis.key]}", "wall": ", completed runs"}
    places, rows = range(len(comparison.others)), list[MeasureCells]()
    for metric, entry in METRICS_COMPARED.items():
        if not any(group.of(metric).runs for group in comparison.groups):
            continue
        values = [_median(group, metric) for group in comparison.groups]
        if metric not in comparison.metrics:
            values = [
                f"{group.of(metric).runs or 'none'} comparable" for group in comparison.groups
            ]
        found = [comparison.ratios[place][metric] for place in places]
        silent = [
            metric not in comparison.metrics or bool(lacks(comparison, place, metric, called))
            for place in places
        ]
        rows.append(
            MeasureCells(
                entry.label,
                notes.get(metric, ""),
                tuple(values),
                tuple(
                    ("", "") if none else ratio_words(one)
                    for one, none in zip(found, silent, strict=True)
                ),
                tuple(
                    "cannot be compared"
                    if metric not in comparison.metrics
                    else in_words(comparison, place, metric, called)
                    for place in places
                ),
            )
        )
    completed = _completed(comparison, called)
    at = next((place for place, row in enumerate(rows) if row.label == "Measured speedup"), None)
    rows.insert(len(rows) if at is None else at, completed)
    return rows


def _completed(comparison: Comparison, called: Sequence[Name]) -> MeasureCells:
    """Return the row of completed tasks: of the shared ones if there are two groups."""
    places = range(len(comparison.others))
    words = [""] * len(places)
    if len(called) == 2 and comparison.is_paired(0):
        shared = comparison.shared[0]
        values = [
            _done_of(shared.completed[side], shared.tasks, is_open=shared.is_open[side])
            for side in (0, 1)
        ]
        only = [
            f"{plural(count, 'task')} only by {name.said}"
            for count, name in zip(shared.only, called, strict=True)
            if count
        ]
        words = [", ".join(only)]
        note = " of the shared tasks"
    elif all(map(comparison.is_paired, places)):
        values = [
            _done_of(group.completed_tasks, group.tasks, is_open=bool(group.open_tasks))
            for group in comparison.groups
        ]
        note = " of its tasks"
    else:
        values = [
            _done_of(group.completed, group.started, is_open=bool(group.unknown_ends))
            for group in comparison.groups
        ]
        note = " of the started runs"
    return MeasureCells(COMPLETED, note, tuple(values), (("", ""),) * len(places), tuple(words))


def _done_of(completed: int, of: int, *, is_open: bool) -> str:
    if is_open and not completed:
        return NOT_RECORDED
    return f"{AT_LEAST if is_open else ''}{completed:,} of {of:,}" if of else UNKNOWN


def as_words(comparison: Comparison, called: Sequence[Name]) -> pa.Table:
    """Return the table for a terminal: a row per measure and group beside the baseline."""
    rows = [
        {
            "group": called[place + 1].whole,
            "measure": f"{row.label}{row.note}",
            "baseline": row.values[0],
            "value": row.values[place + 1],
            "ratio": " ".join(filter(None, row.ratios[place])) or UNKNOWN,
            "words": row.words[place],
        }
        for place in range(len(comparison.others))
        for row in measure_cells(comparison, called)
    ]
    return pa.Table.from_pylist(rows, pa.schema([(key, pa.string()) for key in COMPARED_WORDS]))


def comparison_table(comparison: Comparison, called: Sequence[Name]) -> str:
    """Return an HTML table with a row per measure; what was completed links to its runs."""

    def value(place: int) -> Col:
        name, one = called[place], comparison.groups[place].filters
        runs = html_parts.link("runs", NO_FILTERS if one is None else one)

        def cell(row: MeasureCells) -> TextCell:
            return TextCell(
                row.values[place], address=runs if row.label == COMPLETED else "", kind="t-plain"
            )

        return Col(name.whole, cell, "r", mark=html_parts.mark(name.agent))

    def against(place: int) -> Col:
        def cell(row: MeasureCells) -> TextCell:
            words, ends = row.ratios[place]
            return TextCell(f" {ends}" if ends else "", strong=words)

        return Col("Same task" if comparison.is_paired(place) else "All runs", cell, "r")

    columns = [
        Col("", lambda row: TextCell(row.note, strong=row.label)),
        value(0),
        *(
            column
            for place in range(len(comparison.others))
            for column in (value(place + 1), against(place))
        ),
    ]
    if len(comparison.others) == 1:
        columns.append(Col("In words", lambda row: row.words[0]))
    return TextTable(columns, measure_cells(comparison, called)).on_any_screen()


def states_direction(ratio: Ratio) -> bool:
    """Return whether the interval lies on one side of 1, and the rounded ratio is not 1."""
    return ratio.is_clear and times(ratio.value) != "1.00×"


def compare(comparison: Comparison, called: Sequence[Name], filters: Filters = NO_FILTERS) -> Said:
    """Return the first lines of a screen or answer about the first pair.

    `called`: the names of all groups, the baseline's first. `filters`: those of all groups.
    """
    second = [_ends(comparison, called)]
    if why := lacks(comparison, 0, "cost", called):
        second.append(f"Cost: {why}.")
    return Said(
        _heading(comparison, called),
        join_known(" ", *second),
        _coverage(comparison),
        tuple(doubts(comparison, called, filters)),
    )


def _heading(comparison: Comparison, called: Sequence[Name]) -> str:
    baseline, group, ratios = called[0].said, called[1].said, comparison.ratios[0]
    bound = {"≤": "at most ", "≥": "at least "}
    figures = {
        key: f"{bound.get(one.sign, '')}**{times(one.value, one.sign).split(chr(160))[-1]}**"
        for key, one in ratios.items()
        if key in _NOUNS
        and (states_direction(one) or (one.verdict is Verdict.BOUNDS and one.sign in bound))
        and (one.sign != "≥" or one.value >= 1)
    }
    open_ = [
        _NOUNS[key]
        for key, one in ratios.items()
        if key in _NOUNS and key not in figures and one.low is not None
    ]
    rest = f"; {' and '.join(open_)} {'does' if len(open_) == 1 else 'do'} not differ clearly"
    if figures:
        clauses = {
            "cost": f"costs {figures.get('cost')} what {baseline} costs",
            "wall": f"takes {figures.get('wall')} as long"
            + ("" if "cost" in figures else f" as {baseline}"),
        }
        costs, rest = " and ".join(clauses[key] for key in figures), rest if open_ else ""
        if comparison.is_paired(0):
            same = f"On the same task {group} {costs}"
            return _fitting(
                f"{same}{rest}.", f"{group} {costs}{rest}.", f"{same}.", f"{group} {costs}."
            )
        over = f"Over all runs {group} "
        usual = (
            f"{over}{costs}{rest}.",
            f"{over}{costs}.",
            f"{over}{clauses[next(iter(figures))]}.",
        )
        if comparison.pair == TASK:
            verbs = {"cost": "costs", "wall": "takes"}
            brief = joined([f"{verbs[key]} {one}" for key, one in figures.items()])
            none = f"{baseline} and {group} share no task; over all runs {group} {brief}."
            return _fitting(none, *usual)
        return _fitting(*usual)
    if open_:
        on = f"on {plural(comparison.shared[0].tasks, 'task')}"
        where = on if comparison.is_paired(0) else "over all runs"
        return f"{baseline} and {group} **do not differ clearly** in {' or '.join(open_)} {where}."
    if any(one.verdict is Verdict.TOO_FEW for key, one in ratios.items() if key in _NOUNS):
        return f"{baseline} and {group} have too few runs for a comparison."
    return f"Neither cost nor wall time can be compared between {baseline} and {group}."


def _fitting(*sentences: str) -> str:
    """Return the first sentence that is not too long, else the last."""
    fits = (one for one in sentences if len(one.replace("**", "")) <= LONGEST_HEADING)
    return next(fits, sentences[-1])


def _ends(comparison: Comparison, called: Sequence[Name]) -> str:
    """Return what each completed, or that the runs are not of the same tasks."""
    if not comparison.is_paired(0):
        return "Runs are not paired by task, so a difference may come from the tasks."
    shared, (one, two) = comparison.shared[0], (called[0].said, called[1].said)
    done = [
        "an unknown number"
        if is_open and not count
        else f"{'at least ' if is_open else ''}{count:,}"
        for count, is_open in zip(shared.completed, shared.is_open, strict=True)
    ]
    of = plural(shared.tasks, "shared task")
    if set(shared.completed) == {shared.tasks}:
        return f"Both completed {'all ' if shared.tasks > 1 else 'the '}{of}."
    if shared.completed[0] == shared.tasks:
        return f"{one} completed all {of}, {two} {done[1]}."
    return f"{one} completed {done[0]} of {of}, {two} {done[1]}."


def _coverage(comparison: Comparison) -> str:
    ratios = [one for one in comparison.ratios[0].values() if one.n]
    what = "ratio of the medians"
    if comparison.is_paired(0):
        shared, what = comparison.shared[0].tasks, "median of each task's ratio"
        first = f"**{shared:,}** shared {'task' if shared == 1 else 'tasks'}"
    else:
        first = " and ".join(f"**{group.started:,}**" for group in comparison.groups[:2]) + " runs"
    if any(min(one.n) >= FEWEST for one in ratios):
        what += ", with its 95% interval"
    basis = {LIST: "at list prices", ALL_IN: "all-in"}.get(comparison.basis, "as reported")
    whom = "both" if len(comparison.groups) == 2 else "all"
    has_cost = any(group.of("cost").runs for group in comparison.groups)
    return " · ".join([first, what, *([f"{basis} for {whom}"] if has_cost else [])])


def doubts(comparison: Comparison, called: Sequence[Name], filters: Filters) -> list[Doubt]:
    """Return what the table leaves out and what its figures rest on."""
    found, whose = list[Doubt](), called[0].said

    def add(text: str, label: str, page: str, of: Filters | None = filters) -> None:
        found.append(Doubt(text, label, html_parts.link(page, of or NO_FILTERS)))

    if comparison.is_forced:
        kinds = "list prices" if comparison.basis == LIST else "reported ones"
        add(
            f"Best-known costs would mix reported ones and list prices: all are {kinds}",
            "Cost & time",
            "cost",
        )
    speedups = [group.of("speedup").runs for group in comparison.groups]
    if any(speedups) and "speedup" not in comparison.metrics:
        has = [
            f"{name.said} has {count:,}"
            for name, count in zip(called, speedups, strict=True)
            if count
        ]
        add(f"Comparable measurements: only {joined(has)}", "Speedups", "speedups")
    for number, (group, name) in enumerate(zip(comparison.groups, called, strict=True)):
        one = narrowed(filters, group.filters) if group.filters else filters
        if not group.runs:
            add(f"No run of {name.said} matches", "Runs", "runs", one)
        if group.unknown_ends:
            of = f"{group.unknown_ends:,} of {plural(group.runs, 'run')} of {name.said}"
            add(f"{of} {agreeing(group.unknown_ends, 'has')} no known end", "Runs", "runs", one)
        if comparison.pair == TASK and group.taskless:
            of = f"{plural(group.taskless, 'run')} of {name.said}"
            add(f"{of} {agreeing(group.taskless, 'names')} no task", "Runs", "runs", one)
        if not number:
            continue
        ratio, overlap = comparison.ratios[number - 1]["cost"], comparison.overlap[number - 1]
        if ratio.bounded:
            of = plural(len(ratio.tasks or ()), "cost ratio")
            rest = f"{ratio.bounded:,} of {of} {agreeing(ratio.bounded, 'rests')} on bounds"
            add(f"{name.said}: {rest}", "Cost & time", "cost", one)
        if overlap:
            both = f"{plural(overlap, 'run')} of {name.said} {agreeing(overlap, 'is')} in {whose}"
            add(f"{both}, too", "Runs", "runs", one)
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


def chart_caption(comparison: Comparison, called: Sequence[Name]) -> str:
    """Return `TRAE gpt-5 ÷ Claude Code; log scale; cross: median and its 95% interval`."""
    spans = (comparison.ratios[0]["cost"].tasks or {}).values()
    signs = {span.sign for span in spans}
    legend = [words for sign, words in SIGNS.items() if sign in signs]
    about = f"{called[1].said} ÷ {called[0].said}"
    return "; ".join([about, "log scale", "cross: median and its 95% interval", *legend])


def other_pairs(pairs: Sequence[PairOffered], shown: Sequence[Filters], filters: Filters) -> str:
    """Return HTML that links to pairs besides the shown groups, each with what it can compare."""
    parts = []
    for pair in pairs:
        if set(pair.groups) <= set(shown) or not pair.known:
            continue
        one, two = (" ".join(filter(None, named(side))) for side in pair.groups)
        address = html_parts.link("compare", filters, groups=[*map(as_text, pair.groups)])
        words = [
            "cost as a bound" if key == "cost" and pair.is_bound else _SHORT[key]
            for key in pair.known
        ]
        what = ", ".join(words) if len(words) > 1 else f"{words[0]} only"
        link = html_parts.anchor(address, html_parts.text(f"{two} with {one}"))
        parts.append(f"{link} {html_parts.muted(what)}")
    if not parts:
        return ""
    return f'<p class="t-cap">Other pairs you can compare: {" · ".join(parts[:MOST_PAIRS])}</p>'
