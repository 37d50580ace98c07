"""Streams of a session whose file holds all of them: records of one run, whichever comes first.

Each process that goes on with a session of Pi writes a stream of its own, a run by itself. The file of the session has the messages of
all of them, so that they would count twice. Without the file, or with an older copy of it, the streams stay runs.
"""

from __future__ import annotations

import duckdb

from ingest.agents.base import CHILD_TABLES
from ingest.store.database import run_step
from ingest.store.history.records import note_alone
from ingest.store.statements import run
from schemas.agents import AGENTS

_AGENTS = ", ".join(f"'{agent.key}'" for agent in AGENTS.values() if agent.has_whole_files)
_MACRO = f"create or replace temp macro has_whole_files(agent) as agent in ({_AGENTS})"


def fold(connection: duckdb.DuckDBPyConnection, runs: str) -> bool:
    """Make the streams in the sessions of some runs records of the run of their session (`runs`: SQL that selects ids).

    Returns whether there were any. `folding`, a temporary table: each run that went, its source, and the run that has its records now,
    `whole_id`.
    """
    run(
        connection,
        f"create or replace temp table resumed as select distinct session_id from runs where agent in ({_AGENTS}) and run_id in ({runs})",
    )
    has_any = run(connection, "select 1 from resumed limit 1").fetchone()
    run_step(connection, "records/folding" if has_any else "records/no_folding")
    if not has_any or not run(connection, "select 1 from folding limit 1").fetchone():
        return False
    note_alone(connection, "folding_runs")
    run_step(connection, "records/folded")
    for table in CHILD_TABLES:
        run(connection, f"delete from {table} where run_id in (select run_id from folding)")
    return True


def unfold(connection: duckdb.DuckDBPyConnection) -> None:
    """Make streams runs again whose session's run is in `unkept`; they are added to `unkept` and `touched_runs`."""
    run(connection, _MACRO)
    run_step(connection, "undo/unfolded")
