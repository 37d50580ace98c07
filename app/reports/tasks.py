"""The matrix of tasks and agents: one row per task, one column per agent, several runs in a cell counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from app.queries import tasks as queries
from app.queries.filters.chosen import Filters
from app.queries.read_transaction import read_transaction
from app.text.answers import Answer, heading
from app.text.columns import agent_name
from app.text.formatting import UNKNOWN_NAME, human
from app.text.words.measures import sign_of
from ingest.store.database import Store
from schemas.catalogue.entry import Entry, by_key
from schemas.errors import UsageError
from schemas.text import did_you_mean, plural
from schemas.unit_names import Unit

_UNITS = dict(zip(queries.VALUES, (Unit.SHARE, Unit.RATIO, Unit.RATIO, Unit.USD, Unit.MILLISECONDS), strict=True))
_LACKS = {"claimed": "no claim", "cost": "not recorded", "duration": "none completed"}
"""What a cell says whose runs have no such value; one without runs is a dash."""

_ABOUT = {
    "outcome": "done: completed; ended ?: the log does not say how.",
    "measured": "Median of the measured speedups against a comparable baseline; in brackets how many of the runs have one.",
    "claimed": "Median of the claimed speedups; in brackets how many of the runs have one.",
    "cost": "Median of the best-known cost of runs that started; in brackets how many of the runs have one.",
    "duration": "Median of the wall time of completed runs; in brackets how many of the runs have one.",
}


def tasks(store: Store, filters: Filters, by: Sequence[str], value: str) -> Answer:
    """The matrix of one of VALUES. Programs get a column `x_value` and `x_runs` for each column `x` too. Raises UsageError."""
    if value not in queries.VALUES:
        raise UsageError(f"unknown value {value!r}.", f"{did_you_mean(value, queries.VALUES)}Choose from: {', '.join(queries.VALUES)}.")
    with read_transaction(store) as transaction:
        found = queries.cells(transaction, transaction.searched(filters), by, value).to_pylist()
    of_tasks = [row for row in found if row["task"] is not None]
    runs: Counter[str] = Counter()
    for row in of_tasks:
        row["column"] = " · ".join(UNKNOWN_NAME if name is None else name for name in row["column"])
        runs[row["column"]] += row["runs"]
    columns = sorted(runs, key=lambda name: (-runs[name], name))
    cells = {(row["task"], row["column"]): row for row in of_tasks}
    rows = [_row(task, columns, cells, value) for task in dict.fromkeys(row["task"] for row in of_tasks)]
    entries = by_key(
        Entry("task", "Task", meaning="Repository and commit, else repository and name."),
        Entry("runs", "Runs", Unit.COUNT, meaning="Runs of the task."),
        Entry("names", "Also called", meaning="Names of the task as logged."),
        *(Entry(name, " · ".join(agent_name(part) for part in name.split(" · "))) for name in columns),
        *(Entry(f"{name}_value", f"{name}, {value}", _UNITS[value]) for name in columns),
        *(Entry(f"{name}_runs", f"{name}, runs", Unit.COUNT) for name in columns),
    )
    untold = sum(row["runs"] for row in found if row["task"] is None)
    note = " ".join((_ABOUT[value], *([f"{plural(untold, 'run')} without a task."] if untold else [])))
    about = heading(f"{plural(len(rows), 'task')}, {plural(sum(runs.values()), 'run')}, {value}", store.location, filters)
    return Answer(_table(rows, columns, value), about, ("task", *columns, "runs", "names"), of=entries, kept=("task", *columns), note=note)


def _row(task: str, columns: Sequence[str], cells: Mapping[tuple[str, str], Mapping[str, Any]], value: str) -> dict[str, Any]:
    mine = {name: cells[task, name] for name in columns if (task, name) in cells}
    row: dict[str, Any] = {"task": task, "runs": sum(cell["runs"] for cell in mine.values())}
    row["names"] = ", ".join(sorted({name for cell in mine.values() for name in cell["names"] or ()}))
    for name in columns:
        cell = mine.get(name)
        row |= {
            name: words(cell, value) if cell else "",
            f"{name}_value": cell and cell["value"],
            f"{name}_runs": cell["runs"] if cell else 0,
        }
    return row


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], value: str) -> pa.Table:
    number = pa.decimal128(38, 9) if value == "cost" else pa.float64()
    kinds = {"task": pa.string(), **dict.fromkeys(columns, pa.string()), "runs": pa.int64(), "names": pa.string()}
    for name in columns:
        kinds |= {f"{name}_value": number, f"{name}_runs": pa.int64()}
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})


def words(cell: Mapping[str, Any], value: str) -> str:
    """What a cell says: `1.25× (2 of 3)`, `1 of 2 done`, `failed 2×`."""
    if value == "outcome":
        return _outcome(cell)
    if cell["value"] is None:
        return _unmeasured(cell) if value == "measured" else _LACKS[value]
    bound = sign_of(cell["bounds"]) if value == "cost" else ""
    of = f" ({cell['known']} of {cell['runs']})" if cell["runs"] > 1 else ""
    return f"{bound}{human(cell['value'], _UNITS[value])}{of}"


def _outcome(cell: Mapping[str, Any]) -> str:
    """How many are done; where none is, what became of most of them."""
    runs, completed = cell["runs"], cell["completed"]
    if completed:
        return "done" if runs == 1 else f"{completed} of {runs} done"
    ends = {"not started": cell["never_started"], "limit": cell["limits"], "ended ?": cell["unknown_ends"]}
    ends["failed"] = runs - sum(ends.values())
    most = max(("failed", *ends), key=lambda end: ends[end])
    return most if runs == 1 else f"{most} {ends[most]}×" if ends[most] == runs else f"{most} {ends[most]} of {runs}"


def _unmeasured(cell: Mapping[str, Any]) -> str:
    """Why a cell has no measured ratio, the change's own fault first."""
    reasons = {"broken": "the change fails", "machine_failed": "machine failed", "not_comparable": "not comparable"}
    return next((said for key, said in reasons.items() if cell[key]), "not measured")
