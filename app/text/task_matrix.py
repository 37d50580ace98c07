"""The matrix of tasks and agents as screens and tables lay it out: which columns, which order, and where a cell leads. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from app.queries.filters import Filters
from app.queries.tasks import OTHERS
from app.text import html_parts, task_cells
from app.text.html_parts import muted
from schemas.agents import AGENTS
from schemas.catalogue.columns import METRICS_COMPARED

Column = tuple[str | None, ...]

ORDERS = {
    "best": "Measured, best first",
    "apart": "Agents disagree most",
    "cost": f"{METRICS_COMPARED['cost'].label}, high to low",
    "alphabet": "Name",
}
"""The orders of tasks."""


@dataclass(frozen=True)
class Task:
    """A row: `name` is what the task is called within its repository, `names` are those that logs have for it."""

    key: str
    repo: str | None
    names: tuple[str, ...]
    cells: Mapping[Column, task_cells.Cell]

    @property
    def name(self) -> str:
        """The commit or name, without the repository."""
        is_within = self.repo and self.key.startswith((f"{self.repo}@", f"{self.repo}/"))
        return self.key[len(self.repo or "") + 1 :] if is_within else self.key

    @property
    def also_called(self) -> str:
        """`vllm_core-0064 +6`: the shortest name that logs have for it, where that is another, and how many more there are."""
        others = sorted((name for name in self.names if name != self.name), key=lambda name: (len(name), name))
        return f"{others[0]}{f' +{len(others) - 1}' if len(others) > 1 else ''}" if others else ""


@dataclass(frozen=True)
class Matrix:
    """Tasks in order beside `columns`; runs without a task are `untold`."""

    columns: tuple[Column, ...]
    tasks: tuple[Task, ...]
    untold: int

    @property
    def cells(self) -> list[task_cells.Cell]:
        """All cells with runs."""
        return [cell for task in self.tasks for cell in task.cells.values()]


def matrix(found: pa.Table, value: str, order: str = "best", *, by_repo: bool = False) -> Matrix:
    """The rows of `app.queries.tasks.cells` as a matrix that shows one of VALUES, in one of ORDERS, by repository on request.

    Columns: those with a faster run first, then by their runs; the columns of an agent stand together, those without a name last.
    """
    rows = found.to_pylist()
    of_tasks: dict[str, dict[Column, task_cells.Cell]] = defaultdict(dict)
    runs: dict[Column, int] = defaultdict(int)
    faster: dict[str | None, int] = defaultdict(int)
    for row in rows:
        if row["task"] is not None:
            column = tuple(row["column"])
            of_tasks[row["task"]][column] = row
            runs[column] += row["runs"]
            faster[column[0]] += row["faster"]
    firsts: dict[str | None, int] = defaultdict(int)
    for column, number in runs.items():
        firsts[column[0]] += number

    def place(column: Column) -> tuple[Any, ...]:
        first, others = column[0], column[1:]
        is_last = first in (None, OTHERS)
        return is_last, not faster[first], -firsts[first], first or "", None in others, -runs[column], [name or "" for name in others]

    made = []
    for key, mine in of_tasks.items():
        names = tuple(sorted({name for cell in mine.values() for name in cell["names"] or ()}))
        made.append(Task(key, next((cell["repo"] for cell in mine.values() if cell["repo"]), None), names, mine))

    def rank(task: Task) -> Any:
        cells = list(task.cells.values())
        if order == "alphabet":
            return 0
        if order == "cost":
            return -float(sum(cell["cost_sum"] or 0 for cell in cells))
        if order == "apart":
            return -task_cells.spread(cells, value)
        return -max((cell["measured"] or 0 for cell in cells), default=0), -sum(cell["completed"] > 0 for cell in cells)

    sizes: dict[str | None, int] = defaultdict(int)
    for task in made:
        sizes[task.repo] += 1
    made.sort(key=lambda task: ((task.repo is None, -sizes[task.repo], task.repo or "") if by_repo else (), rank(task), task.key))
    return Matrix(tuple(sorted(runs, key=place)), tuple(made), sum(row["runs"] for row in rows if row["task"] is None))


def done_of(tasks: Sequence[Task], column: Column) -> str:
    """`37 of 95 done`: the tasks of a column with a completed run, among those that it worked on; empty for none."""
    mine = [task.cells[column] for task in tasks if column in task.cells]
    return f"{sum(cell['completed'] > 0 for cell in mine):,} of {len(mine):,} done" if mine else ""


def chosen_of(task: Task, column: Column, filters: Filters) -> Filters:
    """The filters that leave the runs of a cell: its task, its agent, and the model where the column has one."""
    chosen = filters.with_values("task", [task.key])
    if column[0] in (None, OTHERS):
        return chosen
    chosen = chosen.with_values("agent", [str(column[0])])
    return chosen.with_values("main-model", [str(column[1])]) if len(column) > 1 and column[1] else chosen


def column_words(column: Column) -> str:
    """`TRAE, gpt-5`."""
    named = [OTHERS if column[0] == OTHERS else html_parts.agent_name(column[0]), *(model_words(name) for name in column[1:])]
    return ", ".join(named)


MARKS = {
    "circle": "●", "diamond": "◆", "square": "■", "hexagon": "⬢", "hexagon2": "⬢", "pentagon": "⬟", "star": "★", "hexagram": "✶",
    "cross": "✚", "x": "✖", "triangle-up": "▲", "triangle-down": "▼", "triangle-left": "◀", "triangle-right": "▶", "bowtie": "⧓",
    "star-diamond": "✦", "diamond-wide": "⬥", "diamond-tall": "⬧", "circle-cross": "⊕", "square-cross": "⊞",
}  # fmt: skip
"""The shapes of agents as characters: a grid draws no others."""


def head_of(column: Column) -> str:
    """`◆ TRAE`: an agent with its shape."""
    agent = column[0]
    return f"{MARKS[AGENTS[agent].marker]} {html_parts.agent_name(agent)}" if agent in AGENTS else column_words(column[:1])


def model_words(model: str | None) -> str:
    """A model as the head of a column has it."""
    return "model not rec." if model is None else model.removeprefix("claude-")


MOST_LISTED = 400
"""Tasks of a list on a phone; the tables that can be downloaded have all."""


def legend(made: Matrix, value: str) -> str:
    """What the colours of cells mean, as HTML."""
    parts = ""
    for look, label in task_cells.legend(made.cells, value):
        swatch = 't-never_started"' if look is task_cells.LOOKS["never"] else f'" style="{look.css}"'
        parts += f'<span><i class="t-sw {swatch}></i>{html_parts.text(label)}</span>'
    return f'<div class="t-key">{parts}</div>'


def task_list(made: Matrix, value: str, filters: Filters) -> str:
    """The tasks one below another for a phone, each with a chip per agent that leads to the runs, as HTML."""
    looks = {id(cell): look for cell, look in zip(made.cells, task_cells.looks(made.cells, value), strict=True)}
    parts: list[str] = []
    repo: str | None = ""
    for task in made.tasks[:MOST_LISTED]:
        if task.repo != repo:
            repo = task.repo
            parts.append(f'<h2 class="t-h3">{html_parts.text(repo or "no repository")}</h2>')
        chips = ""
        for column in made.columns:
            if cell := task.cells.get(column):
                to = (
                    html_parts.link("run", filters, run=cell["run_id"])
                    if cell["run_id"]
                    else html_parts.link("runs", chosen_of(task, column, filters))
                )
                said = f"{html_parts.mark(column[0])}{html_parts.text(task_cells.words(cell, value))}"
                style, about = looks[id(cell)].css, html_parts.text(column_words(column))
                chips += f'<a class="t-chip" style="{style}" href="{html_parts.text(to)}" target="_self" title="{about}">{said}</a>'
        parts.append(
            f'<div class="t-task"><b>{html_parts.text(task.name)}</b> {muted(task.also_called)}<div class="t-chips">{chips}</div></div>'
        )
    left = len(made.tasks) - MOST_LISTED
    return "".join([*parts, f"<p>{muted(f'{left:,} more tasks are in the table to download')}</p>" if left > 0 else ""])
