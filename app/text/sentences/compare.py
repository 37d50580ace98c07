"""What a comparison of groups says: a direction only where the interval has one, never more than bounds allow. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.queries.comparison import TASK, Comparison, Group
from app.queries.ratios import FEWEST, Ratio, Verdict
from app.text import brief
from app.text.sentences import Said
from app.text.words.groups import Name, times
from schemas.catalogue.cost_measures import LIST, REPORTED
from schemas.text import plural

MOST_TOLD = 2
"""Groups that the second line tells of, beside the first one."""

_NOUNS = {"cost": "cost", "wall": "wall time", "speedup": "measured speedup"}
"""What the sentences tell of; turns stand in chart and table."""


def compare(comparison: Comparison, called: Sequence[Name]) -> Said:
    """What a screen or answer about these groups says first. `called`: the names of all groups, the baseline's first."""
    places = range(len(comparison.others))
    first = next((place for place in places if _told(comparison, place)), 0)
    heading = _heading(comparison, first, called)
    others = [place for place in places if place != first and _told(comparison, place)][:MOST_TOLD]
    second = [_open(comparison, first, called), _completed(comparison, first, called)]
    second += [_of_other(comparison, place, called) for place in others]
    return Said(heading, " ".join(filter(None, second)), _caption(comparison, called))


def is_told(ratio: Ratio) -> bool:
    """Whether a direction is said: the interval lies on one side of 1, and so does the ratio as it is written."""
    return ratio.is_clear and times(ratio.value) != "1.00×"


def _told(comparison: Comparison, place: int) -> bool:
    """Whether there is a ratio of the other group to speak of."""
    silent = (Verdict.UNRECORDED, Verdict.UNSHARED, Verdict.NO_RATIO)
    return any(comparison.ratios[place][key].verdict not in silent for key in _NOUNS if key in comparison.metrics)


def _figure(value: float) -> str:
    """`**0.47×**`, `**7.1×**`: one decimal from 2 on."""
    return f"**{value:.1f}×**" if 1.995 <= value < 99.95 else f"**{times(value)}**"


def _clauses(comparison: Comparison, place: int, whom: str) -> tuple[list[str], list[str], dict[str, str]]:
    """(what is clear, the nouns of what is not, what bounds and too few values leave open). `whom`: the baseline, if it is to be named."""
    clear, unclear, open_ = list[str](), list[str](), dict[str, str]()
    for key, ratio in comparison.ratios[place].items():
        if key not in _NOUNS or key not in comparison.metrics:
            continue
        if is_told(ratio):
            figure = _figure(ratio.value)
            clear.append(
                {
                    "cost": f"costs {figure} what {whom} costs" if whom else f"costs {figure} as much",
                    "wall": f"takes {figure} as long" + (f" as {whom}" if whom and not clear else ""),
                    "speedup": f"has {figure} the measured speedup" + (f" of {whom}" if whom and not clear else ""),
                }[key]
            )
        elif ratio.is_clear or ratio.verdict is Verdict.UNCLEAR:
            unclear.append(_NOUNS[key])
        elif ratio.verdict is Verdict.BOUNDS:
            open_[key] = _bounds(ratio, key)
        elif ratio.verdict is Verdict.TOO_FEW:
            what = "shared task" if ratio.tasks else "run"
            open_[key] = f"{_NOUNS[key]} rests on only {plural(min(ratio.n), what)}"
    return clear, unclear, open_


def _bounds(ratio: Ratio, key: str) -> str:
    """`its costs are upper bounds, so it is surely cheaper on 17 of 156 tasks, and for the rest nobody can say`."""
    what = f"its {_NOUNS[key]}s are {_BOUNDS.get(ratio.sign, 'bounds on either side')}"
    if not ratio.tasks:
        return f"{what}, which do not tell"
    sure, word = (ratio.higher, "dearer") if ratio.sign == "≥" else (ratio.lower, "cheaper")
    of = f"{sure:,}" if sure else "none"
    return f"{what}, so it is surely {word} on {of} of {plural(len(ratio.tasks), 'task')}, and for the rest nobody can say"


_BOUNDS = {"≤": "upper bounds", "≥": "at least what is recorded"}


def _heading(comparison: Comparison, place: int, called: Sequence[Name]) -> str:
    group, baseline = called[place + 1].said, called[0].said
    is_paired = comparison.is_paired(place)
    who, whom = (f"On the same task {group}", baseline) if is_paired else (f"A run of {group}", f"one of {baseline}")
    clear, unclear, open_ = _clauses(comparison, place, whom)
    if clear:
        return "; ".join([f"{who} {brief.joined(clear)}", *([f"no clear difference in {brief.joined(unclear)}"] if unclear else [])]) + "."
    if unclear:
        where = "on the same tasks" if is_paired else "from run to run"
        return f"**No clear difference** in {' or '.join(unclear)} between {group} and {baseline} {where}."
    if open_:
        return f"Whether {group} or {baseline} {_BETTER[next(iter(open_))]} is open."
    what = "No task has a cost or wall time" if is_paired else "Neither cost nor wall time is"
    return f"{what} known for both {group} and {baseline}."


_BETTER = {"cost": "costs less", "wall": "is faster", "speedup": "has the larger speedup"}


def _open(comparison: Comparison, place: int, called: Sequence[Name]) -> str:
    """What bounds and too few values leave open of the group that the heading tells of."""
    open_ = _clauses(comparison, place, "")[2]
    return f"{called[place + 1].said}: {'; '.join(open_.values())}." if open_ else ""


