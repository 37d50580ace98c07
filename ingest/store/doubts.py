"""Findings on figures that only the store can doubt: those of a chain, and of one run beside another.

They are written at the end of a commit and of a rebuild, from what the store holds then: the order of files changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from ingest.store.agent_macros import macro
from ingest.store.database import made, run_step
from ingest.store.statements import run
from schemas.catalogue.figures import RUN_FIGURES
from schemas.rows.source import Severity

DOUBTS = {
    "api_time_beyond_wall": "More API time than fits into the wall time: cost and API time seem to include calls of an earlier process.",
    "cut_off": "The stream of the run ends without its result: tokens and cost are lower bounds, or not known.",
    "possible_duplicate": "Another run has the same figures, or begins alike: probably a copy, or the agent's other log of the session.",
    "transcript_differs": "The result records of a session and its transcript have different tokens: calls outside the transcript, mostly.",
}
"""The rules and what each looks for, in a sentence."""

_MACROS = f"""
{macro("logs_share_no_id")}
{macro("has_whole_files")}
create or replace temp macro has_other_ids(agent) as logs_share_no_id(agent) or has_whole_files(agent);
"""

_SHARED_SESSIONS = "select 1 from examined where session_id is not null group by session_id having count(*) > 1 limit 1"
_TWO_LOGS = "select 1 from runs semi join examined using (run_id) where logs_share_no_id(agent) limit 1"
_COPIED = "select 1 from runs semi join examined using (run_id) where has_whole_files(agent) limit 1"
_STREAMS = "select 1 from run_records semi join examined using (run_id) where record_kind = 'stream' limit 1"
_TAKEN_IN = "select 1 from run_records semi join examined using (run_id) where record_kind = 'stream' and not is_kept limit 1"
_TRANSCRIBED = "select 1 from responses semi join examined using (run_id) limit 1"
_WARNING = {"severity": Severity.WARNING}
_DOUBTFUL: tuple[tuple[str, str, Mapping[str, Severity]], ...] = (
    ("03_possible_duplicates", _SHARED_SESSIONS, _WARNING),
    ("04_two_logs", _TWO_LOGS, _WARNING),
    ("05_copied_sessions", _COPIED, _WARNING),
    ("07_cut_off", _STREAMS, _WARNING),
    ("08_taken_in", _TAKEN_IN, _WARNING),
    ("06_transcripts", _TRANSCRIBED, {"warning": Severity.WARNING, "info": Severity.INFO}),
)
"""The steps that write findings, and what tells whether there are runs for them: a step without any takes ten times as long to plan."""


def note_doubts(connection: duckdb.DuckDBPyConnection, changed: str) -> None:
    """Write the findings of DOUBTS on some runs, and on all others of their sessions or, where the ids of logs may differ, of their agents.

    `changed`: SQL that selects the runs' ids.
    """
    run(connection, _MACROS)
    made(connection, "changed", changed)
    [(rows,)] = run_step(connection, "doubts/01_examined", {"rules": list(DOUBTS)})
    rows += note_carried_over(connection, "runs semi join examined using (run_id)")
    for step, doubtful, severities in _DOUBTFUL:
        if run(connection, doubtful).fetchone():
            [(added,)] = run_step(connection, f"doubts/{step}", severities)
            rows += added
    if rows:
        run_step(connection, "doubts/09_counts")


def note_carried_over(connection: duckdb.DuckDBPyConnection, runs: str) -> int:
    """Write the findings on runs with more API time than fits into their wall time. Returns their number.

    `runs`: SQL that names a table like `runs`. A commit also calls it before it writes its runs, so that these have the right number of
    findings: if doubts updated that number, DuckDB would write all columns of the runs once more (2.6 s of 9 s for 100,000 runs).
    """
    columns = "run_id, duration_api_own_ms, duration_ms"
    if not made(connection, "carried_over", f"select {columns} from {runs} where {RUN_FIGURES['is_carried_over'].sql}"):
        return 0
    [(rows,)] = run_step(connection, "doubts/02_carried_over", {"severity": Severity.WARNING})
    return int(rows)
