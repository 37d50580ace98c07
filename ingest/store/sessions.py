"""Sessions: which logs belong to one run, what a grown file adds, which responses are billed.

**Folding.** Each process that continues a session of Pi, OpenCode, Gemini CLI or Copilot writes a
  stream of its own, which is a run. The
session's file has the messages of all processes, so they would count twice. Without the file, or
with an older copy of it, the streams stay
runs. If a session has one process and its file has less than the process's output, the file is a
record of that run.

Claude Code writes a transcript of each session, and with `-p` a result record for each process. The
result has the cost, the transcript each response. Both are records of one run: that of the
session's last result, or of the transcript if there is no result. A cut-off stream of Claude Code
is a record of the run with the stream's result, whichever file has it; so is a copy of a result
that follows from another one. In a session without any result, the transcript belongs to the last
stream.

Telemetry (OpenTelemetry) of a session repeats the figures of its other records: it is a record of
the run of the last one. A part of a trace without its session is a record of the run of that
session.

A stream of Cursor that was read before it named its run is the beginning of the run with the same
session, prompt and start.

**Growth.** A live session is ingested repeatedly. Each reading is a source that resumes the earlier
  one. The current file counts: a
response that an earlier reading has unchanged is not stored twice; one that differs now, such as
the last response of the earlier
reading, is saved for an undo. So the rows of a file grow with the file.

**Billing.** Files of resumed sessions, forks and sub-agents repeat responses of other files, some
  with other figures. Which copy is
billed, and to which session, depends on all copies in the store. So a session's responses are
decided again when copies come or go.
"""

from __future__ import annotations

import duckdb

from ingest.agents.base import CHILD_TABLES, RESPONSE_COLUMNS, RESPONSES
from ingest.store.database import made, run_step
from ingest.store.records import note_alone
from schemas.agents import AGENTS
from schemas.rows.distilled import KEPT_START


def _agents_with(flag: str) -> str:
    """Return the keys of the agents with a property, as SQL strings.

    `flag`: a boolean field of `schemas.agents.Agent`.
    """
    return ", ".join(f"'{agent.key}'" for agent in AGENTS.values() if getattr(agent, flag))


def agent_macros(*flags: str) -> str:
    """Return the statements that make a macro for each property: `has_whole_files(agent)`."""
    return "".join(
        f"create or replace temp macro {flag}(agent) as agent in ({_agents_with(flag)});"
        for flag in flags
    )


_RESUMING = ", ".join((_agents_with("has_whole_files"), _agents_with("has_late_ids")))
_WITH_TRANSCRIPTS = _agents_with("has_transcripts")
_MACROS = agent_macros("has_whole_files", "has_transcripts", "has_late_ids")


_JOINED = f"""
select session_id
from runs
where
    agent in ({_WITH_TRANSCRIPTS})
    and session_id in (select session_id from runs where agent in ({_WITH_TRANSCRIPTS}) and run_id
        in ({{runs}}))
group by session_id
having count(*) > 1 or bool_or(record_kind <> 'transcript' and run_id in (select run_id from
    run_records where record_kind = 'transcript'))
"""
"""Sessions with several runs, or with a transcript among the records of another run."""

_WITH_TELEMETRY = """
select agent, session_id
from runs
semi join (select agent, session_id from runs where run_id in ({runs})) as given using (agent,
    session_id)
group by agent, session_id
having count(*) > 1 and bool_or(run_id in (select run_id from run_records where record_kind =
    'telemetry'))
"""
"""Sessions with several runs, and telemetry among their records."""

_PARTS = f"""
select run_id
from runs
where
    ((agent in ({_WITH_TRANSCRIPTS}) and record_kind = 'stream') or run_id in (select
        unnest(part_ids) from runs))
    and (
        run_id in ({{runs}})
        or run_id in (select unnest(part_ids) from runs where run_id in ({{runs}}))
        or session_id in (select session_id from runs where run_id in ({{runs}}))
    )
"""
"""Cut-off streams, and results that follow another one, that may be a part of given runs."""

