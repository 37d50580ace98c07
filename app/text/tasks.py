"""Tasks that nobody made faster, their measurements, and the cost of a retry.

The first lines, the table with its words and colours, and the matrix of tasks and agents. Pure.
"""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from app.queries.filters import Filters
from app.queries.grouping import EFFORT
from app.queries.spending import Spend, together
from app.queries.tasks import OTHERS, Standing, having
from app.text import html_parts
from app.text.claims import beyond_words
from app.text.formatting import NOT_MEASURED, agent_name, model_name, short, usd, whole_usd
from app.text.sentences import Doubt, Said, joined
from app.text.table import Col, TextCell, TextTable
from schemas.catalogue.columns import METRICS_COMPARED
from schemas.catalogue.metrics import BAND, NOBODY
from schemas.text import agreeing, plural, visible
from schemas.units import Unit

Cell = Mapping[str, Any]
Side = tuple[str | None, ...]

MOST_NAMED, FIRST_ROWS, MOST_ROWS = 2, 15, 400
"""Agents named in the coverage line, rows of a table at first, and rows of a page."""

ORDERS = {
    "retry": "Cheapest to retry",
    "best": "Measured, best first",
    "apart": "Agents disagree most",
    "cost": f"{METRICS_COMPARED['cost'].label}, high to low",
    "alphabet": "Name",
}
KNOWN = {
    "checked": "Checked",
    "breaks": "The change breaks",
    "not_comparable": "Not comparable",
    "not_measured": "Never measured",
}
"""Groups of tasks that nobody made faster, as choices."""

HELP = {
    "not_comparable": (
        "Measured, but the results cannot be compared",
        "tachograph measure RUN -- COMMAND",
        "on one machine, with a baseline",
    ),
    "not_measured": ("Never measured", "", "the same"),
    "breaks": ("The change breaks the software", "", "retry, then measure"),
}
"""Group that cannot be judged → why, and the command and words that would help."""

STANDS = {
    "same": "measured the same",
    "inside_noise": "inside noise",
    "slower": "measured slower",
    "breaks": "the change breaks",
    "not_comparable": "not comparable",
    "not_measured": NOT_MEASURED,
}

SYMBOLS = {"faster": "↑ ", "same": "= ", "inside_noise": "≈ ", "slower": "↓ "}
"""Signs in place of colours of verdicts."""

LACKS = {"claimed": "no claim", "cost": "not recorded", "duration": "none completed"}

CELLS = {
    "faster": "measured faster",
    "same": "same (±5%)",
    "inside_noise": "inside noise",
    "slower": "slower",
    "breaks": "the change breaks",
    "done": "completed, not comparable",
    "failed": "failed",
    "limit": "limit",
    "unknown": "end unknown",
    "never": "never started",
}
"""Kind of a cell → what its colour means. The colours are in `app/assets/dashboard.css`."""


@dataclass(frozen=True)
class Task:
    """A row: what is known of a task, and its cells."""

    standing: Standing
    cells: Mapping[Side, Cell]

    @property
    def key(self) -> str:
        return self.standing.task

    @property
    def also_called(self) -> str:
        """`vllm_core-0064`: the shortest other name in the logs."""
        names = [name for name in self.standing.names if name != self.key]
        return min(names, key=lambda name: (len(name), name), default="")


@dataclass(frozen=True)
class Matrix:
    """Tasks in order, with their `columns`."""

    columns: tuple[Side, ...]
    tasks: tuple[Task, ...]

    @property
    def cells(self) -> list[Cell]:
        """All cells with runs."""
        return [cell for task in self.tasks for cell in task.cells.values()]


