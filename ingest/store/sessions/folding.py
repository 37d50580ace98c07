"""Logs of one session that are records of one run, whichever comes first.

Each process that goes on with a session of Pi, OpenCode, Gemini CLI or Copilot writes a stream of its own, a run by itself. The file of
the session has the messages of all of them, so that they would count twice. Without the file, or with an older copy of it, the streams stay
runs.
The file of a session with one process may tell less than the output of that process: then it is a record of that run.

Claude Code writes a transcript of each session, and with `-p` a result record for each process. The result tells what was paid, the
transcript each response. Both are records of one run: that of the last result of the session, or of the transcript where there is none.

A stream of Claude Code that was cut off is a record of the run with the result of that stream, whichever file has it, and so is a copy of a
result that follows from another one. The transcript of a session without any result is that of its last stream.

A stream of Cursor that was read before it told the id of its run is the beginning of the run with the same session, prompt and start.
"""

from __future__ import annotations

import duckdb

from ingest.agents.base import CHILD_TABLES
from ingest.store.agent_macros import agents_with, macro
from ingest.store.database import made, run_step
from ingest.store.history.records import note_alone
from ingest.store.statements import run
from schemas.rows.kept_run import KEPT_START

_RESUMING = ", ".join((agents_with("has_whole_files"), agents_with("has_late_ids")))
_WITH_TRANSCRIPTS = agents_with("has_transcripts")
_MACROS = macro("has_whole_files") + macro("has_transcripts") + macro("has_late_ids")

_RESUMED = f"select distinct session_id from runs where agent in ({_RESUMING}) and run_id in ({{runs}})"

_JOINED = f"""
select session_id
from runs
where
    agent in ({_WITH_TRANSCRIPTS})
    and session_id in (select session_id from runs where agent in ({_WITH_TRANSCRIPTS}) and run_id in ({{runs}}))
group by session_id
having count(*) > 1 or bool_or(record_kind <> 'transcript' and run_id in (select run_id from run_records where record_kind = 'transcript'))
"""
"""Sessions with several runs, or with a transcript among the records of another run."""

_PARTS = f"""
select run_id
from runs
where
    ((agent in ({_WITH_TRANSCRIPTS}) and record_kind = 'stream') or run_id in (select unnest(part_ids) from runs))
    and (
        run_id in ({{runs}})
        or run_id in (select unnest(part_ids) from runs where run_id in ({{runs}}))
        or session_id in (select session_id from runs where run_id in ({{runs}}))
    )
"""
"""Streams that were cut off, and results that follow from another one, where they may be a part of some runs."""

_HELD = f"""
select records.run_id, records.source_id, ordinal, ingest_id, records.raw ->> '$.run_id' as part_id
from run_records as records
join (select run_id from runs where agent in ({_WITH_TRANSCRIPTS}) and len(part_ids) = 0) as bare using (run_id)
where record_kind = 'stream' and not is_kept and starts_with(records.raw, '{KEPT_START}')
"""
"""Such streams that are records of a result without its stream."""

_REFOLDED = "select whole_id as run_id from folding union select whole_id from moving union select run_id from moving"


def fold(connection: duckdb.DuckDBPyConnection, runs: str) -> bool:
    """Make logs in the sessions of some runs records of the run that they belong to (`runs`: SQL that selects ids).

    Returns whether there were any. Two temporary tables: `folding`, each run that went, its source, and the run that has its records now
    (`whole_id`); `refolded`, the runs that have other records now.
    """
    run(connection, _MACROS)
    is_resumed = bool(made(connection, "resumed", _RESUMED.format(runs=runs)))
    run_step(connection, "records/folding" if is_resumed else "records/no_folding")
    is_held = made(connection, "held", _HELD)
    if made(connection, "parts", _PARTS.format(runs=runs)) or is_held:
        run_step(connection, "records/parts")
    if made(connection, "joined_sessions", _JOINED.format(runs=runs)):
        run_step(connection, "responses/place_in_session")
        run_step(connection, "records/joining")
    if not made(connection, "refolded", _REFOLDED):
        return False
    note_alone(connection, "(select run_id from refolded union select run_id from folding)")
    run_step(connection, "records/folded")
    for table in CHILD_TABLES:
        run(connection, f"delete from {table} where run_id in (select run_id from folding)")
    return True


def unfold(connection: duckdb.DuckDBPyConnection) -> None:
    """Make logs runs again whose run is in `unkept`; they are added to `unkept` and `touched_runs`."""
    run(connection, _MACROS)
    run_step(connection, "undo/unfolded")
