"""Who solved what, in words: how many tasks were completed, and how many became verifiably faster."""

from __future__ import annotations

from app.queries.tasks import TaskTotals
from app.text import brief
from app.text.html_parts import agent_name
from app.text.sentences import Said
from schemas.text import plural

MOST_NAMED = 3
"""The most agents that the heading names one by one."""


def tasks(found: TaskTotals) -> Said:
    """What the screen of tasks says first, for at least one task."""
    return Said(f"{_completed(found)}{_faster(found)}.", "", coverage(found))


def no_tasks(found: TaskTotals) -> Said:
    """The same where no run names a task."""
    return Said(
        "**No task is known**: none of these runs names one.",
        f"{plural(found.untold, 'run')} without a commit or task. A label names the task of runs at ingest:",
    )


def _completed(found: TaskTotals) -> str:
    """`176 of 179 tasks were completed at least once`; of a single agent, what it completed. An unknown end may be a completion."""
    only = found.agents[0] if len(found.agents) == 1 else None
    if found.tasks == 1:
        whom = f"{agent_name(only)}'s one task" if only else "The one task"
        was = "was completed" if found.completed else "is not known to be completed" if found.unknown_ends else "was not completed"
        return f"{whom} {was}"
    at_least = "at least " if found.unknown_ends else ""
    number = f"{at_least}{found.completed:,} of {found.tasks:,} tasks"
    if only:
        whom = agent_name(only)
        none = "is not known to have completed any" if at_least else "completed none"
        return f"{whom} completed {number}" if found.completed else f"{whom} {none} of {found.tasks:,} tasks"
    if not found.completed:
        return f"None of {found.tasks:,} tasks {'is known to be' if at_least else 'was'} completed"
    if found.completed == found.tasks:
        return f"All {found.tasks:,} tasks were completed at least once"
    verb = "was" if found.completed == 1 else "were"
    return f"{number[0].upper()}{number[1:]} {verb} completed{'' if at_least else ' at least once'}"


def _faster(found: TaskTotals) -> str:
    """`; **12 became verifiably faster**, all by Claude Code`; what can be said where none did."""
    if not found.measured:
        return ""
    if not found.comparable:
        return "; whether any became faster **is unknown**: no measurement can be compared"
    if not found.faster:
        return f"; of {found.comparable:,} that can be compared, **none became faster**"
    clause = f"; **{brief.number(found.faster)} became verifiably faster**"
    if len(found.agents) == 1:
        return clause
    if len(found.faster_by) == 1:
        return f"{clause}, {'all ' if found.faster > 1 else ''}by {agent_name(found.faster_by[0][0])}"
    if len(found.faster_by) > MOST_NAMED:
        return f"{clause}, by {brief.number(len(found.faster_by))} agents"
    return f"{clause}, {brief.joined([f'{number:,} by {agent_name(agent)}' for agent, number in found.faster_by])}"


def coverage(found: TaskTotals) -> str:
    """What a row is, how many names stand for it, and which runs are in none."""
    if found.commits:
        other = "" if found.commits == found.tasks else ", else repository and name"
        names = f" ({plural(found.names, 'name')}, {plural(found.commits, 'commit')})" if found.names else ""
        what = f"One row per task: repository and base commit{other}, whatever the run folders are called{names}."
    else:
        what = "One row per task: repository and name; no run tells the commit it started from."
    unknown = f"Of {plural(found.unknown_ends, 'other')} the logs do not tell." if found.unknown_ends else ""
    missing = "commit or task" if not found.commits or found.commits < found.tasks else "commit"
    verbs = ("names", "is") if found.untold == 1 else ("name", "are")
    untold = f"{plural(found.untold, 'run')} {verbs[0]} no {missing} and {verbs[1]} not shown." if found.untold else ""
    return " ".join(filter(None, (what, "Click a cell to open its run, or its runs.", unknown, untold)))
