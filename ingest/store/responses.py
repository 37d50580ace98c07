"""What transcripts tell of responses → the responses that were billed, and the sums of the runs that are made of transcripts.

Resumed, forked and sub-agents' files repeat responses of other files, with other figures: which copy counts, and for which session, follows
from all copies in the store. So it is decided anew whenever copies come or go, for the sessions that have any of them.
"""

from __future__ import annotations

import duckdb

from ingest.store.database import made, run_step

_BILLED = ("02_billed", "03_written", "04_summed", "05_runs", "06_beside")


def note_sessions(connection: duckdb.DuckDBPyConnection, sessions: str) -> bool:
    """Note some sessions (SQL that selects session_id) and all responses that they have copies of. Returns whether there are any sessions.

    To be called while these copies are in the store.
    """
    if not made(connection, "changed_sessions", sessions):
        return False
    run_step(connection, "responses/01_touched")
    return True


def bill(connection: duckdb.DuckDBPyConnection) -> None:
    """Decide the responses of the noted sessions anew. `summed`: the runs with other sums now, which must be priced again."""
    for step in ("place_in_session", *_BILLED):
        run_step(connection, f"responses/{step}")
