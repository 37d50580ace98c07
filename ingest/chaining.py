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
PROCESS = "coalesce(session_id, case when in_stream then source_id end)"
"""What records may have totals in common by: their session, or, where they name none, the stream they stand in."""

RECHAINED = f"runs join rechained on {PROCESS} = rechained.process"
"""The runs that `rechain` looked at."""

_LINKS = f"select run_id, rechained.process, source_id, ordinal, in_stream, {_USAGE} from {RECHAINED}"
_MODELS = (
    f"select run_id, coalesce(model_id, '') as model_id, {', '.join(TOKEN_CLASSES)}, cost_reported_usd"
    f" from model_usage where run_id in (select run_id from {RECHAINED})"
)


def rechain(connection: duckdb.DuckDBPyConnection, processes: str) -> bool:
    """Find some chains anew (`processes`: SQL that selects values of PROCESS) and write what each record added by itself.

    A process of one record needs nothing, unless it had more: it was written as a chain of its own. Returns whether any needed it.
    """
    connection.execute(
        f"create or replace temp table rechained as select {PROCESS} as process from runs where {PROCESS} in ({processes})"
        " group by process having count(*) > 1 or max(chain_position) > 1"
    )
    found = [place for links in _sessions(connection) for place in places(links).items()]
    if not found:
        return False
    connection.register("places", _places_table(found))
    for step in ("06_added", "07_chained_models", "08_chained_runs"):
        connection.execute((_STEPS / f"{step}.sql").read_text())
    connection.unregister("places")
    return True


def _sessions(connection: duckdb.DuckDBPyConnection) -> Iterable[list[Link]]:
    models: dict[str, dict[str, Totals]] = defaultdict(dict)
    for run_id, model_id, *tokens, cost in connection.execute(_MODELS).fetchall():
        models[run_id][model_id] = Totals(_four(tokens), cost or Decimal(0))
    sessions: dict[str, list[Link]] = defaultdict(list)
    for run_id, process, source_id, ordinal, in_stream, *usage in connection.execute(_LINKS).fetchall():
        known = None if all(count is None for count in usage) else _four(usage)
        sessions[process].append(Link(run_id, source_id, ordinal, in_stream, models[run_id], known))
    return sessions.values()


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