def tasks(
    found: Sequence[Standing], show: str = NOBODY, taskless: int = 0, filters: Filters | None = None
) -> Said:
    """Return the first lines of the screen Tasks, for at least one task.

    `show`: NOBODY, `faster`, or "" for all. An unknown outcome may be a completion.
    """
    faster, checked = having(found, "faster"), having(found, "checked")
    beyond = beyond_words(len(faster), sum(one.is_beyond_noise for one in faster))
    of = f"of {plural(len(found), 'task')}"
    measured = sum(one.verdict != "not_measured" for one in found)
    second = ""
    if show == NOBODY:
        left = len(found) - len(faster)
        heading = f"Nobody made **{left:,} {of}** faster{_retries(checked)}."
        if checked and left > len(checked):
            rest = left - len(checked)
            second = (
                f"The other {rest:,} {agreeing(rest, 'has')} no result that can be compared: "
                "measuring comes before retrying."
            )
    elif show == "faster":
        verb = agreeing(len(faster), "was")
        sure = f", {beyond}" if faster else ""
        heading = f"**{len(faster):,} {of}** {verb} measured faster{sure}."
        if once := sum(not one.is_beyond_noise for one in faster):
            whose = agreeing(once, "has")
            second = f"{once:,} of them {whose} a single measurement each, of unknown noise."
    else:
        done, open_ = (
            sum(getattr(one, key) for one in found) for key in ("is_completed", "is_open")
        )
        at_least = "At least " if open_ else ""
        speed = f"; {len(faster):,} measured faster, {beyond}" if faster else ""
        speed = speed or ("; none measured faster" if measured else "; no result is measured")
        heading = f"{at_least}**{done:,} {of}** {agreeing(done, 'was')} completed{speed}."
        if open_:
            second = (
                f"How {'it' if open_ == 1 else 'they'} ended is not recorded for {open_:,} more."
            )
    return Said(
        heading, second, _coverage(found, faster), tuple(_doubts(found, show, taskless, filters))
    )


def _retries(checked: Sequence[Standing]) -> str:
    """Return `. 59 of them were checked; a retry of these 59 costs about $48`."""
    if not checked:
        return "; none of them can be judged yet"
    number, costs = len(checked), [one for one in checked if one.retry_usd is not None]
    of_checked = f". {number:,} of them {agreeing(number, 'was')} checked"
    if not costs:
        return of_checked
    of = f"these {number:,}" if number == len(costs) else f"{len(costs):,} of these"
    of = "it" if number == 1 else of
    return f"{of_checked}; a retry of {of} costs about {retry_sum(costs)}"


def retry_sum(found: Sequence[Standing]) -> str:
    """Return what a retry of these tasks costs, in whole dollars from ten on: `$48`, `≤ $6.12`."""
    spend = together(Spend(one.retry_usd, one.retry_bounds or "") for one in found)
    total = spend.usd or Decimal(0)
    return whole_usd(Decimal(round(total)) if total >= 10 else total, spend.bounds)


def no_tasks(taskless: int) -> Said:
    """Return its first lines if no run names a task."""
    second = (
        f"{plural(taskless, 'run')} without a commit or task. A label names the task of "
        "runs at ingest, as in --label task=NAME."
    )
    return Said("**No task is known**: none of these runs names one.", second)


def _coverage(found: Sequence[Standing], faster: Sequence[Standing]) -> str:
    """Return `**179 tasks** of 2 projects · 12 measured faster, all by Claude Code · …`."""
    projects = len({one.repo for one in found if one.repo})
    first = f"**{plural(len(found), 'task')}**"
    parts = [f"{first} of {plural(projects, 'project')}" if projects else first]
    if faster:
        agents = {agent for one in faster for agent in one.faster_by}
        whose = [agent_name(agent) for agent in sorted(agents, key=str)]
        by = joined(whose) if len(whose) <= MOST_NAMED else f"{len(whose)} agents"
        every = "all " if len(whose) == 1 and len(faster) > 1 else ""
        parts.append(f"{len(faster):,} measured faster, {every}by {by}")
    if any(one.retry_usd is not None for one in found):
        parts.append("a retry costs the median of the cheapest agent that completed it")
    return " · ".join(parts)


