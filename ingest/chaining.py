"""Chains in the store: the places that `ingest.chains` finds, written into runs and model rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from importlib import resources
from typing import Any

import duckdb
import pyarrow as pa

from ingest.chains import TOKEN_CLASSES, Link, Place, Totals, places

_STEPS = resources.files("ingest") / "sql" / "commit"
_USAGE = ", ".join(f"usage_{name}" for name in TOKEN_CLASSES)
_PROCESS = "process_of(session_id, in_stream, source_id)"
ALL_PROCESSES = f"select {_PROCESS} from runs"
RECHAINED = f"runs join rechained on {_PROCESS} = rechained.process"
"""The runs that `rechain` looked at."""

_LINKS = f"select run_id, rechained.process, source_id, ordinal, in_stream, {_USAGE} from {RECHAINED}"
_MODELS = (
    f"select run_id, coalesce(model_id, '') as model_id, {', '.join(TOKEN_CLASSES)}, cost_reported_usd"
    f" from model_usage where run_id in (select run_id from {RECHAINED})"
)


def rechain(connection: duckdb.DuckDBPyConnection, processes: str) -> bool:
    """Find some chains anew (`processes`: SQL that selects some of ALL_PROCESSES) and write what each record added by itself.

    A process of one record needs nothing, unless it had more: it was written as a chain of its own. Returns whether any needed it.
    """
    connection.execute((_STEPS / "00_process.sql").read_text())
    connection.execute(
        f"create or replace temp table rechained as select {_PROCESS} as process from runs where {_PROCESS} in ({processes})"
        " group by process having count(*) > 1 or max(chain_position) > 1"
    )
    found = [place for links in _processes(connection) for place in places(links).items()]
    if not found:
        return False
    connection.register("places", _places_table(found))
    for step in ("08_added", "09_chained_models", "10_chained_runs"):
        connection.execute((_STEPS / f"{step}.sql").read_text())
    connection.unregister("places")
    return True


def _processes(connection: duckdb.DuckDBPyConnection) -> Iterable[list[Link]]:
    models: dict[str, dict[str, Totals]] = defaultdict(dict)
    for run_id, model_id, *tokens, cost in connection.execute(_MODELS).fetchall():
        models[run_id][model_id] = Totals(_four(tokens), cost or Decimal(0))
    processes: dict[str, list[Link]] = defaultdict(list)
    for run_id, process, source_id, ordinal, in_stream, *usage in connection.execute(_LINKS).fetchall():
        known = None if all(count is None for count in usage) else _four(usage)
        processes[process].append(Link(run_id, source_id, ordinal, in_stream, models[run_id], known))
    return processes.values()


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
