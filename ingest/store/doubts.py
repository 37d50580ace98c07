"""Findings on figures that only the store can doubt: those of a chain, and of one run beside another.

They are written at the end of a commit and of a rebuild, from what the store holds then: the order of files changes nothing.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa

from ingest.store.database import run_step
from schemas.agents import AGENTS
from schemas.rows.source import Severity

DOUBTS = {
    "api_time_beyond_wall": "More API time than fits into the wall time: cost and API time seem to include calls of an earlier process.",
    "possible_duplicate": "Another run has the same figures: probably a copy of the record without its id, or the agent's other log of it.",
}
"""The rules and what each looks for, in a sentence."""

STEPS = ("01_examined", "02_carried_over", "03_possible_duplicates", "04_two_logs", "05_counts")

_AGENTS = ", ".join(f"'{agent.key}'" for agent in AGENTS.values() if agent.logs_share_no_id)

_HAS_TWO_LOGS = "select 1 from runs semi join examined using (run_id) where logs_share_no_id(agent) limit 1"


def note_doubts(connection: duckdb.DuckDBPyConnection, changed: str) -> None:
    """Write the findings of DOUBTS on some runs, and on all others of their sessions or, where logs share no id, of their agents.

    `changed`: SQL that selects the runs' ids.
    """
    connection.execute(f"create or replace temp macro logs_share_no_id(agent) as agent in ({_AGENTS})")
    connection.execute(f"create or replace temp table changed as {changed}")
    rules = {"rule": list(DOUBTS), "severity": [Severity.WARNING] * len(DOUBTS)}
    connection.register("doubts", pa.table({name: pa.array(values, pa.string()) for name, values in rules.items()}))
    for step in STEPS:
        if step != "04_two_logs" or connection.execute(_HAS_TWO_LOGS).fetchone():
            run_step(connection, f"doubts/{step}")
    connection.unregister("doubts")
