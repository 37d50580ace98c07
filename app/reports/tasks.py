"""The matrix of tasks and agents: one row per task, one column per agent, several runs in a cell counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from app.queries import tasks as queries
from app.queries.filters import Filters, this_moment
from app.queries.reading import read_transaction
from app.text import task_cells
from app.text.answers import Answer, heading
from app.text.columns import agent_name
from app.text.formatting import UNKNOWN_NAME
from app.text.task_matrix import Matrix, matrix
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.catalogue.entry import Entry, by_key
from schemas.errors import UsageError
from schemas.text import did_you_mean, plural
from schemas.units import Unit

_UNITS = dict(zip(queries.VALUES, (Unit.RATIO, Unit.SHARE, Unit.RATIO, Unit.RATIO, Unit.USD, Unit.MILLISECONDS), strict=True))
_IN_BRACKETS = "in brackets how many of the runs have one."
_TEXTS = (
    "The median measured ratio against a comparable baseline; else whether the change breaks, else how many runs are done.",
    "done: completed; ended ?: the log does not say how.",
    f"Median of the measured speedups against a comparable baseline; {_IN_BRACKETS}",
    f"Median of the claimed speedups; {_IN_BRACKETS}",
    f"Median cost of the runs that started; {_IN_BRACKETS}",
    f"Median of the wall time of completed runs; {_IN_BRACKETS}",
)
_ABOUT = dict(zip(queries.VALUES, _TEXTS, strict=True))
_SYMBOLS = "↑ measured faster, = same (±5%), ↓ slower."


def tasks(store: Store, filters: Filters, by: Sequence[str], value: str = "result") -> Answer:
    """The matrix of one of VALUES as an answer. Raises UsageError."""
    if value not in queries.VALUES:
        raise UsageError(f"unknown value {value!r}.", f"{did_you_mean(value, queries.VALUES)}Choose from: {', '.join(queries.VALUES)}.")
    with read_transaction(store) as transaction:
        found = queries.cells(transaction, transaction.searched(filters), by)
    return answer(matrix(found, value), value, filters, store.location)


def answer(made: Matrix, value: str, filters: Filters, location: str, measure: CostMeasure = BEST) -> Answer:
    """The matrix in words, with symbols for colours. Programs get columns `x_value` and `x_runs` for each column `x` too."""
    names = {column: " · ".join(UNKNOWN_NAME if name is None else name for name in column) for column in made.columns}
    number = pa.decimal128(38, 9) if value == "cost" else pa.float64()
    kinds = {"task": pa.string(), **dict.fromkeys(names.values(), pa.string()), "runs": pa.int64(), "names": pa.string()}
    for name in names.values():
        kinds |= {f"{name}_value": number, f"{name}_runs": pa.int64()}
    rows = []
    for task in made.tasks:
        row: dict[str, Any] = dict.fromkeys(kinds) | {"task": task.key, "names": ", ".join(task.names)}
        for column, name in names.items():
            cell = task.cells.get(column)
            if cell is None:
                row |= {name: "", f"{name}_runs": 0}
                continue
            symbol = task_cells.SYMBOLS.get(task_cells.verdict(cell), "") if value in ("result", "measured") else ""
            figure = task_cells.number(cell, value)
            if value == "outcome":
                figure = cell["completed"] / cell["known_ends"] if cell["known_ends"] else None
            row |= {name: symbol + task_cells.words(cell, value), f"{name}_value": figure, f"{name}_runs": cell["runs"]}
        rows.append(row | {"runs": sum(cell["runs"] for cell in task.cells.values())})
    entries = by_key(
        Entry("task", "Task", meaning="Repository and commit, else repository and name."),
        Entry("runs", "Runs", Unit.COUNT, meaning="Runs of the task."),
        Entry("names", "Also called", meaning="Names of the task as logged."),
        *(Entry(name, " · ".join(agent_name(part) for part in name.split(" · "))) for name in names.values()),
        *(Entry(f"{name}_value", f"{name}, {value}", _UNITS[value]) for name in names.values()),
        *(Entry(f"{name}_runs", f"{name}, runs", Unit.COUNT) for name in names.values()),
    )
    has_symbols = value in ("result", "measured") and any(cell["verdicts"] for cell in made.cells)
    note = " ".join(
        (
            *([f"{measure.label}."] if value == "cost" else []),
            _ABOUT[value],
            *([_SYMBOLS] if has_symbols else []),
            *([f"{plural(made.untold, 'run')} without a task."] if made.untold else []),
            f"{this_moment():%Y-%m-%d}.",
        )
    )
    table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})
    runs = sum(cell["runs"] for cell in made.cells)
    about = heading(f"{plural(len(rows), 'task')}, {plural(runs, 'run')}, {value}", location, filters)
    shown = ("task", *names.values(), "runs", "names")
    return Answer(table, about, shown, of=entries, kept=("task", *names.values()), note=note)
