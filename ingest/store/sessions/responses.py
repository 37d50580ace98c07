"""Copies of responses in transcripts → the billed responses, and the sums of the runs that are made of transcripts.

Files of resumed sessions, forks and sub-agents repeat responses of other files, some with other figures. Which copy is billed, and to which
session, depends on all copies in the store. So the responses of a session are decided again whenever copies of them are added or removed.
"""

from __future__ import annotations

import duckdb

from ingest.store.agent_macros import macro
from ingest.store.database import made, run_step
from ingest.store.statements import run

_BILLED = ("02_billed", "03_written", "04_summed", "05_runs", "06_beside")


def note_sessions(connection: duckdb.DuckDBPyConnection, sessions: str) -> bool:
    """Note the sessions to decide again, and their responses. Returns whether there are any sessions.

    `sessions`: SQL that selects session_id. Call it while their copies are in the store.
    """
    if not made(connection, "changed_sessions", sessions):
        return False
    run_step(connection, "responses/01_touched")
    return True


def bill(connection: duckdb.DuckDBPyConnection) -> None:
    """Decide the responses of the noted sessions again. The runs whose sums changed are in the table `summed`: price them again."""
    run(connection, macro("has_transcripts"))
    for step in ("place_in_session", *_BILLED):
        run_step(connection, f"responses/{step}")
