"""What the commands that read the store answer: rows, the columns people see of them, and what they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from app.queries import claims as claim_queries
from app.queries import quality as quality_queries
from app.queries import runs as run_queries
from app.queries.cost import COST_FACTS
from app.queries.filters import Filters
from app.queries.reading import read_transaction
from app.text.answers import Answer, heading, unattributed_words
from app.text.untold import untold_note
from app.text.words import measures as measure_words
from app.text.words.claims import hidden_words
from ingest.store.database import Store
from schemas.catalogue.columns import CLAIMS, FINDINGS, INGESTS, MODELS, REJECTS, RUNS, SOURCES
from schemas.catalogue.cost_measures import BEST, COST_MEASURES, LIST, REPORTED, CostMeasure
from schemas.catalogue.figures import MORE, listed
from schemas.catalogue.metrics import MODEL_METRICS
from schemas.catalogue.rules import FINDING_RULES
from schemas.errors import UsageError
from schemas.text import did_you_mean, plural

RUNS_KEPT = ("title", "dated_at", "model", "outcome", "cost_own_usd", "duration_ms", "run_id")
"""What tells runs apart: a terminal of 80 columns shows it all."""
RUNS_SHOWN = listed(
    *RUNS_KEPT, "num_turns", "output_tokens", "cost_per_turn_usd", "reason", "cache_read_share",
    "parallelism", MORE, "claimed_speedup", "claimed_caveat", "findings", "repo", "experiment", "time_source", "permission_denials",
    "labels", "note", "starred", "source_name",
)  # fmt: skip
MODELS_KEPT = ("model", "runs", "cost_usd", "cost_list_usd", "bounded_list_usd", "cost_delta_usd", "causes")
"""Which models cost how much, what list prices make of it, and why: a terminal of 80 columns shows it all."""
MODEL_ORIGINS = ("provider", "region")
"""What tells rows of the same model apart: each has prices of its own."""
MODELS_SHOWN = tuple(dict.fromkeys((*MODELS_KEPT, *MODEL_ORIGINS, *MODEL_METRICS)))
REJECTS_SHOWN = ("source_name", "position", "reason", "detail")
SOURCES_SHOWN = ("name", "kind", "documents", "accepted", "duplicates", "rejected", "ignored", "bytes", "container", "received_at")
INGESTS_SHOWN = (
    "ingest_id", "finished_at", "who", "command", "sources", "accepted", "duplicates", "rejected", "ignored", "documents", "labels",
    "path_template", "path_tz", "tool_version",
)  # fmt: skip
CLAIMS_SHOWN = (
    "title", "ratio", "metric", "sentence", "evidence", "caveat", "run_id", "confidence", "repo", "dated_at", "direction", "origin",
    "ratio_low", "ratio_high", "subject", "kind",
)  # fmt: skip
FINDINGS_SHOWN = ("title", "severity", "message", "rule", "run_id", "cost_own_usd", "expected", "actual", "repo", "model")


def by_measure(keys: Sequence[str], measure: CostMeasure) -> tuple[str, ...]:
    """The columns of a list of runs with the cost of the measure in the place of the reported cost, and what bounds it."""
    swapped = {REPORTED.column: measure.column, "cost_per_turn_usd": measure.of("cost_per_turn_usd")}
    return tuple(dict.fromkeys(swapped.get(key, key) for key in keys))


def runs(store: Store, filters: Filters, limit: int | None, cost: str = "") -> Answer:
    """The most expensive runs, or all of them. `cost`: the key of a measure of cost, empty for the usual one."""
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        [facts] = run_queries.summary(transaction, chosen, metrics=COST_FACTS).to_pylist()
        measure = COST_MEASURES[cost] if cost else BEST
        table = run_queries.runs(transaction, chosen, limit, measure)
    cut = f"the {table.num_rows:,} most expensive of " if table.num_rows < facts["runs"] else ""
    shown, kept = (by_measure(keys, measure) for keys in _run_columns(filters))
    notes = (
        measure_words.left_out(facts, measure),
        "" if measure is REPORTED else measure_words.bounds(facts, measure),
        untold_note(table, kept, RUNS),
    )
    about = heading(cut + plural(facts["runs"], "run"), store.location, filters)
    return Answer(table, about, shown, of=RUNS, kept=kept, note=" ".join(filter(None, notes)), available=facts["runs"])


def _run_columns(filters: Filters) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(columns shown, those kept in a narrow terminal) of a list of runs; the note or the reason is second where that is asked for."""
    said = (*(("note",) if filters.values("starred") else ()), *(("excluded_reason",) if filters.choose_excluded else ()))
    if not said:
        return RUNS_SHOWN, RUNS_KEPT
    kept = ("title", said[0], "dated_at", "model", "cost_own_usd", "run_id")
    return tuple(dict.fromkeys((*kept, *said, "note", "starred", "excluded", *RUNS_SHOWN))), kept


