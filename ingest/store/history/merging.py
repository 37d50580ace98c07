"""A run of several records: the figures of each, and what only another than the kept one has.

All of it is made again from the records whenever one comes or goes, so that their order changes nothing.
"""

from __future__ import annotations

from ingest.store.database import Writer, made, run_step
from ingest.store.history.borrowing import borrow

_STEPS = ("telling", "lent", "counted_cost", "merged")


def merge(writer: Writer, runs: str) -> bool:
    """Give some runs what all their records tell (`runs`: SQL that selects their ids).

    Returns whether there are any. `repriced` has those that must be priced again: with another cost, day, model or findings.
    """
    connection = writer.connection
    several = f"select distinct run_id from run_records semi join ({runs}) using (run_id) where told is not null"
    if not made(connection, "merging", several):
        return False
    for step in _STEPS:
        run_step(connection, f"records/{step}")
    borrow(writer)
    run_step(connection, "records/cleared")
    return True
