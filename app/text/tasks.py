"""Sentence and matrix of the screen Tasks.

Tasks and agents, with the words and colours of its cells. Pure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

from app.queries.filters import Filters
from app.queries.tasks import OTHERS, TaskTotals
from app.text import html_parts
from app.text.claims import beyond_words
from app.text.formatting import NOT_MEASURED, agent_name, model_name, short
from app.text.html_parts import muted
from app.text.sentences import Said, joined, spelled, upper_first
from schemas.agents import AGENTS
from schemas.catalogue.columns import METRICS_COMPARED
from schemas.catalogue.metrics import BAND
from schemas.text import agreeing, plural
from schemas.units import Unit

Cell = Mapping[str, Any]
Column = tuple[str | None, ...]

MOST_NAMED = 3

MOST_LISTED = 400
"""Tasks in the list on a phone; downloaded tables have all."""

ORDERS = {
    "best": "Measured, best first",
    "apart": "Agents disagree most",
    "cost": f"{METRICS_COMPARED['cost'].label}, high to low",
    "alphabet": "Name",
}
SYMBOLS = {"faster": "↑ ", "same": "= ", "inside_noise": "≈ ", "slower": "↓ "}
"""Signs in place of colours of verdicts."""

LACKS = {"claimed": "no claim", "cost": "not recorded", "duration": "none completed"}

MARKS = {
    "circle": "●",
    "diamond": "◆",
    "square": "■",
    "hexagon": "⬢",
    "hexagon2": "⬢",
    "pentagon": "⬟",
    "star": "★",
    "hexagram": "✶",
    "cross": "✚",
    "x": "✖",
    "triangle-up": "▲",
    "triangle-down": "▼",
    "triangle-left": "◀",
    "triangle-right": "▶",
    "bowtie": "⧓",
    "star-diamond": "✦",
    "diamond-wide": "⬥",
    "diamond-tall": "⬧",
    "circle-cross": "⊕",
    "square-cross": "⊞",
    "hourglass": "⧗",
}
"""Shapes of agents as characters, because a grid cannot draw shapes."""


@dataclass(frozen=True, slots=True)
class Look:
    """Background and text colour for light and dark pages, and the meaning of a cell."""

    paper: tuple[str, str]
    ink: tuple[str, str]
    label: str = ""

    def style(self, *, dark: bool) -> str:
        """Return the style for a grid."""
        return f"background-color:{self.paper[dark]};color:{self.ink[dark]}"

    @property
    def css(self) -> str:
        """Both styles as CSS."""
        return (
            f"background:light-dark({','.join(self.paper)});color:light-dark({','.join(self.ink)})"
        )


_TEXT, _MUTED, _DEEP, _INK = (
    ("#0F1719", "#E4E8E5"),
    ("#565C5E", "#A9B1B1"),
    ("#FFFFFF", "#0B1215"),
    ("#0F1719", "#0B1215"),
)
LOOKS = {
    "faster": Look(("#0C7F79", "#35A79E"), _DEEP, "measured faster"),
    "same": Look(("#DCDCD8", "#424A4C"), _TEXT, "same (±5%)"),
    "inside_noise": Look(("#E9E8E3", "#333A3D"), _TEXT, "inside noise"),
    "slower": Look(("#BD4D44", "#C9675E"), _DEEP, "slower"),
    "breaks": Look(("#856A9E", "#9277B2"), _DEEP, "the change breaks"),
    "done": Look(("#CED9DE", "#2D414D"), _TEXT, "completed, no ratio"),
    "failed": Look(("#EDD3CE", "#452C2C"), _TEXT, "failed"),
    "limit": Look(("#EADEC1", "#41391E"), _TEXT, "limit"),
    "unknown": Look(("#EEEDEA", "#252B2E"), _MUTED, "end unknown"),
    "never": Look(("#FBFAF7", "#11171A"), _MUTED, "never started"),
}

TEAL = (
    *(
        Look(paper, _TEXT)
        for paper in (("#DFEDE9", "#162D2E"), ("#B4D8D4", "#1C4242"), ("#85C2BE", "#235F5C"))
    ),
    Look(("#4AA6A1", "#35A79E"), _INK),
)
BLUE = (
    *(
        Look(paper, _TEXT)
        for paper in (("#E4E9EA", "#1F2C34"), ("#C2D0D7", "#2D414D"), ("#9CB4C2", "#3D5969"))
    ),
    Look(("#6D92A8", "#6FA3C4"), _INK),
)
SCALES = {"measured": TEAL, "claimed": TEAL, "cost": BLUE, "duration": BLUE}
"""Content of a matrix → the single hue for its scale."""

PLAIN = Look(("#FBFAF7", "#11171A"), _MUTED)


@dataclass(frozen=True)
class Task:
    """A row: `names` are those in the logs."""

    key: str
    repo: str | None
    names: tuple[str, ...]
    cells: Mapping[Column, Cell]

    @property
    def name(self) -> str:
        """The commit or name, without the repository."""
        is_within = self.repo and self.key.startswith((f"{self.repo}@", f"{self.repo}/"))
        return self.key[len(self.repo or "") + 1 :] if is_within else self.key

    @property
    def also_called(self) -> str:
        """`vllm_core-0064 +6`: the shortest other name in the logs, and the number of others."""
        others = sorted(
            (name for name in self.names if name != self.name), key=lambda name: (len(name), name)
        )
        return f"{others[0]}{f' +{len(others) - 1}' if len(others) > 1 else ''}" if others else ""


@dataclass(frozen=True)
class Matrix:
    """Tasks in order with their `columns`, and the number of runs without a task."""

    columns: tuple[Column, ...]
    tasks: tuple[Task, ...]
    taskless: int

    @property
    def cells(self) -> list[Cell]:
        """All cells with runs."""
        return [cell for task in self.tasks for cell in task.cells.values()]


def tasks(found: TaskTotals) -> Said:
    """Return the first lines of the screen Tasks, for at least one task.

    An unknown outcome may be a completion.
    """
    only = agent_name(found.agents[0]) if len(found.agents) == 1 else ""
    at_least = "at least " if found.unknown_ends else ""
    number = f"{at_least}{found.completed:,} of {found.tasks:,} tasks"
    if found.tasks == 1:
        was = (
            "was completed"
            if found.completed
            else "is not known to be completed"
            if at_least
            else "was not completed"
        )
        heading = f"{only}'s one task {was}" if only else f"The one task {was}"
    elif only and found.completed:
        heading = f"{only} completed {number}"
    elif only:
        heading = (
            f"{only} {'is not known to have completed any' if at_least else 'completed none'} of "
            f"{found.tasks:,} tasks"
        )
    elif not found.completed:
        heading = (
            f"None of {found.tasks:,} tasks {'is known to be' if at_least else 'was'} completed"
        )
    elif found.completed == found.tasks:
        heading = f"All {found.tasks:,} tasks were completed at least once"
    else:
        verb = agreeing(found.completed, "was")
        heading = f"{upper_first(number)} {verb} completed{'' if at_least else ' at least once'}"
    return Said(f"{heading}{_faster(found)}.", "", _coverage(found))


def no_tasks(found: TaskTotals) -> Said:
    """Return its first lines if no run names a task."""
    second = (
        f"{plural(found.taskless, 'run')} without a commit or task. A label names the task of "
        "runs at ingest:"
    )
    return Said("**No task is known**: none of these runs names one.", second)


def _faster(found: TaskTotals) -> str:
    """Return `; **12 were measured faster, 1 beyond noise**, all by Claude Code`, or a reason."""
    if not found.measured:
        return ""
    if not found.comparable:
        return "; whether any became faster **is unknown**: no measurement can be compared"
    if not found.faster:
        return f"; of {found.comparable:,} that can be compared, **none became faster**"
    beyond = beyond_words(found.faster, found.beyond_noise)
    clause = (
        f"; **{spelled(found.faster)} {agreeing(found.faster, 'was')} measured faster, {beyond}**"
    )
    if len(found.agents) == 1:
        return clause
    if len(found.faster_by) == 1:
        return (
            f"{clause}, {'all ' if found.faster > 1 else ''}by {agent_name(found.faster_by[0][0])}"
        )
    if len(found.faster_by) > MOST_NAMED:
        return f"{clause}, by {spelled(len(found.faster_by))} agents"
    return (
        f"{clause}, "
        f"{joined([f'{number:,} by {agent_name(agent)}' for agent, number in found.faster_by])}"
    )


def _coverage(found: TaskTotals) -> str:
    """Return what a row is, how many names it has, and which runs have no row."""
    what = "One row per task: repository and name; no run tells the commit it started from."
    if found.commits:
        other = "" if found.commits == found.tasks else ", else repository and name"
        names = (
            f" ({plural(found.names, 'name')}, {plural(found.commits, 'commit')})"
            if found.names
            else ""
        )
        what = (
            f"One row per task: repository and base commit{other}, whatever the run folders are "
            f"called{names}."
        )
    unknown = (
        f"Of {plural(found.unknown_ends, 'other')} the logs do not tell."
        if found.unknown_ends
        else ""
    )
    missing = "commit or task" if not found.commits or found.commits < found.tasks else "commit"
    verbs = ("names", "is") if found.taskless == 1 else ("name", "are")
    taskless = (
        f"{plural(found.taskless, 'run')} {verbs[0]} no {missing} and {verbs[1]} not shown."
        if found.taskless
        else ""
    )
    return " ".join(
        filter(None, (what, "Click a cell to open its run, or its runs.", unknown, taskless))
    )


def matrix(found: pa.Table, value: str, order: str = "best", *, by_repo: bool = False) -> Matrix:
    """Return the rows of `app.queries.tasks.cells` as a matrix of one of VALUES.

    The rows are in one of ORDERS, and by repository if `by_repo`.

    Columns with a faster run come first, then by number of runs. Columns of an agent are adjacent;
    unnamed agents come last.
    """
    rows = found.to_pylist()
    of_tasks: dict[str, dict[Column, Cell]] = defaultdict(dict)
    runs: dict[Column, int] = defaultdict(int)
    faster: dict[str | None, int] = defaultdict(int)
    for row in rows:
        if row["task"] is not None:
            column = tuple(row["column"])
            of_tasks[row["task"]][column] = row
            runs[column] += row["runs"]
            faster[column[0]] += row["faster"]
    of_agents: dict[str | None, int] = defaultdict(int)
    for column, number in runs.items():
        of_agents[column[0]] += number

    def place(column: Column) -> tuple[Any, ...]:
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

    made = []
    for key, mine in of_tasks.items():
        names = tuple(sorted({name for cell in mine.values() for name in cell["names"] or ()}))
        made.append(
            Task(
                key,
                next((cell["repo"] for cell in mine.values() if cell["repo"]), None),
                names,
                mine,
            )
        )

    def rank(task: Task) -> Any:
        cells = list(task.cells.values())
        if order == "alphabet":
            return 0
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

    sizes: dict[str | None, int] = defaultdict(int)
    for task in made:
        sizes[task.repo] += 1
    made.sort(
        key=lambda task: (
            (task.repo is None, -sizes[task.repo], task.repo or "") if by_repo else (),
            rank(task),
            task.key,
        )
    )
    return Matrix(
        tuple(sorted(runs, key=place)),
        tuple(made),
        sum(row["runs"] for row in rows if row["task"] is None),
    )


def done_of(of: Sequence[Task], column: Column) -> str:
    """Return `37 of 95 done`: completed tasks of a column among those it worked on; "" for none."""
    mine = [task.cells[column] for task in of if column in task.cells]
    return f"{sum(cell['completed'] > 0 for cell in mine):,} of {len(mine):,} done" if mine else ""


def chosen_of(task: Task, column: Column, filters: Filters) -> Filters:
    """Return the filters for the runs of a cell.

    Its task, its agent, and the model if the column has one.
    """
    chosen = filters.with_values("task", [task.key])
    if column[0] in (None, OTHERS):
        return chosen
    chosen = chosen.with_values("agent", [str(column[0])])
    return (
        chosen.with_values("main-model", [str(column[1])])
        if len(column) > 1 and column[1]
        else chosen
    )


def column_words(column: Column) -> str:
    """Return `TRAE, gpt-5`."""
    return ", ".join(
        [OTHERS if column[0] == OTHERS else agent_name(column[0]), *map(model_name, column[1:])]
    )


def head_of(column: Column) -> str:
    """Return `◆ TRAE`: an agent with its shape."""
    agent = column[0]
    return (
        f"{MARKS[AGENTS[agent].marker]} {agent_name(agent)}"
        if agent in AGENTS
        else column_words(column[:1])
    )


def cell_figure(cell: Cell, value: str) -> Any:
    """Return the number behind the words of a cell, or None."""
    return None if value == "outcome" else cell["measured" if value == "result" else value]


def _unit_of(value: str) -> Unit:
    if value == "cost":
        return Unit.USD
    return Unit.MILLISECONDS if value == "duration" else Unit.RATIO


def cell_words(cell: Cell, value: str) -> str:
    """Return the words of a cell.

    `1.25× (2 of 3)`, `breaks`, `1 of 2 done`, `failed 2×`, `≤ $0.44`.
    """
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
    """Return the kind of a result or outcome as a key of LOOKS."""
    if value == "result" and (cell["verdicts"] or cell["breaks"]):
        return cell_verdict(cell) or "breaks"
    if cell["completed"]:
        return "done"
    return {"not started": "never", "limit": "limit", "ended ?": "unknown", "failed": "failed"}[
        _most_frequent_end(cell)[0]
    ]


def looks_of(cells: Sequence[Cell], value: str) -> dict[int, Look]:
    """Return the look of each cell by its id.

    Its kind for a result, else the step of its value on a scale.
    """
    if value in ("result", "outcome"):
        return {id(cell): LOOKS[cell_kind(cell, value)] for cell in cells}
    scale, ends, looks = SCALES[value], _steps(cells, value), {}
    for cell in cells:
        figure = cell_figure(cell, value)
        looks[id(cell)] = scale[sum(float(figure) > end for end in ends)] if figure else PLAIN
    return looks


def _steps(cells: Sequence[Cell], value: str) -> list[float]:
    """Return the boundaries of a colour scale: equal log steps between 5 % and 95 % quantiles."""
    known = sorted(float(figure) for cell in cells if (figure := cell_figure(cell, value)))
    low, high = (known[len(known) // 20], known[-1 - len(known) // 20]) if known else (1.0, 1.0)
    colours = len(SCALES[value])
    return (
        [low * (high / low) ** (step / colours) for step in range(1, colours)] if high > low else []
    )


def legend(made: Matrix, value: str) -> str:
    """Return a legend of the colours that occur, as HTML."""
    entries = list[tuple[Look, str]]()
    if value in ("result", "outcome"):
        seen = {cell_kind(cell, value) for cell in made.cells}
        entries = [(look, look.label) for key, look in LOOKS.items() if key in seen]
    elif ends := _steps(made.cells, value):
        written = [short(end, _unit_of(value)) for end in ends]
        between = [f"{low} to {high}" for low, high in pairwise(written)]
        labels = [f"up to {written[0]}", *between, f"above {written[-1]}"]
        entries = list(zip(SCALES[value], labels, strict=True))
    parts = ""
    for look, label in entries:
        swatch = 't-never_started"' if look is LOOKS["never"] else f'" style="{look.css}"'
        parts += f'<span><i class="t-sw {swatch}></i>{html_parts.text(label)}</span>'
    return f'<div class="t-key">{parts}</div>'


def task_list(made: Matrix, value: str, filters: Filters) -> str:
    """Return the tasks as HTML cards for a phone, with a chip per agent that links to its runs."""
    looks, parts = looks_of(made.cells, value), list[str]()
    repo: str | None = ""
    for task in made.tasks[:MOST_LISTED]:
        if task.repo != repo:
            repo = task.repo
            parts.append(f'<h2 class="t-h3">{html_parts.text(repo or "no project")}</h2>')
        chips = ""
        for column in made.columns:
            if cell := task.cells.get(column):
                to = html_parts.link("runs", chosen_of(task, column, filters))
                to = html_parts.link("run", filters, run=cell["run_id"]) if cell["run_id"] else to
                said = f"{html_parts.mark(column[0])}{html_parts.text(cell_words(cell, value))}"
                style, about = looks[id(cell)].css, html_parts.text(column_words(column))
                chips += (
                    f'<a class="t-chip" style="{style}" href="{html_parts.text(to)}" '
                    f'target="_self" title="{about}">{said}</a>'
                )
        head = f"<b>{html_parts.text(task.name)}</b> {muted(task.also_called)}"
        parts.append(f'<div class="t-task">{head}<div class="t-chips">{chips}</div></div>')
    left = len(made.tasks) - MOST_LISTED
    return "".join(
        [
            *parts,
            f"<p>{muted(f'{left:,} more tasks are in the table to download')}</p>"
            if left > 0
            else "",
        ]
    )


def matrix_html(made: Matrix, value: str) -> str:
    """Return the matrix as an HTML table of coloured cells, a heading per repository."""
    looks, parts = looks_of(made.cells, value), list[str]()
    repo: str | None = ""
    heads = "".join(
        f'<th scope="col">{html_parts.text(column_words(column))}</th>' for column in made.columns
    )
    for task in made.tasks:
        if task.repo != repo:
            repo = task.repo
            mine = [other for other in made.tasks if other.repo == repo]
            done = "".join(
                f"<td><b>{html_parts.text(done_of(mine, column))}</b></td>"
                for column in made.columns
            )
            parts.append(
                f"<tr><td><b>{html_parts.text(task.repo or 'no project')}</b></td>{done}</tr>"
            )
        cells = ""
        for column in made.columns:
            cell = task.cells.get(column)
            cells += (
                f'<td style="{looks[id(cell)].css}">{html_parts.text(cell_words(cell, value))}</td>'
                if cell
                else "<td></td>"
            )
        parts.append(
            f"<tr><td>{html_parts.text(task.name)} {muted(task.also_called)}</td>{cells}</tr>"
        )
    head = f"<thead><tr><th>Task</th>{heads}</tr></thead>"
    return (
        '<div class="t-scroll"><table '
        f'class="t-table">{head}<tbody>{"".join(parts)}</tbody></table></div>'
    )