def _completed(comparison: Comparison, place: int, called: Sequence[Name]) -> str:
    """Such as: It completes 53 of 174 tasks; Claude Code 176 of 176."""
    group, baseline = comparison.others[place], comparison.baseline
    if not (group.tasks and baseline.tasks):
        return ""
    known = [_of_tasks(one) for one in (group, baseline)]
    name = "It" if _told(comparison, place) else called[place + 1].said
    return f"{name} completes {known[0]} {'task' if group.tasks == 1 else 'tasks'}; {called[0].said} {known[1]}."


def _of_tasks(group: Group) -> str:
    return f"{'at least ' if group.open_tasks else ''}{group.completed_tasks:,} of {group.tasks:,}"


def _of_other(comparison: Comparison, place: int, called: Sequence[Name]) -> str:
    """What is said of a further group: `TRAE with sonnet-4-5 takes 4.0× as long; its costs are upper bounds, so …`."""
    clear, unclear, open_ = _clauses(comparison, place, "")
    parts = [f"no clear difference in {brief.joined(unclear)}"] if unclear else []
    parts = [*([brief.joined(clear).replace("**", "")] if clear else []), *parts, *open_.values()]
    return f"{called[place + 1].said}{'' if clear else ':'} {'; '.join(parts)}."


_LEGEND = {"≤": " ◁ upper bound.", "≥": " ▷ lower bound.", "?": " ○ unknown."}
"""How tasks are drawn whose ratio is a bound."""


def _caption(comparison: Comparison, called: Sequence[Name]) -> str:
    """What dots, crosses and n are."""
    places, whose = range(len(comparison.others)), called[0].said
    paired = [place for place in places if comparison.is_paired(place)]
    if not paired:
        why = "" if comparison.pair != TASK else f"No group shares a task with {whose}, so runs are not paired. "
        return f"{why}Cross: median of all runs divided by the median of {whose}'s, with its 95% interval. n: runs of the smaller side."
    said = f"Dot: a task, the median of its runs divided by the median of {whose}'s. Cross: median over tasks with its 95% interval. "
    said += "n: tasks that both sides have."
    signs = {span.sign for ratios in comparison.ratios for span in (ratios["cost"].tasks or {}).values()}
    said += "".join(words for sign, words in _LEGEND.items() if sign in signs)
    alone = [called[place + 1].said for place in places if place not in paired]
    if alone:
        said += f" {brief.joined(alone)}: no shared task, so medians of all runs."
    return said


def notes(comparison: Comparison, called: Sequence[Name]) -> list[str]:
    """What the table leaves out, and what its figures rest on."""
    found, whose = list[str](), called[0].said
    if comparison.is_forced:
        basis = "at list price" if comparison.basis == LIST else "as reported"
        found.append(f"Cost is {basis} for all groups: best-known costs would mix reported ones and list prices.")
    for number, (group, name) in enumerate(zip(comparison.groups, called, strict=True)):
        if not group.runs:
            found.append(f"No run of {name.said} matches.")
        if group.unknown_ends:
            verbs = ("does", "it", "it counts") if group.unknown_ends == 1 else ("do", "they", "they count")
            of = f"{group.unknown_ends:,} of {name.said}'s {plural(group.runs, 'run')}"
            found.append(f"{of} {verbs[0]} not say how {verbs[1]} ended; {verbs[2]} as neither completed nor failed.")
        if comparison.pair == TASK and group.taskless:
            found.append(f"{plural(group.taskless, 'run')} of {name.said} {'names' if group.taskless == 1 else 'name'} no task.")
        if not number:
            continue
        ratio, overlap = comparison.ratios[number - 1]["cost"], comparison.overlap[number - 1]
        if ratio.bounded and ratio.verdict is not Verdict.BOUNDS:
            of = f"{ratio.bounded:,} of {name.said}'s {plural(len(ratio.tasks or ()), 'cost ratio')}"
            found.append(f"{of} {'rests' if ratio.bounded == 1 else 'rest'} on bounds; the interval includes what these leave open.")
        if overlap:
            found.append(f"{plural(overlap, 'run')} of {name.said} {'is' if overlap == 1 else 'are'} in {whose}, too.")
    measured = [name.said for group, name in zip(comparison.groups, called, strict=True) if group.of("speedup").runs]
    if measured and "speedup" not in comparison.metrics:
        verb = "has" if len(measured) == 1 else "have"
        few = " comparable ones" if len(measured) == 1 else f" comparable ones, not {FEWEST} each"
        found.append(f"Measured speedups: only {brief.joined(measured)} {verb}{few}, so there is nothing to compare.")
    return found


def too_few_groups(runs: int, name: str) -> str:
    """What is missing where there are not two groups."""
    if not runs:
        return "There is no run that started, so there is nothing to compare."
    whose = f"The {plural(runs, 'run')} are" if runs > 1 else "The only run is"
    return f"{whose} {name}'s: a comparison needs runs of **another agent or model**, or two groups by label."


def chart_caption(comparison: Comparison, metric: str, called: Sequence[Name]) -> str:
    """`List price, all runs that started; Claude Code = 1×`."""
    of = {
        "cost": f"{BASES[comparison.basis.key]}, all runs that started",
        "wall": "where both completed" if comparison.pair == TASK else "completed runs",
        "turns": "all runs that started",
        "speedup": "runs with a comparable baseline",
    }[metric]
    return f"{of[:1].upper()}{of[1:]}; {called[0].said} = 1×"


BASES = {REPORTED.key: "Reported cost", LIST.key: "List price"}
"""What the cost is called above its chart and in its column."""
