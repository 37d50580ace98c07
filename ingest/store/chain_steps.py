"""Chains in the store: the places that `ingest.store.chains` finds, written into runs and model rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from importlib import resources
from typing import Any

import duckdb
import pyarrow as pa

from ingest.store.chains import TOKEN_CLASSES, Link, Place, Totals, carries, is_assumed, places
from schemas.rows.source import Severity

_STEPS = resources.files("ingest.store") / "sql" / "commit"
_USAGE = ", ".join(f"usage_{name}" for name in TOKEN_CLASSES)
_PROCESS = "process_of(session_id, in_stream, source_id)"
ALL_PROCESSES = f"select {_PROCESS} from runs"
RECHAINED = f"runs join rechained on {_PROCESS} = rechained.process"
"""The runs that `rechain` looked at."""

ASSUMED, ASSUMED_MEANING = "cumulative_assumed", "The record's totals are taken to go on from an earlier one; it does not say so itself."
"""The rule of findings on chains, and what it means."""

_LINKS = f"select run_id, {_PROCESS}, source_id, ordinal, in_stream, {_USAGE} from runs where run_id in "
_MODELS = (
    f"select run_id, coalesce(model_id, '') as model_id, {', '.join(TOKEN_CLASSES)}, cost_reported_usd from model_usage where run_id in "
)


def rechain(connection: duckdb.DuckDBPyConnection, processes: str) -> bool:
    """Find some chains anew (`processes`: SQL that selects some of ALL_PROCESSES) and write what each record added by itself.

    A process of one record needs nothing, unless it had more: it was written as a chain of its own. Returns whether any needed it.
    """
    _run(connection, "00_process")
    connection.execute(f"create or replace temp table linked as select distinct process from ({processes}) as given(process)")
    carried = _carried(connection)
    connection.execute(
        f"create or replace temp table rechained as select {_PROCESS} as process from runs where {_PROCESS} in (select process from linked)"
        " group by process having count(*) > 1 or max(chain_position) > 1 or bool_or(run_id in (select unnest($carried)))",
        {"carried": [*carried.keys(), *carried.values()]},
    )
    links = _links(connection, f"select run_id from {RECHAINED}")
    found = places(links, carried)
    if not found:
        return False
    connection.register("places", _places_table(list(found.items())))
    for step in ("09_added", "10_chained_models", "11_chained_runs"):
        _run(connection, step)
    connection.unregister("places")
    _note_assumed(connection, _assumed({link.run_id: link for link in links}, found))
    return True


def _assumed(links: Mapping[str, Link], found: Mapping[str, Place]) -> dict[str, str]:
    """Records that may have started from zero → the one that each is taken to continue."""
    continued = {run_id: place.former for run_id, place in found.items() if place.former in links}
    return {run_id: earlier for run_id, earlier in continued.items() if earlier and is_assumed(links[run_id], links[earlier])}


def _note_assumed(connection: duckdb.DuckDBPyConnection, assumed: Mapping[str, str]) -> None:
    connection.execute(f"delete from findings where rule = $rule and run_id in (select run_id from {RECHAINED})", {"rule": ASSUMED})
    columns = {"run_id": list(assumed), "former": list(assumed.values())}
    connection.register("assumed", pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}))
    connection.execute((_STEPS / "12_assumed.sql").read_text(), {"rule": ASSUMED, "severity": Severity.INFO})
    connection.unregister("assumed")


def _run(connection: duckdb.DuckDBPyConnection, step: str) -> None:
    connection.execute((_STEPS / f"{step}.sql").read_text())


def _carried(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Records that go on from one of another session in their stream → that one. The processes of both join the `linked` ones."""
    while True:
        _run(connection, "08_neighbours")
        pairs: list[tuple[str, str]] = connection.execute("select run_id, former from neighbours").fetchall()
        if not pairs:
            return {}
        links = {link.run_id: link for link in _links(connection, "select unnest([run_id, former]) from neighbours")}
        carried = {later: former for later, former in pairs if carries(links[later], links[former])}
        ends = {links[run_id].process for pair in carried.items() for run_id in pair}
        sql = "insert into linked select unnest($ends) except select process from linked"
        [(joined,)] = connection.execute(sql, {"ends": list(ends)}).fetchall()
        if not joined:
            return carried


def _links(connection: duckdb.DuckDBPyConnection, run_ids: str) -> list[Link]:
    models: dict[str, dict[str, Totals]] = defaultdict(dict)
    for run_id, model_id, *tokens, cost in connection.execute(f"{_MODELS} ({run_ids})").fetchall():
        models[run_id][model_id] = Totals(_four(tokens), cost or Decimal(0))
    rows = connection.execute(f"{_LINKS} ({run_ids})").fetchall()
    return [_link(row, models[row[0]]) for row in rows]


def _link(row: tuple[Any, ...], models: dict[str, Totals]) -> Link:
    run_id, process, source_id, ordinal, in_stream, *usage = row
    known = None if all(count is None for count in usage) else _four(usage)
    return Link(run_id, process, source_id, ordinal, in_stream, models, known)


def _four(counts: list[Any]) -> tuple[int, int, int, int]:
    first, second, third, fourth = (count or 0 for count in counts)
    return first, second, third, fourth


def _places_table(found: list[tuple[str, Place]]) -> pa.Table:
    return pa.table(
        {
            "run_id": pa.array([run_id for run_id, _ in found], pa.string()),
            "chain_id": pa.array([place.chain_id for _, place in found], pa.string()),
            "position": pa.array([place.position for _, place in found], pa.int64()),
            "former": pa.array([place.former for _, place in found], pa.string()),
        }
    )