def _doubts(
    found: Sequence[Standing], show: str, taskless: int, filters: Filters | None
) -> list[Doubt]:
    """Return the reservations about the tasks; the heading of the faster ones has its own."""
    chosen, doubts, checked = filters or Filters(), list[Doubt](), having(found, "checked")
    faster = [] if show == "faster" else having(found, "faster")
    once = sum(not one.is_beyond_noise for one in faster)
    bounds = sum(bool(one.retry_bounds) for one in checked)
    unknown = sum(one.retry_usd is None for one in checked)
    open_ = sum(one.is_open for one in found)
    unpriced = [one for one in checked if one.unpriced and one.retry_usd is not None]
    agents = sorted({agent for one in unpriced for agent in one.unpriced}, key=str)
    by = joined([agent_name(agent) for agent in agents])
    for number, text, label, page in (
        (once, "of the faster tasks {have} a single measurement each", "Speedups", "speedups"),
        (bounds, "of the retries {have} a cost that is a bound", "Cost & time", "cost"),
        (
            unknown,
            "of the checked tasks {have} no completed run with a cost",
            "Cost & time",
            "cost",
        ),
        (
            len(unpriced),
            (
                "of the checked tasks {have} completed runs of {by} without a known cost, "
                "which is in no retry"
            ),
            "Cost & time",
            "cost",
        ),
        (open_, "of the tasks {have} runs with no known end, and none completed", "Runs", "runs"),
        (taskless, "of the runs {have} no commit or task and so no row", "Runs", "runs"),
    ):
        if number:
            words = text.format(have=agreeing(number, "has"), by=by)
            doubts.append(Doubt(f"{number:,} {words}", label, html_parts.link(page, chosen)))
    return doubts


def matrix(
    found: pa.Table, standings: Sequence[Standing], value: str = "result", order: str = "retry"
) -> Matrix:
    """Return the rows of `app.queries.tasks.cells` of these tasks as a matrix of one of VALUES.

    The tasks are in one of ORDERS.

    Columns with a faster run come first, then by number of runs. Columns of an agent are adjacent;
    unnamed agents come last.
    """
    known = {one.task for one in standings}
    rows = found.to_pylist()
    of_tasks: dict[str, dict[Side, Cell]] = defaultdict(dict)
    runs: dict[Side, int] = defaultdict(int)
    faster: dict[str | None, int] = defaultdict(int)
    for row in rows:
        faster[row["column"][0]] += row["faster"]
        if row["task"] in known:
            column = tuple(row["column"])
            of_tasks[row["task"]][column] = row
            runs[column] += row["runs"]
    of_agents: dict[str | None, int] = defaultdict(int)
    for column, number in runs.items():
        of_agents[column[0]] += number

    def place(column: Side) -> tuple[Any, ...]:
        first, others = column[0], column[1:]
        is_last = first in (None, OTHERS)
        return (
            is_last,
            not faster[first],
            -of_agents[first],
            first or "",
            None in others,
            -runs[column],
            [name or "" for name in others],
        )

    made = [Task(one, of_tasks[one.task]) for one in standings]

    def rank(task: Task) -> Any:
        cells = list(task.cells.values())
        if order == "alphabet":
            return 0
        if order == "retry":
            return task.standing.retry_usd is None, task.standing.retry_usd or 0
        if order == "cost":
            return -float(sum(cell["cost_sum"] or 0 for cell in cells))
        if order == "best":
            return -max((cell["measured"] or 0 for cell in cells), default=0), -sum(
                cell["completed"] > 0 for cell in cells
            )
        # how far the cells lie apart: the log of largest ÷ smallest value; for results and outcomes
        # also the shares that are done
        known = [float(figure) for cell in cells if (figure := cell_figure(cell, value))]
        apart = math.log(max(known) / min(known)) if len(known) > 1 else 0.0
        shares = [cell["completed"] / cell["known_ends"] for cell in cells if cell["known_ends"]]
        return -apart - (
            max(shares) - min(shares) if shares and value in ("result", "outcome") else 0.0
        )

    made.sort(key=lambda task: (rank(task), task.key))
    return Matrix(tuple(sorted(runs, key=place)), tuple(made))