def models(store: Store, filters: Filters, cost: str = "") -> Answer:
    """Every model's own share, helper models included. `cost`: the key of a measure of cost, empty for the usual one."""
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        [facts] = run_queries.summary(transaction, chosen, metrics=COST_FACTS).to_pylist()
        measure = COST_MEASURES[cost] if cost else BEST
        table = run_queries.models(transaction, chosen, measure=measure)
        total = run_queries.models(transaction, chosen, by=())
        left_out = unattributed_words(*run_queries.unattributed(transaction, chosen))
        covered = facts["runs"]
    left_out = model_note(left_out, facts, measure, total)
    about = heading(plural(covered, "run"), store.location, filters)
    kept = with_origins(MODELS_KEPT, table)
    return Answer(table, about, tuple(dict.fromkeys((*kept, *MODELS_SHOWN))), _without_causes(total), MODELS, kept, left_out)


def with_origins(keys: Sequence[str], table: pa.Table) -> tuple[str, ...]:
    """The columns of a list of models, with what tells rows of one name apart: the provider, else the region, else both."""
    choices: tuple[tuple[str, ...], ...] = ((), *((key,) for key in MODEL_ORIGINS), MODEL_ORIGINS)
    telling = next((some for some in choices if _tell_apart(table, (keys[0], *some))), MODEL_ORIGINS)
    return (keys[0], *telling, *keys[1:])


def _tell_apart(table: pa.Table, keys: Sequence[str]) -> bool:
    return bool(len(set(zip(*(table[key].to_pylist() for key in keys), strict=True))) == table.num_rows)


def model_note(unattributed: str, facts: Mapping[str, Any], measure: CostMeasure, total: pa.Table) -> str:
    """What a list of models leaves out or adds to what runs cost, and its bounds. `total` is its row of all models."""
    [listed] = total["cost_list_usd"].to_pylist()
    said = (
        "" if measure is LIST else unattributed,
        measure_words.left_out(facts, measure),
        measure_words.bounds(facts),
        measure_words.in_part_priced(listed, facts) if measure is LIST else "",
    )
    return " ".join(filter(None, said))


def _without_causes(total: pa.Table) -> pa.Table:
    """All causes of all models in one cell say nothing."""
    places = {name: total.column_names.index(name) for name in ("causes", "causes_known")}
    total = total.set_column(places["causes"], "causes", pa.array([" "], pa.string()))
    return total.set_column(places["causes_known"], "causes_known", total["runs"])


def rejects(store: Store) -> Answer:
    """Every document that could not be read as a run."""
    table = quality_queries.every_reject(store)
    return Answer(table, heading(plural(table.num_rows, "reject"), store.location), REJECTS_SHOWN, of=REJECTS)


def sources(store: Store, limit: int | None = None) -> Answer:
    """The files that were read last, or all of them."""
    table = quality_queries.every_source(store)
    shown = table.slice(0, limit)
    cut = f"the {shown.num_rows:,} newest of " if shown.num_rows < table.num_rows else ""
    about = heading(cut + plural(table.num_rows, "file"), store.location)
    return Answer(shown, about, SOURCES_SHOWN, of=SOURCES, available=table.num_rows)


def ingests(store: Store) -> Answer:
    """Every ingest that changed the store."""
    table = quality_queries.ingests(store)
    return Answer(table, heading(plural(table.num_rows, "ingest"), store.location), INGESTS_SHOWN, of=INGESTS)


def _runs(total: pa.Table) -> int:
    return int(total["runs"][0].as_py())


def claims(store: Store, filters: Filters, kinds: Sequence[str], limit: int | None) -> Answer:
    """The largest claims, or all of them."""
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        table = claim_queries.claims(transaction, chosen, kinds, limit)
        found, runs = claim_queries.count_claims(transaction, chosen, kinds)
        silent = 0 if "qualitative" in kinds else claim_queries.count_claims(transaction, chosen, ("qualitative",))[0]
        hidden = hidden_words(claim_queries.count_hidden(transaction, chosen, kinds))
    cut = f"the {table.num_rows:,} largest of " if table.num_rows < found else ""
    other = f" ({silent:,} without a number: --all)" if silent else ""
    what = f"{cut}{plural(found, 'claim')} of {plural(runs, 'run')}, from the agents' summaries, not verified{other}"
    return Answer(table, heading(what, store.location, filters), CLAIMS_SHOWN, of=CLAIMS, hidden=hidden, available=found)


def findings(store: Store, filters: Filters, severities: Sequence[str], rules: Sequence[str], limit: int | None) -> Answer:
    """The severest findings, or all of them. Raises UsageError for a rule that does not exist."""
    with read_transaction(store) as transaction:
        _check_rules(transaction, rules)
        chosen = transaction.searched(filters)
        table = claim_queries.findings(transaction, chosen, severities, rules, limit)
        found, runs = claim_queries.count_findings(transaction, chosen, severities, rules)
    cut = f"the first {table.num_rows:,} of " if table.num_rows < found else ""
    what = f"{cut}{plural(found, 'finding')} in {plural(runs, 'run')}"
    return Answer(table, heading(what, store.location, filters), FINDINGS_SHOWN, of=FINDINGS, available=found)


def _check_rules(store: Store, chosen: Sequence[str]) -> None:
    """Rules of other places (prices) write findings as well: those the store holds are known, too."""
    is_ours = FINDING_RULES.keys() >= set(chosen)
    known = [*FINDING_RULES] if is_ours else [*dict.fromkeys([*FINDING_RULES, *claim_queries.rules(store)])]
    if missing := next((rule for rule in chosen if rule not in known), None):
        raise UsageError(f"unknown rule {missing!r}.", f"{did_you_mean(missing, known)}Choose from: {', '.join(known)}.")