_HELD = f"""
select records.run_id, records.source_id, ordinal, ingest_id, records.raw ->> '$.run_id' as part_id
from run_records as records
join (select run_id from runs where agent in ({_WITH_TRANSCRIPTS}) and len(part_ids) = 0) as bare
    using (run_id)
where record_kind = 'stream' and not is_kept and starts_with(records.raw, '{KEPT_START}')
"""
"""Cut-off streams that are records of a result without a stream."""


def fold(connection: duckdb.DuckDBPyConnection, runs: str) -> bool:
    """Make session logs records of the run that they belong to (`runs`: SQL that selects ids).

    Returns whether any were.

    Fills two temporary tables: `folding` (each folded run, its source, and `whole_id`, the run that
    has its records now) and `refolded` (runs whose records changed).
    """
    connection.execute(_MACROS)
    is_resumed = bool(
        made(
            connection,
            "resumed",
            f"select distinct session_id from runs where agent in ({_RESUMING}) "
            f"and run_id in ({runs})",
        )
    )
    run_step(connection, "records/folding" if is_resumed else "records/no_folding")
    is_held = made(connection, "held", _HELD)
    if made(connection, "parts", _PARTS.format(runs=runs)) or is_held:
        run_step(connection, "records/parts")
    if made(connection, "joined_sessions", _JOINED.format(runs=runs)):
        run_step(connection, "responses/place_in_session")
        run_step(connection, "records/joining")
    has_telemetry = connection.execute(
        "select 1 from run_records where record_kind = 'telemetry' limit 1"
    ).fetchone()
    if has_telemetry:
        run_step(connection, "records/traces")
    if has_telemetry and made(connection, "telemetry_sessions", _WITH_TELEMETRY.format(runs=runs)):
        run_step(connection, "responses/place_in_session")
        run_step(connection, "records/telemetry")
    refolded = (
        "select whole_id as run_id from folding union select whole_id from moving union select "
        "run_id from moving"
    )
    if not made(connection, "refolded", refolded):
        return False
    note_alone(connection, "(select run_id from refolded union select run_id from folding)")
    run_step(connection, "records/folded")
    for table in CHILD_TABLES:
        connection.execute(f"delete from {table} where run_id in (select run_id from folding)")
    return True


def unfold(connection: duckdb.DuckDBPyConnection) -> None:
    """Turn the logs of runs in `unkept` back into runs.

    They are added to `unkept` and `touched_runs`.
    """
    connection.execute(_MACROS)
    run_step(connection, "undo/unfolded")


def keep_last_copies(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> None:
    """Keep one copy of each response of the files in `going_on`: that of the last reading.

    Call it when the copies of all readings are in the store and `note_sessions` has saved their
    sessions.
    """
    if not connection.execute("select 1 from going_on limit 1").fetchone():
        return
    run_step(connection, "grown/copies")
    same = " and ".join(
        f'earlier."{name}" is not distinct from now."{name}"'
        for name in RESPONSE_COLUMNS
        if name != "response_no"
    )
    made(
        connection,
        "repeated",
        "select earlier.source_id as earlier_source, earlier.response_no as earlier_no, "
        "now.source_id, now.response_no from earlier_copies as earlier join copies_now as now "
        f"on now.source_id = earlier.later_source and {same}",
    )
    connection.execute(
        f"insert into superseded_{RESPONSES} by name select * exclude (later_source), $ingest_id "
        "as superseded_by from earlier_copies where (source_id, response_no) not in (select "
        "(earlier_source, earlier_no) from repeated)",
        {"ingest_id": ingest_id},
    )
    run_step(connection, "grown/settled")


def note_sessions(connection: duckdb.DuckDBPyConnection, sessions: str) -> bool:
    """Save the sessions to bill again, and their responses. Returns whether there are any.

    `sessions`: SQL that selects session_id. Call it while their copies are in the store.
    """
    if not made(connection, "changed_sessions", sessions):
        return False
    run_step(connection, "responses/01_touched")
    return True


def bill(connection: duckdb.DuckDBPyConnection) -> None:
    """Decide again which responses of the saved sessions are billed.

    Runs whose sums changed are in the table `summed`, to be repriced.
    """
    connection.execute(agent_macros("has_transcripts", "has_whole_files"))
    for step in (
        "place_in_session",
        "02_billed",
        "03_written",
        "04_summed",
        "05_runs",
        "06_beside",
    ):
        run_step(connection, f"responses/{step}")
