"""Answers of the commands that read the store: rows, columns for people, and headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from app.queries import Row
from app.queries import claims as claim_queries
from app.queries import failures as failure_queries
from app.queries import landed as landed_queries
from app.queries import measured as measured_queries
from app.queries import models as model_queries
from app.queries import quality as quality_queries
from app.queries import runs as run_queries
from app.queries import tasks as task_queries
from app.queries.cost import COST_FACTS
from app.queries.filters import COPIES, EXCLUDED, NO_FILTERS, Filters, this_moment
from app.queries.grouping import UTC_ZONE
from app.queries.reading import read_transaction
from app.queries.rules import RULES, steps_table, table_of
from app.queries.rules import scores as rule_scores
from app.queries.rules import steps as rule_steps
from app.queries.runs import KNOWN_SUFFIX
from app.text import costs
from app.text import tasks as task_words
from app.text.agents import disputed_words
from app.text.answers import Answer, heading, unattributed_words, unreported_note
from app.text.claims import (
    INGEST_HINT,
    NOTHING_MATCHES,
    NOTHING_MEASURED,
    WITHOUT_RUNS,
    band_words,
    beyond_words,
    cost_per,
    hidden_words,
    verdict_words,
)
from app.text.columns import BOUNDS_SUFFIX, OF_SUFFIX, STARTED, Pivoted, group_name, with_bounds
from app.text.formatting import UNKNOWN, UNKNOWN_NAME
from app.text.landed import landed_words
from app.text.tasks import Matrix, matrix
from ingest.landings import Landings
from ingest.store.database import Store
from schemas.catalogue.columns import (
    CLAIMS,
    FAILURE_TEXTS,
    FAILURES,
    FINDINGS,
    INGESTS,
    LANDINGS,
    MEASUREMENTS,
    MODELS,
    PUBLISHED,
    REJECTS,
    RUNS,
    SCORES,
    SOURCES,
    STEPS,
    VERDICT_GROUPS,
    VERDICTS,
)
from schemas.catalogue.cost_measures import BEST, COST_MEASURES, LIST, REPORTED, CostMeasure
from schemas.catalogue.entry import Entry, by_key
from schemas.catalogue.failures import REASONS, WHOSE
from schemas.catalogue.figures import MORE, listed
from schemas.catalogue.metrics import BAND, HIGH, LOW, MIN_PAIRS, MODEL_METRICS, NOBODY, QUADRANTS
from schemas.catalogue.rules import RULE_MEANINGS
from schemas.errors import UsageError, unknown_word
from schemas.rows.landing import Landed
from schemas.text import agreeing, join_known, plural
from schemas.units import Unit

RUNS_KEPT = ("title", "dated_at", "model", "outcome", "cost_own_usd", "duration_ms", "run_id")
"""Columns that identify runs and fit into a terminal of 80 columns."""
RUNS_SHOWN = listed(
    *RUNS_KEPT,
    "num_turns",
    "output_tokens",
    "cost_per_turn_usd",
    "reason",
    "cache_read_share",
    "parallelism",
    MORE,
    "claimed_speedup",
    "claimed_caveat",
    "findings",
    "repo",
    "experiment",
    "time_source",
    "permission_denials",
    "labels",
    "note",
    "starred",
    "source_name",
)
MODELS_KEPT = (
    "model",
    "runs",
    "cost_usd",
    "cost_list_usd",
    "bounded_list_usd",
    "cost_delta_usd",
    "causes",
)
"""Columns of models with costs, list prices and causes, which fit into a terminal of 80 columns."""
MODEL_ORIGINS = ("provider", "region")
"""Columns that distinguish rows of the same model: each has its own prices."""
MODELS_SHOWN = tuple(dict.fromkeys((*MODELS_KEPT, *MODEL_ORIGINS, *MODEL_METRICS)))
REJECTS_SHOWN = ("source_name", "position", "reason", "detail")
SOURCES_SHOWN = (
    "name",
    "kind",
    "documents",
    "accepted",
    "duplicates",
    "rejected",
    "ignored",
    "bytes",
    "container",
    "received_at",
)
LANDED_SHOWN = (
    "title",
    "state",
    "cost_best_usd",
    "reason",
    "pull_request",
    "ticket",
    "landed_at",
    "dated_at",
    "run_id",
)
INGESTS_SHOWN = (
    "ingest_id",
    "finished_at",
    "who",
    "command",
    "sources",
    "accepted",
    "duplicates",
    "rejected",
    "ignored",
    "documents",
    "labels",
    "path_template",
    "path_tz",
    "tool_version",
)
CLAIMS_SHOWN = (
    "title",
    "ratio",
    "metric",
    "sentence",
    "evidence",
    "caveat",
    "run_id",
    "confidence",
    "repo",
    "dated_at",
    "direction",
    "origin",
    "ratio_low",
    "ratio_high",
    "subject",
    "kind",
)
FINDINGS_SHOWN = (
    "title",
    "severity",
    "message",
    "rule",
    "run_id",
    "cost_own_usd",
    "expected",
    "actual",
    "repo",
    "model",
)


def by_measure(keys: Sequence[str], measure: CostMeasure) -> tuple[str, ...]:
    """Return the columns of a list of runs with the cost by the measure and its bounds.

    This cost replaces the reported one.
    """
    swapped = {
        REPORTED.column: measure.column,
        "cost_per_turn_usd": measure.of("cost_per_turn_usd"),
    }
    return tuple(dict.fromkeys(swapped.get(key, key) for key in keys))


def runs(store: Store, filters: Filters, limit: int | None, cost: str = "") -> Answer:
    """Return the most expensive runs, or all.

    `cost`: the key of a measure of cost, "" for the usual one.
    """
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        [facts] = run_queries.summary(transaction, chosen, metrics=COST_FACTS).to_pylist()
        measure = COST_MEASURES[cost] if cost else BEST
        table = run_queries.runs(transaction, chosen, limit, measure)
    shown: tuple[str, ...] = RUNS_SHOWN
    kept: tuple[str, ...] = RUNS_KEPT
    # the note or the reason is second if runs were asked for by it
    asked = {"starred": "note", EXCLUDED: "excluded_reason", COPIES: "is_copy"}
    if said := [column for key, column in asked.items() if filters.values(key)]:
        kept = ("title", said[0], "dated_at", "model", "cost_own_usd", "run_id")
        shown = tuple(dict.fromkeys((*kept, *said, "note", "starred", "excluded", *RUNS_SHOWN)))
    shown, kept = by_measure(shown, measure), by_measure(kept, measure)
    notes = (
        costs.missing_costs(facts, measure),
        "" if measure is REPORTED else costs.bounds_sentence(facts, measure),
        unreported_note(table, kept, RUNS),
    )
    return Answer(
        table,
        heading(plural(facts["runs"], "run"), store.location, filters),
        shown,
        of=RUNS,
        kept=kept,
        note=join_known(" ", *notes),
        available=facts["runs"],
        order="{} most expensive",
    )


def models(store: Store, filters: Filters, cost: str = "") -> Answer:
    """Return every model's own share, helper models included.

    `cost`: the key of a measure of cost, "" for the usual one.
    """
    measure = COST_MEASURES[cost] if cost else BEST
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        [facts] = run_queries.summary(transaction, chosen, metrics=COST_FACTS).to_pylist()
        table = model_queries.models(transaction, chosen, measure=measure)
        total = model_queries.models(transaction, chosen, by=())
        rest = models_note(transaction, chosen, facts, total, measure)
    bounds = (costs.missing_costs(facts, measure), costs.bounds_sentence(facts))
    note = " ".join(filter(None, (*bounds, rest) if measure is LIST else (rest, *bounds)))
    about = heading(plural(facts["runs"], "run"), store.location, filters)
    kept = with_origins(MODELS_KEPT, table)
    shown = tuple(dict.fromkeys((*kept, *MODELS_SHOWN)))
    # all causes of all models in one cell say nothing
    causes, known = (total.column_names.index(name) for name in ("causes", "causes_known"))
    total = total.set_column(causes, "causes", pa.array([" "], pa.string())).set_column(
        known, "causes_known", total["runs"]
    )
    return Answer(table, about, shown, total, MODELS, kept, note)


def models_note(
    store: Store, filters: Filters, facts: Row, total: pa.Table, measure: CostMeasure
) -> str:
    """Return a note on the cost of runs that a list of models lacks.

    `facts`: COST_FACTS of the runs, `total`: total row of models.
    """
    if measure is LIST:
        return costs.partly_priced(total["cost_list_usd"][0].as_py(), facts)
    return unattributed_words(*model_queries.unattributed(store, filters))


def with_origins(keys: Sequence[str], table: pa.Table) -> tuple[str, ...]:
    """Return the columns of a list of models, with those that distinguish equal names.

    The provider, else the region, else both.
    """
    for origins in ((), *((key,) for key in MODEL_ORIGINS)):
        columns = [table[key].to_pylist() for key in (keys[0], *origins)]
        if len(set(zip(*columns, strict=True))) == table.num_rows:
            return (keys[0], *origins, *keys[1:])
    return (keys[0], *MODEL_ORIGINS, *keys[1:])


def rejects(store: Store) -> Answer:
    """Return every document that could not be read as a run."""
    table = quality_queries.every_reject(store)
    return Answer(
        table, heading(plural(table.num_rows, "reject"), store.location), REJECTS_SHOWN, of=REJECTS
    )


def sources(store: Store, limit: int | None = None) -> Answer:
    """Return the files that were read last, or all."""
    table = quality_queries.every_source(store)
    about = heading(plural(table.num_rows, "file"), store.location)
    return Answer(table, about, SOURCES_SHOWN, of=SOURCES, order="{} newest").first(limit)


def ingests(store: Store) -> Answer:
    """Return every ingest that changed the store."""
    table = quality_queries.ingests(store)
    return Answer(
        table, heading(plural(table.num_rows, "ingest"), store.location), INGESTS_SHOWN, of=INGESTS
    )


def landed(store: Store, reading: Landings) -> Answer:
    """Return what became of the changes of the runs that worked in a checkout."""
    table = landed_queries.landings(store, reading.repository)
    states = Counter(table["state"].to_pylist())
    runs = ", ".join(f"{states[state]} {state}" for state in Landed if states[state])
    what = f"{plural(table.num_rows, 'run')} in {reading.repository}"
    about = heading(join_known(": ", what, runs), store.location)
    money = landed_queries.landed_money(store, NO_FILTERS, repository=reading.repository)
    note = (
        f"{reading.branch} has {plural(reading.commits, 'commit')} since the first of these runs: "
        f"{reading.by_runs:,} by runs, {reading.commits - reading.by_runs:,} by others."
    )
    if money:
        note = f"{landed_words(money)}.\n{note}"
    if not table.num_rows:
        note = (
            f"No run of the store worked in {reading.repository}: by its project, its folder, or "
            "its commits at their time."
        )
    if reading.is_shallow:
        note += "\nThe checkout lacks older commits: `git fetch --unshallow`."
    return Answer(table, about, LANDED_SHOWN, of=LANDINGS, note=note)


def claims(store: Store, filters: Filters, kinds: Sequence[str], limit: int | None) -> Answer:
    """Return the largest claims, or all."""
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        table = claim_queries.claims(transaction, chosen, kinds, limit)
        found, runs = claim_queries.count_claims(transaction, chosen, kinds)
        silent = (
            0
            if "qualitative" in kinds
            else claim_queries.count_claims(transaction, chosen, ("qualitative",))[0]
        )
        hidden = hidden_words(claim_queries.count_hidden(transaction, chosen, kinds))
    other = f" ({silent:,} without a number: --all)" if silent else ""
    what = (
        f"{plural(found, 'claim')} of {plural(runs, 'run')}, from the agents' summaries, not "
        f"checked{other}"
    )
    about = heading(what, store.location, filters)
    return Answer(
        table, about, CLAIMS_SHOWN, of=CLAIMS, hidden=hidden, available=found, order="{} largest"
    )


def findings(
    store: Store,
    filters: Filters,
    severities: Sequence[str],
    rules: Sequence[str],
    limit: int | None,
) -> Answer:
    """Return the most severe findings, or all. Raises UsageError for an unknown rule."""
    if missing := next((rule for rule in rules if rule not in RULE_MEANINGS), None):
        raise unknown_word("rule", missing, RULE_MEANINGS)
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        table = claim_queries.findings(transaction, chosen, severities, rules, limit)
        found, runs = claim_queries.count_findings(transaction, chosen, severities, rules)
    about = heading(f"{plural(found, 'finding')} in {plural(runs, 'run')}", store.location, filters)
    return Answer(
        table, about, FINDINGS_SHOWN, of=FINDINGS, available=found, order="{} most severe"
    )


VERDICTS_KEPT = ("title", "agent", "claimed_speedup", "measured_speedup", "result", "other_values")
_FASTER = ("runs_faster", "runs_beyond_noise", "runs_disputed", "runs_not_by_median")
VERDICTS_SHOWN = (
    *VERDICTS_KEPT,
    "claim_verdict",
    "reference_result",
    "why",
    "cost_own_usd",
    "claimed_evidence",
    "measured_low",
    "measured_high",
    "overclaim_factor",
    "metric",
    "model",
    "run_id",
    "quadrant",
    "judged",
    "judged_by",
)
_VERDICT_GROUPS_KEPT = (
    *("runs", "runs_measured", "runs_faster", "runs_beyond_noise", "runs_slower"),
    *("cost_per_faster", "cost_best_usd"),
)
VERDICT_GROUPS_SHOWN = (
    "runs",
    "runs_measured",
    "runs_faster",
    "runs_beyond_noise",
    "runs_same",
    "runs_inside_noise",
    "runs_slower",
    "cost_per_faster",
    "runs_compared",
    "cost_per_faster_compared",
    "runs_failed",
    "runs_not_comparable",
    "runs_reached",
    "cost_per_reached",
    "pairs",
    "claimed_over_measured",
    "wrong_sign_share",
    "kept_share",
    "cost_best_usd",
)
MEASUREMENTS_SHOWN = (
    "source_name",
    "variant",
    "metric",
    "statistic",
    "value",
    "unit",
    "benchmark",
    "joined_run_id",
    "n",
    "format",
    "agent",
    "commit_full",
    "status",
    "unjoined",
)
PUBLISHED_SHOWN = (
    "repo",
    "agent",
    "model",
    "tasks",
    "runs_q1",
    "runs_q2",
    "runs_q3",
    "runs_q4",
    "true_success_share",
    "reached_share",
)
UNJOINED_SHOWN = (
    "source_name",
    "unjoined",
    "rows",
    "variant",
    "agent",
    "model",
    "commit_full",
    "format",
)


def verdicts(
    store: Store, filters: Filters, limit: int | None, *, every: bool = False, band: float = BAND
) -> Answer:
    """Return measured runs with their claims; with `every` all runs. `band`: see `BAND`."""
    with read_transaction(store) as transaction:
        transaction.judge_within(band)
        chosen = transaction.searched(filters)
        [facts] = measured_queries.summary(
            transaction, chosen, metrics=("runs", "runs_measured", *_FASTER)
        ).to_pylist()
        table = measured_queries.verdicts(
            transaction,
            chosen,
            measured_queries.EVERY if every else measured_queries.MEASURED,
            limit,
        )
        values = measured_queries.count(transaction)
    for name, verdict, sure in (
        ("result", "verdict", "is_beyond_noise"),
        ("reference_result", "reference_verdict", "is_reference_beyond_noise"),
    ):
        found = zip(table[verdict].to_pylist(), table[sure].to_pylist(), strict=True)
        said = [
            verdict_words(one, is_beyond_noise=is_beyond, band=band) for one, is_beyond in found
        ]
        table = table.append_column(name, pa.array(said, pa.string()))
    measured = f"{plural(facts['runs_measured'], 'measured run')} of {facts['runs']:,}"
    about = (
        f"{plural(facts['runs'], 'run')}, {facts['runs_measured']:,} measured"
        if every
        else measured
    )
    note = (
        f"{_sure_words(facts)} {band_words(band)}".lstrip() if table.num_rows else _nothing(values)
    )
    about, available = (
        heading(about, store.location, filters),
        facts["runs" if every else "runs_measured"],
    )
    return Answer(
        table,
        about,
        VERDICTS_SHOWN,
        of=VERDICTS,
        kept=VERDICTS_KEPT,
        note=note,
        available=available,
    )


def _sure_words(facts: Row) -> str:
    """Return `12 measured faster, 1 beyond noise.` and how many of them other values dispute."""
    faster, beyond, *disputed = (facts[key] for key in _FASTER)
    if not faster:
        return ""
    said = f"{faster:,} measured faster, {beyond_words(faster, beyond)}."
    return f"{said} {disputed_words(faster, *disputed)}".rstrip()


def _nothing(values: int) -> str:
    """Return why there are no rows in a store with this many measured values."""
    return f"{NOTHING_MATCHES} {WITHOUT_RUNS}" if values else f"{NOTHING_MEASURED} {INGEST_HINT}"


VERDICTS_PIVOTED = ("runs_faster", "runs_beyond_noise", "runs_compared")
"""Figures of the cells of pivoted verdicts."""


def verdict_groups(
    store: Store,
    filters: Filters,
    by: Sequence[str],
    zone: str = UTC_ZONE,
    band: float = BAND,
    pivot: str = "",
) -> Answer:
    """Return verdicts, cost per faster run and calibration by group. `band`: see `BAND`.

    `pivot`: one of `by` for the columns.

    Raises UsageError.
    """
    require_pivot(by, pivot)
    with read_transaction(store) as transaction:
        transaction.judge_within(band)
        chosen = transaction.searched(filters)
        table = with_costs(measured_queries.summary(transaction, chosen, by, zone=zone))
        total = with_costs(measured_queries.summary(transaction, chosen))
        values = measured_queries.count(transaction)
    [facts] = total.to_pylist()
    if by and 0 in table["runs_compared"].to_pylist():
        # agents without a comparable run would make those of the others dearer
        place = total.column_names.index("cost_per_faster")
        total = total.set_column(place, "cost_per_faster", pa.array([None], pa.string()))
    quadrants = QUADRANTS if any(facts[key] for key in QUADRANTS) else ()
    all_in = () if facts["cost_all_per_faster_usd"] is None else ("cost_all_per_faster_usd",)
    shown = (*by, *VERDICT_GROUPS_SHOWN[:7], *quadrants, *VERDICT_GROUPS_SHOWN[7:], *all_in)
    about = heading(
        f"{facts['runs_measured']:,} of {plural(facts['runs'], 'run')} measured",
        store.location,
        filters,
    )
    note = (
        f"{_sure_words(facts)} {band_words(band)} Calibration of claims needs {MIN_PAIRS} runs "
        "that were claimed and measured."
    )
    note = note.lstrip() if facts["runs_measured"] else _nothing(values)
    answer = Answer(table, about, shown, total, VERDICT_GROUPS, (*by, *_VERDICT_GROUPS_KEPT), note)
    return pivoted(answer, by, pivot, VERDICTS_PIVOTED) if pivot else answer


def require_pivot(by: Sequence[str], pivot: str) -> None:
    """Raise UsageError unless the pivot is one of several groupings, or there is none."""
    if pivot and (pivot not in by or len(by) < 2):
        both = f"{'task' if pivot == 'agent' else 'agent'},{pivot}"
        raise UsageError(
            f"--pivot {pivot} needs --by with that and another grouping.",
            f"For example: --by {both} --pivot {pivot}.",
        )


def pivoted(answer: Answer, by: Sequence[str], pivot: str, metrics: Sequence[str]) -> Answer:
    """Return the groups with columns `VALUE_METRIC` for each value of `pivot`.

    There is a row for each value of the other groupings of `by`.

    A column has companions for what it rests on (`_known` runs `_of` all) and its `_bounds`. A
    group without runs has empty cells. The note says what a cell is.
    """
    rest = [word for word in by if word != pivot]
    table = with_bounds(answer.table, metrics)
    rows = table.to_pylist()
    names = list(dict.fromkeys(row[pivot] for row in rows))
    keys = list(dict.fromkeys(tuple(row[word] for word in rest) for row in rows))
    cells = {(tuple(row[word] for word in rest), row[pivot]): row for row in rows}
    columns = {
        word: pa.array([key[place] for key in keys], table.schema.field(word).type)
        for place, word in enumerate(rest)
    }
    of, shown = dict(answer.of), list(rest)
    for name in names:
        for metric in metrics:
            key, about = f"{name or UNKNOWN_NAME}_{metric}", answer.of[metric]
            sources = {
                f"{metric}{end}": f"{key}{end}"
                for end in ("", KNOWN_SUFFIX, BOUNDS_SUFFIX, LOW, HIGH)
            }
            sources |= {
                "runs": key if metric == "runs" else f"{key}{OF_SUFFIX}",
                STARTED: f"{name or UNKNOWN_NAME}_{STARTED}",
            }
            sources = {own: target for own, target in sources.items() if own in table.column_names}
            for own, target in sources.items():
                columns[target] = pa.array(
                    [cells.get((one, name), {}).get(own) for one in keys],
                    table.schema.field(own).type,
                )
            group = group_name(pivot, name)
            title = group if len(metrics) == 1 else f"{group}: {about.label}"
            of[key] = Pivoted(
                key,
                title,
                about.unit,
                about.better,
                about.meaning,
                group=group,
                figure=about,
                sources=sources,
            )
            shown.append(key)
    cell = f"Cells: {', '.join(answer.of[metric].label for metric in metrics)}; {UNKNOWN}: no run."
    return replace(
        answer,
        table=pa.table(columns),
        shown=tuple(shown),
        total=None,
        of=of,
        kept=(),
        note=f"{cell} {answer.note}".rstrip(),
    )


def with_costs(table: pa.Table) -> pa.Table:
    """Return the table with costs per faster run and per reference reached in words.

    Without any, the words are like `none for $7.79`.
    """
    rows = table.to_pylist()
    for key, (count, cost, bounds, of_runs) in _COSTS.items():
        words = [
            cost_per(row[f"{key}_usd"], row[cost], row[count], row[of_runs], row[bounds])
            for row in rows
        ]
        table = table.append_column(key, pa.array(words, pa.string()))
    return table


_COSTS = {
    "cost_per_faster": ("runs_faster", "cost_best_usd", "cost_best_bounds", "runs_compared"),
    "cost_per_faster_compared": (
        "runs_faster",
        "cost_compared_runs_usd",
        "cost_compared_runs_bounds",
        "runs_compared",
    ),
    "cost_per_reached": ("runs_reached", "cost_best_usd", "cost_best_bounds", "runs_measured"),
}
"""Column in words → (runs that count, total cost, its bounds, judged runs)."""


def published(store: Store) -> Answer:
    """Return published judgements by repository, agent and model."""
    table = measured_queries.published(store)
    about = heading(plural(sum(table["tasks"].to_pylist()), "published judgement"), store.location)
    note = (
        ""
        if table.num_rows
        else (
            "No published judgement was ingested: a table with commit, agent and hard, target or "
            "quadrant."
        )
    )
    return Answer(table, about, PUBLISHED_SHOWN, of=PUBLISHED, kept=PUBLISHED_SHOWN, note=note)


LABELS = ("labels_equal", "labels_different", "labels_without_value")


_SCORES_SHOWN = (
    *("score_share", "published_share", "hack_control_share", "score_ratio", "published_ratio"),
    "hack_control_ratio",
    *("fast_0_share", "fast_1_share", "fast_2_share"),
)
_WHO_SHOWN = ("study", "agent", "agent_version", "model", "effort", "run_name")


def rules(store: Store, key: str, *, every: bool = False) -> Answer:
    """Return the results by one of RULES for every measured agent and model.

    Records of their runs are not needed. `every`: also those of which it can judge no task.
    """
    rule = RULES[key]
    scored = rule_scores(store, [rule])
    judged = scored if every else [one for one in scored if one.cases] or scored
    hidden = ""
    if missing := len(scored) - len(judged):
        tasks = plural(sum(one.total for one in scored if not one.cases), "task")
        hidden = (
            f"Not shown: {plural(missing, 'row')}, of {tasks} that the rule cannot judge (--all)."
        )
    table = table_of(judged)
    known = _known(table)
    shown = (
        *(name for name in (*_WHO_SHOWN, *_SCORES_SHOWN) if name in known),
        *(
            "tasks",
            "successes",
            "denominator",
            "without_worst_share" if rule.is_share else "without_worst_ratio",
            "left_out",
            "why",
        ),
        *(LABELS if "labels_equal" in known else ()),
    )
    note = f"{rule.meaning}{_nameless(table)}" if table.num_rows else _no_case(store)
    kept = tuple(name for name in (*_WHO_SHOWN[1:], *_SCORES_SHOWN, "tasks") if name in shown)
    return Answer(
        table,
        heading(rule.label, store.location),
        shown,
        of=SCORES,
        kept=kept,
        note=note,
        hidden=hidden,
    )


def rule_path(store: Store, key: str) -> Answer:
    """Return the steps from the score that a benchmark publishes to that of the rule `baseline`.

    Raises UsageError.

    `key`: the rule that bears its name; `baseline`: all benchmarks with a rule.
    """
    named = [rule for rule in RULES.values() if rule.study]
    if key != "baseline" and not RULES[key].study:
        keys = ", ".join(("baseline", *(rule.key for rule in named)))
        raise UsageError(
            f"--steps begins at the rule of a benchmark, and {key} is none.",
            f"Choose from: {keys}.",
        )
    table = steps_table(rule_steps(store, named if key == "baseline" else [RULES[key]]))
    known = _known(table)
    scored = ("score_share", "score_ratio", "change_points", "change_ratio")
    shown = (
        *(name for name in _WHO_SHOWN if name in known),
        "step",
        "tasks",
        *(name for name in scored if name in known),
        "what",
    )
    note = (
        "Every step goes on from the one above; what is left out as worst counts "
        f"again.{_nameless(table)}"
    )
    about = heading("From the published score to ours", store.location)
    kept = tuple(name for name in (*_WHO_SHOWN[1:], "step", "tasks", *scored) if name in shown)
    if not table.num_rows:
        note = (
            _no_case(store)
            if key == "baseline"
            else f"No result of {RULES[key].study} is in the store. {INGEST_HINT}"
        )
    return Answer(table, about, shown, of=STEPS, kept=kept, note=note)


def _no_case(store: Store) -> str:
    with read_transaction(store) as transaction:
        values = measured_queries.count(transaction)
    if not values:
        return f"{NOTHING_MEASURED} {INGEST_HINT}"
    return (
        f"{plural(values, 'measured value')}, none of a candidate of known task: `ingest "
        "--measure variant=candidate,task=NAME` says it."
    )


def _known(table: pa.Table) -> set[str]:
    """Return the columns with any values; `run_name` only if a row has neither agent nor model."""
    found = {name for name in table.column_names if table[name].null_count < table.num_rows}
    return (
        found
        if any(not (row["agent"] or row["model"]) for row in table.to_pylist())
        else found - {"run_name"}
    )


def _nameless(table: pa.Table) -> str:
    nobody = any(not (row["agent"] or row["model"] or row["run_name"]) for row in table.to_pylist())
    return " A row without an agent is of results that name none." if nobody else ""


def measurements(store: Store, filters: Filters, limit: int | None) -> Answer:
    """Return every measured value with the run whose change was measured."""
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        table = measured_queries.measurements(transaction, chosen, limit)
        total, found = (
            measured_queries.count(transaction),
            measured_queries.count(transaction, chosen),
        )
    about = heading(plural(found, "measured value"), store.location, filters)
    note = "" if found else _nothing(total)
    return Answer(
        table,
        about,
        MEASUREMENTS_SHOWN,
        of=MEASUREMENTS,
        kept=MEASUREMENTS_SHOWN[:6],
        note=note,
        available=found,
    )


def unjoined(store: Store) -> Answer:
    """Return measured values without a run, and the reasons."""
    with read_transaction(store) as transaction:
        table, total = measured_queries.unjoined(transaction), measured_queries.count(transaction)
    values = sum(table["rows"].to_pylist())
    about = heading(
        f"{values:,} of {plural(total, 'measured value')} belong to no run", store.location
    )
    return Answer(table, about, UNJOINED_SHOWN, of=MEASUREMENTS, kept=UNJOINED_SHOWN[:3])


_FIRST = ("reason", "whose")
_LAST = ("runs", "never_started_runs", "lost_ms", "cost_best_usd", "example")


def failures(store: Store, filters: Filters, by: str = "agent", zone: str = UTC_ZONE) -> Answer:
    """Return the reasons, the largest first and unknown ones last, with a total row.

    Raises UsageError.
    """
    with read_transaction(store) as transaction:
        chosen = transaction.searched(filters)
        table, total = failure_queries.failures(transaction, chosen, by, zone)
        facts = failure_queries.totals(transaction, chosen)
    groups = [name for name, _ in (total["columns"].to_pylist() or [[]])[0]]
    # the column of each group; a group that is called like another column says what it is
    names = {}
    for group in groups:
        name = group or UNKNOWN_NAME
        names[group] = f"{by} {name}" if name in FAILURES else name
    entries = by_key(
        *(Entry(name, group_name(by, group), Unit.COUNT) for group, name in names.items())
    )
    what = f"{facts['failed']:,} of {plural(facts['runs'], 'run')} did not complete"
    parts = [f"{name} {facts[key]:,}" for key, name in WHOSE.items() if facts[key]]
    started = (
        f"{facts['never_started']:,} of them never started. " if facts["never_started"] else ""
    )
    ends = facts["unknown_ends"]
    note = (
        f"{started}{plural(ends, 'run')} of unknown end {agreeing(ends, 'is')} not counted."
        if ends
        else started.strip()
    )
    return Answer(
        _wide(table, names),
        heading(f"{what}{': ' if parts else ''}{', '.join(parts)}", store.location, filters),
        (*_FIRST, *names.values(), *_LAST),
        _wide(total, names).drop_columns([*_FIRST, "example"]) if table.num_rows else None,
        {**FAILURES, **entries},
        (*_FIRST, *names.values(), "runs"),
        note,
    )


def failure_texts(store: Store, filters: Filters, reason: str) -> Answer:
    """Return the error texts of a reason, numbers and ids masked, most frequent first.

    Raises UsageError.
    """
    if reason not in REASONS:
        raise unknown_word("reason", reason, REASONS)
    with read_transaction(store) as transaction:
        table = failure_queries.texts(transaction, transaction.searched(filters), reason)
    runs = sum(table["runs"].to_pylist())
    about = heading(f"{plural(runs, 'run')}: {REASONS[reason].label}", store.location, filters)
    return Answer(
        table, about, ("text", "runs"), of=FAILURE_TEXTS, note=f"Rule: {REASONS[reason].told}."
    )


def _wide(table: pa.Table, names: dict[str, str]) -> pa.Table:
    """Return the table with a column of counts for each group in place of the map."""
    counted = [dict(row) for row in table["columns"].to_pylist()]
    table = table.drop_columns(["columns"])
    for place, (group, name) in enumerate(names.items(), len(_FIRST)):
        table = table.add_column(
            place, name, pa.array([row.get(group, 0) for row in counted], pa.int64())
        )
    return table


_IN_BRACKETS = "in brackets how many of the runs have one."
_TASK_VALUES = {
    "result": (
        Unit.RATIO,
        (
            "The median measured ratio against a comparable baseline; else whether the change "
            "breaks, else how many runs are done."
        ),
    ),
    "outcome": (Unit.SHARE, "done: completed; ended ?: the log does not say how."),
    "measured": (
        Unit.RATIO,
        f"Median of the measured speedups against a comparable baseline; {_IN_BRACKETS}",
    ),
    "claimed": (Unit.RATIO, f"Median of the claimed speedups; {_IN_BRACKETS}"),
    "cost": (Unit.USD, f"Median cost of the runs that started; {_IN_BRACKETS}"),
    "duration": (Unit.MILLISECONDS, f"Median of the wall time of completed runs; {_IN_BRACKETS}"),
}


def tasks(
    store: Store,
    filters: Filters,
    by: Sequence[str],
    value: str = "result",
    order: str = "retry",
) -> Answer:
    """Return the matrix of one of VALUES as an answer, in one of ORDERS. Raises UsageError."""
    for what, word, words in (
        ("value", value, task_queries.VALUES),
        ("order", order, tuple(task_words.ORDERS)),
    ):
        if word not in words:
            raise unknown_word(what, word, words)
    with read_transaction(store) as transaction:
        verdict, chosen = task_queries.without_verdict(transaction.searched(filters))
        found, taskless = task_queries.standings(transaction, chosen)
        cells = task_queries.cells(transaction, chosen, by)
    made = matrix(cells, task_queries.having(found, verdict), value, order)
    show = verdict if verdict in ("", "faster") else NOBODY
    said = task_words.tasks(found, show, taskless) if found else task_words.no_tasks(taskless)
    answer = tasks_answer(made, value, filters, store.location, by=by)
    lines = [said.heading, said.second, *(f"{one.text}." for one in said.doubts), answer.note]
    return replace(answer, note=join_known(" ", *lines).replace("**", ""))


def tasks_answer(
    made: Matrix,
    value: str,
    filters: Filters,
    location: str,
    measure: CostMeasure = BEST,
    by: Sequence[str] = ("agent", "model"),
) -> Answer:
    """Return the matrix in words, with symbols for colours. `by`: the groupings of its columns.

    Programs also get, for each column `x`: `x_runs`, `x_value`, the number of runs that it rests
    on, and of a cost its bounds.
    """
    unit, about_cells = _TASK_VALUES[value]
    names = {
        column: " · ".join(UNKNOWN_NAME if name is None else name for name in column)
        for column in made.columns
    }
    number = pa.decimal128(38, 9) if value == "cost" else pa.float64()
    kinds = {
        "task": pa.string(),
        "known": pa.string(),
        **dict.fromkeys(names.values(), pa.string()),
        "retry_with": pa.string(),
        "retry": pa.string(),
        "runs": pa.int64(),
        "names": pa.string(),
        "verdict": pa.string(),
        "retry_usd": pa.decimal128(38, 9),
        f"retry_usd{BOUNDS_SUFFIX}": pa.string(),
    }
    for name in names.values():
        kinds |= {
            f"{name}_value": number,
            f"{name}_runs": pa.int64(),
            f"{name}_value{KNOWN_SUFFIX}": pa.int64(),
        }
        kinds |= {f"{name}_value{BOUNDS_SUFFIX}": pa.string()} if value == "cost" else {}
    rows = []
    for task in made.tasks:
        row: dict[str, Any] = dict.fromkeys(kinds) | {
            "task": task.key,
            "known": task_words.known_words(task.standing),
            "retry_with": task_words.retry_with(task.standing),
            "retry": task_words.retry_words(task.standing),
            "names": ", ".join(task.standing.names),
            "verdict": task.standing.verdict,
            "retry_usd": task.standing.retry_usd,
            f"retry_usd{BOUNDS_SUFFIX}": task.standing.retry_bounds,
        }
        for column, name in names.items():
            cell = task.cells.get(column)
            if cell is None:
                row |= {name: "", f"{name}_runs": 0, f"{name}_value{KNOWN_SUFFIX}": 0}
                continue
            symbol = (
                task_words.SYMBOLS.get(task_words.cell_verdict(cell), "")
                if value in ("result", "measured")
                else ""
            )
            figure = task_words.cell_figure(cell, value)
            known = cell[
                "known_ends"
                if value == "outcome"
                else f"{'measured' if value == 'result' else value}_known"
            ]
            if value == "outcome":
                figure = cell["completed"] / known if known else None
            row |= {
                name: symbol + task_words.cell_words(cell, value),
                f"{name}_value": figure,
                f"{name}_runs": cell["runs"],
            }
            row |= {
                f"{name}_value{KNOWN_SUFFIX}": known,
                f"{name}_value{BOUNDS_SUFFIX}": cell["bounds"],
            }
        rows.append(row | {"runs": sum(cell["runs"] for cell in task.cells.values())})
    entries = by_key(
        Entry("task", "Task", meaning="Repository and commit, else repository and name."),
        Entry("known", "What is known", meaning="The best verdict on its runs."),
        Entry(
            "retry_with", "Retry with", meaning="The cheapest agent and model that completed it."
        ),
        Entry(
            "retry", "A retry costs", meaning="The median cost of the runs that completed it so."
        ),
        Entry("verdict", "Verdict"),
        Entry("retry_usd", "A retry costs, exactly", Unit.USD),
        Entry("runs", "Runs", Unit.COUNT, meaning="Runs of the task."),
        Entry("names", "Also called", meaning="Names of the task as logged."),
        *(Entry(name, " · ".join(map(group_name, by, column))) for column, name in names.items()),
        *(Entry(f"{name}_value", f"{name}, {value}", unit) for name in names.values()),
        *(Entry(f"{name}_runs", f"{name}, runs", Unit.COUNT) for name in names.values()),
    )
    has_symbols = value in ("result", "measured") and any(cell["verdicts"] for cell in made.cells)
    note = " ".join(
        (
            *([f"{measure.label}."] if value == "cost" else []),
            about_cells,
            *(["↑ measured faster, = same (±5%), ↓ slower."] if has_symbols else []),
            f"{this_moment():%Y-%m-%d}.",
        )
    )
    table = pa.table(
        {name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()}
    )
    runs = sum(cell["runs"] for cell in made.cells)
    about = heading(
        f"{plural(len(rows), 'task')}, {plural(runs, 'run')}, {value}", location, filters
    )
    # a narrow terminal has room for three agents, a page of LaTeX also for whom to retry with
    first, more = [*names.values()][:3], [*names.values()][3:]
    shown = ("task", "known", "retry", *first, "retry_with", *more, "runs", "names")
    return Answer(table, about, shown, of=entries, kept=shown[: len(names) + 4], note=note)
