"""Findings from comparing a run with others or with its patch, and the records of a chain.

The other runs are in the store. The records of a chain are compared with one another.

They are written at the end of a commit and of a rebuild, from what the store holds then: the order
of files changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import duckdb

from ingest.findings.patch_hints import hints
from ingest.store.database import made, registered, run_step
from ingest.store.sessions import agent_macros
from schemas.catalogue.figures import RUN_FIGURES
from schemas.catalogue.rules import CROSS_CHECKS, PATCH_HINTS
from schemas.rows.source import FindingRow, Severity
from schemas.rows.tables import arrow_columns

_MACROS = f"""
{agent_macros("logs_share_no_id", "has_whole_files")}
create or replace temp macro has_other_ids(agent) as
    logs_share_no_id(agent) or has_whole_files(agent);
"""

_EXAMINED = "select 1 from runs join examined using (run_id) where "
_WARNING = {"severity": Severity.WARNING}
_STEPS: tuple[tuple[str, str, Mapping[str, Severity]], ...] = (
    (
        "03_possible_duplicates",
        (
            "select 1 from examined where session_id is not null group by session_id having "
            "count(*) > 1"
        ),
        _WARNING,
    ),
    ("04_two_logs", f"{_EXAMINED} logs_share_no_id(agent)", _WARNING),
    ("05_copied_sessions", f"{_EXAMINED} has_whole_files(agent)", _WARNING),
    ("07_cut_off", f"{_EXAMINED} record_kind = 'stream' and outcome = 'interrupted'", _WARNING),
    (
        "08_taken_in",
        (
            f"{_EXAMINED} record_kind = 'result' and len(part_ids) = 0 and run_id in "
            "(select run_id from run_records where record_kind = 'stream' and not is_kept)"
        ),
        _WARNING,
    ),
    (
        "06_transcripts",
        "select 1 from responses semi join examined using (run_id)",
        {"warning": Severity.WARNING, "info": Severity.INFO},
    ),
)
"""Steps that write findings, each with a query for the runs they concern: planning a step takes ten
times as long as this check.
"""


def note_cross_checks(connection: duckdb.DuckDBPyConnection, changed: str) -> None:
    """Write the findings of CROSS_CHECKS on some runs and all others of their sessions.

    Of their agents, where ids of logs may differ.

    `changed`: SQL that selects the runs' ids.
    """
    connection.execute(_MACROS)
    made(connection, "changed", changed)
    [(rows,)] = run_step(connection, "cross_checks/01_examined", {"rules": list(CROSS_CHECKS)})
    rows += note_carried_over(connection, "runs semi join examined using (run_id)")
    rows += _note_patch_hints(connection)
    for step, concerned, severities in _STEPS:
        if connection.execute(f"{concerned} limit 1").fetchone():
            [(added,)] = run_step(connection, f"cross_checks/{step}", severities)
            rows += added
    if rows:
        run_step(connection, "cross_checks/09_counts")


_HINTED = """
select run_id from patches semi join changed using (run_id)
union
select run_id from findings semi join changed using (run_id) where rule in (select unnest($rules))
order by run_id
"""
_PATCHED = """
select
    run_id, text,
    case when claimed_scope is distinct from 'micro' then claimed_speedup end as speedup
from patches
join runs using (run_id)
where run_id in (select unnest($run_ids))
order by run_id
"""
_PATCHES_AT_ONCE = 50


def _note_patch_hints(connection: duckdb.DuckDBPyConnection) -> int:
    """Write the hints in the patches of the runs in `changed`, whichever record a patch is from.

    Returns the number of changed findings.
    """
    rules = {"rules": list(PATCH_HINTS)}
    run_ids = [run_id for (run_id,) in connection.execute(_HINTED, rules).fetchall()]
    if not run_ids:
        return 0
    gone = (
        "delete from findings where rule in (select unnest($rules)) and run_id in (select "
        "unnest($run_ids))"
    )
    [(rows,)] = connection.execute(gone, rules | {"run_ids": run_ids}).fetchall()
    for first in range(0, len(run_ids), _PATCHES_AT_ONCE):
        found = []
        some = {"run_ids": run_ids[first : first + _PATCHES_AT_ONCE]}
        for run_id, text, speedup in connection.execute(_PATCHED, some).fetchall():
            # a patch may be anything: a rule that fails on one costs the hints of that patch
            with suppress(Exception):
                found += [(run_id, *finding) for finding in hints(text, speedup)]
        if found:
            with registered(connection, hinted=arrow_columns(FindingRow, zip(*found, strict=True))):
                connection.execute("insert into findings by name select * from hinted")
        rows += len(found)
    return int(rows)


def note_carried_over(connection: duckdb.DuckDBPyConnection, runs: str) -> int:
    """Write the findings on runs with more API time than fits into their wall time.

    Returns their number.

    `runs`: SQL that names a table like `runs`. A commit also calls it before it writes its runs, so
    that these have the right number of findings: if later steps updated that number, DuckDB would
    write all columns of the runs once more (2.6 s of 9 s for 100,000 runs).
    """
    columns = "run_id, duration_api_own_ms, duration_ms"
    if not made(
        connection,
        "carried_over",
        f"select {columns} from {runs} where {RUN_FIGURES['is_carried_over'].sql}",
    ):
        return 0
    [(rows,)] = run_step(connection, "cross_checks/02_carried_over", _WARNING)
    return int(rows)
