"""What the commands that read the store answer: rows, the columns people see of them, and what they are about."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from app.cli.terminal import plural
from app.queries import runs as run_queries
from app.queries.filters import NO_FILTERS, Filters
from app.queries.read_transaction import read_transaction
from app.text.columns import labelled
from ingest.store.database import Store
from schemas.catalogue.metrics import MODEL_DIMENSIONS, MODEL_METRICS

RUNS_SHOWN = (
    "run_id", "model", "outcome", "cost_own_usd", "duration_ms", "num_turns", "output_tokens", "cost_per_turn_usd", "cache_read_share",
    "parallelism", "claimed_speedup", "findings", "repo", "task", "experiment", "ended_at", "permission_denials", "labels", "source_name",
)  # fmt: skip
MODELS_SHOWN = ("model", "provider", "region", *MODEL_METRICS)
REJECTS_SHOWN = ("source_name", "position", "reason", "detail")
SOURCES_SHOWN = ("name", "kind", "documents", "accepted", "duplicates", "rejected", "ignored", "bytes", "container", "received_at")


@dataclass(frozen=True)
class Answer:
    """What a command found. `shown` names the columns for people, most important first (none: all of them).

    `total` is the row of all groups together, from a query of its own: medians and shares do not add up. `heading` says how
    many runs are covered, of which store, under which filters.
    """

    table: pa.Table
    heading: str
    shown: tuple[str, ...] = ()
    total: pa.Table | None = None


def runs(store: Store, filters: Filters, limit: int | None) -> Answer:
    """The dearest runs, or all of them."""
    with read_transaction(store) as transaction:
        table = run_queries.runs(transaction, filters, limit)
        covered = _runs(run_queries.summary(transaction, filters, metrics=("runs",)))
    cut = f"the {table.num_rows:,} dearest of " if table.num_rows < covered else ""
    return Answer(table, heading(cut + plural(covered, "run"), store.location, filters), RUNS_SHOWN)


def models(store: Store, filters: Filters) -> Answer:
    """Every model's own share, helper models included."""
    with read_transaction(store) as transaction:
        table = labelled(run_queries.models(transaction, filters), {key: dimension.label for key, dimension in MODEL_DIMENSIONS.items()})
        total = run_queries.models(transaction, filters, by=())
    return Answer(table, heading(plural(_runs(total), "run"), store.location, filters), MODELS_SHOWN, total)


def rejects(store: Store) -> Answer:
    """Every document that could not be read as a run."""
    table = run_queries.rejects(store)
    return Answer(table, heading(plural(table.num_rows, "reject"), store.location), REJECTS_SHOWN)


def sources(store: Store) -> Answer:
    """Every file that was read."""
    table = run_queries.sources(store)
    return Answer(table, heading(plural(table.num_rows, "source"), store.location), SOURCES_SHOWN)


def _runs(total: pa.Table) -> int:
    return int(total["runs"][0].as_py())


def heading(what: str, location: str, filters: Filters = NO_FILTERS) -> str:
    """`57 runs · --model claude-opus-4-6 · tachograph.duckdb`."""
    return " · ".join(filter(None, (what, filters.as_words(), location)))
