"""What the commands that read the store answer: rows, the columns people see of them, and what they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from app import queries
from app.columns import labelled
from app.filters import Filters
from app.terminal import plural
from ingest.store import Store
from schemas.metrics import MODEL_DIMENSIONS, MODEL_METRICS

RUNS_SHOWN = (
    "run_id", "model", "outcome", "cost_own_usd", "duration_ms", "num_turns", "output_tokens", "cost_per_turn_usd", "cache_read_share",
    "parallelism", "claimed_speedup", "findings", "repo", "task", "experiment", "ended_at", "permission_denials", "labels", "source_name",
)  # fmt: skip
MODELS_SHOWN = ("model", "provider", "region", *MODEL_METRICS)
REJECTS_SHOWN = ("source_name", "position", "reason", "detail")
SOURCES_SHOWN = ("name", "documents", "accepted", "duplicates", "rejected", "ignored", "bytes", "container", "received_at")


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


def report(store: Store, filters: Filters, by: Sequence[str], metrics: Sequence[str]) -> Answer:
    """Metrics per group, or in all without `by`; always with the number of runs."""
    chosen = tuple(dict.fromkeys(("runs", *metrics)))
    total = queries.summary(store, filters, metrics=chosen)
    heading = _heading(_runs(total), "run", store, filters)
    return Answer(queries.summary(store, filters, by, chosen), heading, total=total) if by else Answer(total, heading)


def runs(store: Store, filters: Filters, limit: int | None) -> Answer:
    """The dearest runs, or all of them."""
    table = queries.runs(store, filters, limit)
    covered = _runs(queries.summary(store, filters, metrics=("runs",)))
    cut = f"the {table.num_rows:,} dearest of " if table.num_rows < covered else ""
    return Answer(table, cut + _heading(covered, "run", store, filters), RUNS_SHOWN)


def models(store: Store, filters: Filters) -> Answer:
    """Every model's own share, helper models included."""
    table = labelled(queries.models(store, filters), {key: dimension.label for key, dimension in MODEL_DIMENSIONS.items()})
    total = queries.models(store, filters, by=())
    return Answer(table, _heading(_runs(total), "run", store, filters), MODELS_SHOWN, total)


def rejects(store: Store) -> Answer:
    """Every document that could not be read as a run."""
    table = queries.rejects(store)
    return Answer(table, _heading(table.num_rows, "reject", store), REJECTS_SHOWN)


def sources(store: Store) -> Answer:
    """Every file that was read."""
    table = queries.sources(store)
    return Answer(table, _heading(table.num_rows, "source", store), SOURCES_SHOWN)


def _runs(total: pa.Table) -> int:
    return int(total["runs"][0].as_py())


def _heading(count: int, noun: str, store: Store, filters: Filters | None = None) -> str:
    """`57 runs · --model claude-opus-4-6 · tachograph.duckdb`."""
    words = (filters or Filters()).as_words()
    return " · ".join(part for part in (plural(count, noun), words, store.location) if part)