def chosen_of(task: Task, column: Side, filters: Filters) -> Filters:
    """Return the filters for the runs of a cell.

    Its task, its agent, and the model and effort if the column has them.
    """
    chosen = filters.with_values("task", [task.key])
    if column[0] in (None, OTHERS):
        return chosen
    words = ("agent", "main-model", EFFORT)
    for word, value in zip(words, column, strict=False):
        chosen = chosen.with_values(word, [value]) if value else chosen
    return chosen


def column_words(column: Side) -> str:
    """Return `TRAE, gpt-5`."""
    agent, *names = column
    if agent == OTHERS or not names:
        return agent_name(agent) if agent != OTHERS else OTHERS
    effort = (names[1] or "") if names[1:] else None
    return f"{agent_name(agent)}, {model_name(names[0], effort=effort)}"


def cell_figure(cell: Cell, value: str) -> Any:
    """Return the number behind the words of a cell, or None."""
    return None if value == "outcome" else cell["measured" if value == "result" else value]


def _unit_of(value: str) -> Unit:
    if value == "cost":
        return Unit.USD
    return Unit.MILLISECONDS if value == "duration" else Unit.RATIO


def cell_words(cell: Cell, value: str) -> str:
    """Return the words of a cell.

    `1.25× (2 of 3)`, `breaks`, `1 of 2 done`, `failed 2×`, `≤ $0.44`, `1.25×, a hack`: so others
    judged it.
    """
    words = _cell_words(cell, value)
    if value in LACKS or not cell["hacks"]:
        return words
    return f"{words}, {'a hack' if cell['runs'] == 1 else plural(cell['hacks'], 'hack')}"


def _cell_words(cell: Cell, value: str) -> str:
    known, runs = cell_figure(cell, value), cell["runs"]
    if known is not None:
        written = short(known, _unit_of(value), cell["bounds"] if value == "cost" else "")
        having = cell["measured_known" if value == "result" else f"{value}_known"]
        return f"{written} ({having} of {runs})" if runs > 1 else written
    if value in LACKS:
        return LACKS[value]
    if value == "measured":  # the change's own fault first
        reasons = {"breaks": "breaks", "machine": "machine failed", "uncompared": "not comparable"}
        return next((said for key, said in reasons.items() if cell[key]), NOT_MEASURED)
    if value == "result" and cell["breaks"]:
        what, number = "breaks", cell["breaks"]
    elif cell["completed"]:
        return "done" if runs == 1 else f"{cell['completed']} of {runs} done"
    else:
        what, number = _most_frequent_end(cell)
    return (
        what
        if runs == 1
        else f"{what} {number}×"
        if number == runs
        else f"{what} {number} of {runs}"
    )


def _most_frequent_end(cell: Cell) -> tuple[str, int]:
    ends = {
        "not started": cell["never_started"],
        "limit": cell["limits"],
        "ended ?": cell["unknown_ends"],
    }
    ends["failed"] = cell["runs"] - cell["completed"] - sum(ends.values())
    most = max(("failed", *ends), key=lambda end: ends[end])
    return most, ends[most]


