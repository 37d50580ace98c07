"""Transcripts that have grown since they were read: of the later reading, only what the earlier ones do not have is stored.

A live session is ingested again and again. Each reading is a source of its own, which goes on with the source of the earlier one. What
the file says now counts: a copy of a response that an earlier reading has unchanged is not stored twice, and one that the file tells
otherwise now, as the last response of the earlier reading, is kept aside for an undo. So the rows of a file grow as the file does.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from ingest.agents.base import RESPONSE_COLUMNS, RESPONSES
from ingest.store.database import made, run_step
from ingest.store.statements import run
from schemas.errors import StoreError

_SAME = " and ".join(f'earlier."{name}" is not distinct from now."{name}"' for name in RESPONSE_COLUMNS if name != "response_no")

_REPEATED = f"""
select earlier.source_id as earlier_source, earlier.response_no as earlier_no, now.source_id, now.response_no
from earlier_copies as earlier
join copies_now as now on now.source_id = earlier.later_source and {_SAME}
"""


def require_beginnings(connection: duckdb.DuckDBPyConnection, sources: Sequence[str]) -> None:
    """Raises StoreError where another process has taken back what a part of a transcript goes on with."""
    if not sources:
        return
    sql = "select count(*) from (select distinct unnest($sources::varchar[]) as source_id) semi join sources using (source_id)"
    [(there,)] = run(connection, sql, {"sources": list(sources)}).fetchall()
    if there < len(set(sources)):
        raise StoreError("an ingest was undone while files were read that have grown since: nothing was written.", "Ingest them again.")


def note_growth(connection: duckdb.DuckDBPyConnection) -> None:
    """Make `going_on`: the readings of `chosen` that begin with an earlier source of the same transcript."""
    run_step(connection, "grown/going_on")


def settle(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> None:
    """Leave one copy of each response of the files in `going_on`: as their last reading tells it.

    To be called when the copies of all readings are in the store, and the sessions that they belong to are noted.
    """
    if not run(connection, "select 1 from going_on limit 1").fetchone():
        return
    run_step(connection, "grown/copies")
    made(connection, "repeated", _REPEATED)
    run(
        connection,
        f"insert into superseded_{RESPONSES} by name select * exclude (later_source), $ingest_id as superseded_by from earlier_copies"
        " where (source_id, response_no) not in (select (earlier_source, earlier_no) from repeated)",
        {"ingest_id": ingest_id},
    )
    run_step(connection, "grown/settled")


def unsettle(connection: duckdb.DuckDBPyConnection) -> None:
    """Bring back the copies that the ingest in the variable `undone` took the place of: `restored_copies`."""
    run_step(connection, "grown/restored")
