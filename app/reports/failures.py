"""Why runs did not complete: one row per reason, one column per agent (or model, repository, month), and the texts of a reason."""

from __future__ import annotations

import pyarrow as pa

from app.queries import failures as queries
from app.queries.failures import totals
from app.queries.filters import Filters
from app.queries.grouping import UTC_ZONE
from app.queries.reading import read_transaction
from app.text.answers import Answer, heading
from app.text.columns import agent_name
from app.text.formatting import UNKNOWN_NAME
from ingest.store.database import Store
from schemas.catalogue.columns import FAILURE_TEXTS, FAILURES
from schemas.catalogue.entry import Entry, by_key
from schemas.catalogue.failures import REASONS, WHOSE
from schemas.errors import UsageError
from schemas.text import did_you_mean, plural
from schemas.units import Unit

_FIRST = ("reason", "whose")
_LAST = ("runs", "never_started_runs", "lost_ms", "cost_best_usd", "example")


def failures(store: Store, filters: Filters, by: str = "agent", zone: str = UTC_ZONE) -> Answer:
    """The reasons, the largest first and unknown ones last, with a row of all. Raises UsageError."""
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        table, total = queries.failures(transaction, chosen, by, zone)
        facts = totals(transaction, chosen)
    groups = [name for name, _ in (total["columns"].to_pylist() or [[]])[0]]
    names = {group: _column(group or UNKNOWN_NAME, by) for group in groups}
    entries = by_key(
        *(Entry(name, agent_name(group) if by == "agent" else group or UNKNOWN_NAME, Unit.COUNT) for group, name in names.items())
    )
    what = f"{facts['failed']:,} of {plural(facts['runs'], 'run')} did not complete"
    parts = [f"{name} {facts[key]:,}" for key, name in WHOSE.items() if facts[key]]
    started = f"{facts['never_started']:,} of them never started. " if facts["never_started"] else ""
    ends = facts["unknown_ends"]
    note = f"{started}{plural(ends, 'run')} of unknown end {'is' if ends == 1 else 'are'} not counted." if ends else started.strip()
    return Answer(
        _wide(table, names),
        heading(f"{what}{': ' if parts else ''}{', '.join(parts)}", store.location, filters),
        (*_FIRST, *names.values(), *_LAST),
        _wide(total, names).drop_columns([*_FIRST, "example"]) if table.num_rows else None,
        {**FAILURES, **entries},
        (*_FIRST, *names.values(), "runs"),
        note,
    )


def texts(store: Store, filters: Filters, reason: str) -> Answer:
    """The error texts of a reason, numbers and ids masked, the most frequent first. Raises UsageError."""
    if reason not in REASONS:
        raise UsageError(f"unknown reason {reason!r}.", f"{did_you_mean(reason, list(REASONS))}Choose from: {', '.join(REASONS)}.")
    with read_transaction(store) as transaction:
        table = queries.texts(transaction, transaction.searched(filters), reason)
    runs = sum(table["runs"].to_pylist())
    about = heading(f"{plural(runs, 'run')}: {REASONS[reason].label}", store.location, filters)
    return Answer(table, about, ("text", "runs"), of=FAILURE_TEXTS, note=f"Rule: {REASONS[reason].told}.")


def _column(group: str, by: str) -> str:
    """The column of a group; a group that is called like another column says what it is."""
    return f"{by} {group}" if group in FAILURES else group


def _wide(table: pa.Table, names: dict[str, str]) -> pa.Table:
    """The table with a column of counts for each group in the place of the map, behind whose."""
    counted = [dict(row) for row in table["columns"].to_pylist()]
    table = table.drop_columns(["columns"])
    for place, (group, name) in enumerate(names.items(), len(_FIRST)):
        table = table.add_column(place, name, pa.array([row.get(group, 0) for row in counted], pa.int64()))
    return table