def cell_verdict(cell: Cell) -> str:
    """Return the verdict on the cell's median ratio.

    That of the middle runs, or by the band of ±5 % if they differ.
    """
    verdicts = cell["verdicts"]
    if not verdicts:
        return ""
    first, second = verdicts[(len(verdicts) - 1) // 2], verdicts[len(verdicts) // 2]
    if first == second:
        return str(first)
    return (
        "faster"
        if cell["measured"] > 1 + BAND
        else "slower"
        if cell["measured"] < 1 / (1 + BAND)
        else "same"
    )


def cell_kind(cell: Cell, value: str = "result") -> str:
    """Return the kind of a result or outcome as a key of CELLS."""
    if value == "result" and (cell["verdicts"] or cell["breaks"]):
        return cell_verdict(cell) or "breaks"
    if cell["completed"]:
        return "done"
    return {"not started": "never", "limit": "limit", "ended ?": "unknown", "failed": "failed"}[
        _most_frequent_end(cell)[0]
    ]


def known_words(one: Standing) -> str:
    """Return what is known of a task: `measured the same`, `measured faster once`."""
    if one.verdict == "faster":
        return f"measured faster {'beyond noise' if one.is_beyond_noise else 'once'}"
    return STANDS[one.verdict]


def retry_words(one: Standing) -> str:
    """Return `$0.17`, with the sign of its bound, or "" if no completed run has a cost."""
    return usd(one.retry_usd, one.retry_bounds, "")


def retry_with(one: Standing) -> str:
    """Return the cheapest agent and model that completed a task, "" if none has a cost."""
    if one.retry_usd is None:
        return ""
    return f"{agent_name(one.retry_agent)} {model_name(one.retry_model, '')}".strip()


def retry_command(one: Standing) -> str:
    """Return the command that records a retry as a run of the same task."""
    return f"tachograph run --label task={shlex.quote(visible(one.task))} -- COMMAND"


def task_table(made: Matrix, filters: Filters, *, shown: int = MOST_ROWS) -> str:
    """Return the tasks with their cells, what a retry costs, and the legend below, as HTML."""
    tasks = made.tasks[:shown]

    def first(task: Task) -> TextCell:
        return TextCell(strong=task.key, note=task.also_called)

    def of(column: Side) -> Col:
        def cell(task: Task) -> TextCell | str:
            if not (found := task.cells.get(column)):
                return ""
            to = html_parts.link("runs", chosen_of(task, column, filters))
            to = html_parts.link("run", filters, run=found["run_id"]) if found["run_id"] else to
            kind = f"t-cell t-cell-{cell_kind(found)}"
            return TextCell(cell_words(found, "result"), address=to, kind=kind)

        agent = None if column[0] == OTHERS else column[0]
        mark = "" if column[0] == OTHERS else html_parts.mark(agent)
        return Col(column_words(column).replace(", ", "\n", 1), cell, mark=mark)

    def cheapest(task: Task) -> TextCell | str:
        one = task.standing
        if one.retry_usd is None:
            return ""
        return TextCell(note=retry_with(one), mark=html_parts.mark(one.retry_agent))

    def command(task: Task) -> TextCell:
        return TextCell(mark=html_parts.opened("command", retry_command(task.standing)))

    columns = [
        Col("Task", first),
        Col("What is known", lambda task: known_words(task.standing)),
        *(of(column) for column in made.columns if any(column in one.cells for one in tasks)),
    ]
    if any(task.standing.retry_usd is not None for task in tasks):
        columns += [
            Col("Cheapest that\ncompleted it", cheapest),
            Col("A retry\ncosts", lambda task: TextCell(strong=retry_words(task.standing)), "r"),
            Col("", command),
        ]
    return TextTable(columns, tasks).on_any_screen(kind="t-tasks", legend=legend(tasks))


def legend(tasks: Sequence[Task]) -> str:
    """Return a legend of the colours that occur, as HTML."""
    seen = {cell_kind(cell) for task in tasks for cell in task.cells.values()}
    kinds = [(f"cell-{key}", label) for key, label in CELLS.items() if key in seen - {"never"}]
    return html_parts.legend(("", kinds))


def unjudged_table(found: Sequence[Standing]) -> str:
    """Return why tasks cannot be judged, and what would help, as HTML; "" if all can."""
    counts = {group: len(having(found, group)) for group in HELP}
    rows = [(*HELP[group], number) for group, number in counts.items() if number]
    rows.sort(key=lambda row: -row[-1])
    if not rows:
        return ""
    columns = [
        Col("", lambda row: row[0]),
        Col("Tasks", lambda row: f"{row[3]:,}", "r"),
        Col("What would help", lambda row: TextCell(note=row[2], mark=html_parts.code(row[1]))),
    ]
    other = "the other " if having(found, "checked") else ""
    title = f"Why {other}{sum(row[-1] for row in rows):,} cannot be judged"
    return f'<h2 class="t-h3">{title}</h2>{TextTable(columns, rows).html()}'
