"""What people say about measurements of a file: one row per ingest that said anything new, so that it can be undone."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import pyarrow as pa

from ingest.store.database import run_step
from ingest.store.statements import run

_SCHEMA = pa.schema(dict.fromkeys(("source_id", "key", "value"), pa.string()))


def note_measures(connection: duckdb.DuckDBPyConnection, measures: Mapping[str, Mapping[str, str]], ingest_id: int) -> bool:
    """Note what an ingest says. `measures`: source_id → value by key (`ingest.measurements.given`). Returns whether any of it is new."""
    said = [{"source_id": source, "key": key, "value": value} for source, given in measures.items() for key, value in given.items()]
    if not said:
        return False
    connection.register("said", pa.Table.from_pylist(said, _SCHEMA))
    run_step(connection, "commit/11_given_measures")
    connection.unregister("said")
    run(connection, "insert into source_measures by name select $ingest_id as ingest_id, * from given_measures", {"ingest_id": ingest_id})
    return bool(run(connection, "select 1 from given_measures limit 1").fetchall())
