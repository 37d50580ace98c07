"""A run by the beginning of its id, as tables and titles print it."""

from __future__ import annotations

from app.queries.runs import fetch
from ingest.store.database import Store
from schemas.errors import UsageError
from schemas.text import did_you_mean

SHORTEST_PREFIX = 4
"""A shorter beginning of an id is more often a typing mistake."""

MOST_CANDIDATES = 5
"""Runs that an error names where several begin alike."""


def resolve(store: Store, prefix: str) -> str:
    """The id of the run whose id is `prefix` or begins with it. Raises StoreError, and UsageError where none or several do."""
    wanted = prefix.strip().removesuffix("…")
    sql = "select run_id from runs where run_id = $wanted or starts_with(run_id, $wanted) order by run_id <> $wanted, run_id limit $most"
    found = [str(one) for one in fetch(store, sql, {"wanted": wanted, "most": MOST_CANDIDATES + 1})["run_id"].to_pylist()]
    if wanted in found:
        return wanted
    if len(wanted) < SHORTEST_PREFIX:
        raise UsageError(f"{prefix!r} is too short for a run.", f"Give at least the first {SHORTEST_PREFIX} characters of its id.")
    if len(found) > 1:
        listed = ", ".join(found[:MOST_CANDIDATES]) + (" …" if len(found) > MOST_CANDIDATES else "")
        raise UsageError(f"several runs begin with {prefix!r}.", f"Give more of the id: {listed}.")
    if not found:
        raise UsageError(f"no run has the id {prefix!r}.", _near(store, wanted))
    return found[0]


def _near(store: Store, wanted: str) -> str:
    sql = "select run_id from runs where starts_with(run_id, $beginning) order by run_id limit 1000"
    known = fetch(store, sql, {"beginning": wanted[:2]})["run_id"].to_pylist()
    by_beginning = {str(run_id)[: len(wanted)]: str(run_id) for run_id in known}
    meant = did_you_mean(wanted, list(by_beginning))
    return f"{meant}`tachograph runs` lists the runs.".strip()
