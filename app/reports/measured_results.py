"""What `tachograph verdicts` and `tachograph measurements` answer, as `app.reports.results` does for the other commands."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from app.queries import measured as queries
from app.queries.filters import Filters
from app.queries.grouping import UTC_ZONE
from app.queries.reading import read_transaction
from app.text.answers import Answer, heading
from app.text.words.measured import INGEST_HINT, NOTHING_MATCHES, NOTHING_MEASURED, band_words, cost_per
from ingest.store.database import Store
from schemas.catalogue.columns import MEASUREMENTS, PUBLISHED, VERDICT_GROUPS, VERDICTS
from schemas.catalogue.metrics import BAND, MIN_PAIRS, QUADRANTS
from schemas.text import plural

VERDICTS_KEPT = ("title", "agent", "claimed_speedup", "measured_speedup", "verdict", "claim_verdict")
VERDICTS_SHOWN = (
    *VERDICTS_KEPT, "reference_verdict", "why", "cost_own_usd", "claimed_evidence", "measured_low", "measured_high", "overclaim_factor",
    "metric", "model", "run_id", "quadrant",
)  # fmt: skip
GROUPS_SHOWN = (
    "runs", "runs_measured", "runs_faster", "runs_same", "runs_slower", "cost_per_faster", "runs_compared",
    "cost_per_faster_compared", "runs_failed",
    "runs_not_comparable", "runs_reached", "cost_per_reached", "pairs", "claimed_over_measured", "wrong_sign_share", "kept_share",
    "cost_best_usd",
)  # fmt: skip
MEASUREMENTS_SHOWN = (
    "source_name", "variant", "metric", "statistic", "value", "unit", "benchmark", "joined_run_id", "n", "format", "agent", "commit_full",
    "status", "unjoined",
)  # fmt: skip
PUBLISHED_SHOWN = (
    "repo", "agent", "model", "tasks", "runs_q1", "runs_q2", "runs_q3", "runs_q4", "true_success_share", "reached_share",
)  # fmt: skip
UNJOINED_SHOWN = ("source_name", "unjoined", "rows", "variant", "agent", "model", "commit_full", "format")


def verdicts(store: Store, filters: Filters, limit: int | None, *, every: bool = False, band: float = BAND) -> Answer:
    """Runs that were measured, with what they claimed; with `every` also those that were not. `band`: see `BAND`."""
    with read_transaction(store) as transaction:
        transaction.judge_within(band)
        chosen = transaction.searched(filters)
        [facts] = queries.summary(transaction, chosen, metrics=("runs", "runs_measured")).to_pylist()
        table = queries.verdicts(transaction, chosen, queries.EVERY if every else queries.MEASURED, limit)
        values = queries.count(transaction)
    about = heading(f"{facts['runs_measured']:,} of {plural(facts['runs'], 'run')} measured", store.location, filters)
    note, available = band_words(band) if table.num_rows else _nothing(values), facts["runs" if every else "runs_measured"]
    return Answer(table, about, VERDICTS_SHOWN, of=VERDICTS, kept=VERDICTS_KEPT, note=note, available=available)


def _nothing(values: int) -> str:
    """Why there is nothing to see where the store has so many measured values."""
    return NOTHING_MATCHES if values else f"{NOTHING_MEASURED} {INGEST_HINT}"


def groups(store: Store, filters: Filters, by: Sequence[str], zone: str = UTC_ZONE, band: float = BAND) -> Answer:
    """Verdicts, cost per verified speedup and calibration by group. `band`: see `BAND`."""
    with read_transaction(store) as transaction:
        transaction.judge_within(band)
        chosen = transaction.searched(filters)
        table = with_costs(queries.summary(transaction, chosen, by, zone=zone))
        total = with_costs(queries.summary(transaction, chosen))
        values = queries.count(transaction)
    [facts] = total.to_pylist()
    quadrants = QUADRANTS if any(facts[key] for key in QUADRANTS) else ()
    shown = (*by, *GROUPS_SHOWN[:6], *quadrants, *GROUPS_SHOWN[6:])
    about = heading(f"{facts['runs_measured']:,} of {plural(facts['runs'], 'run')} measured", store.location, filters)
    note = f"{band_words(band)} Calibration of claims needs {MIN_PAIRS} runs that were claimed and measured."
    note = note if facts["runs_measured"] else _nothing(values)
    return Answer(table, about, shown, total, VERDICT_GROUPS, (*by, *GROUPS_SHOWN[:6]), note)


def with_costs(table: pa.Table) -> pa.Table:
    """The table with costs per verified speedup and per reference reached in words, `none for $7.79` where there is none."""
    rows = table.to_pylist()
    for key, (count, cost, bounds, of_runs) in _COSTS.items():
        words = [cost_per(row[f"{key}_usd"], row[cost], row[count], row[of_runs], row[bounds]) for row in rows]
        table = table.append_column(key, pa.array(words, pa.string()))
    return table


_COSTS = {
    "cost_per_faster": ("runs_faster", "cost_best_usd", "cost_best_bounds", "runs_compared"),
    "cost_per_faster_compared": ("runs_faster", "cost_compared_runs_usd", "cost_compared_runs_bounds", "runs_compared"),
    "cost_per_reached": ("runs_reached", "cost_best_usd", "cost_best_bounds", "runs_measured"),
}
"""Column in words → (runs that count, cost of all, its bounds, runs that were judged)."""


def published(store: Store) -> Answer:
    """Published judgements by repository, agent and model."""
    table = queries.published(store)
    about = heading(plural(sum(table["tasks"].to_pylist()), "published judgement"), store.location)
    note = "" if table.num_rows else "No published judgement was ingested: a table with commit, agent and hard, target or quadrant."
    return Answer(table, about, PUBLISHED_SHOWN, of=PUBLISHED, kept=PUBLISHED_SHOWN, note=note)


def measurements(store: Store, filters: Filters, limit: int | None) -> Answer:
    """Every measured value, with the run whose change was measured."""
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        table = queries.measurements(transaction, chosen, limit)
        total = queries.count(transaction)
    about = heading(plural(total, "measured value") if not filters else plural(table.num_rows, "measured value"), store.location, filters)
    note = "" if table.num_rows else _nothing(total)
    return Answer(table, about, MEASUREMENTS_SHOWN, of=MEASUREMENTS, kept=MEASUREMENTS_SHOWN[:6], note=note)


def unjoined(store: Store) -> Answer:
    """Measured values that belong to no run, and why."""
    with read_transaction(store) as transaction:
        table, total = queries.unjoined(transaction), queries.count(transaction)
    values = sum(table["rows"].to_pylist())
    about = heading(f"{values:,} of {plural(total, 'measured value')} belong to no run", store.location)
    return Answer(table, about, UNJOINED_SHOWN, of=MEASUREMENTS, kept=UNJOINED_SHOWN[:3])
