"""Every figure of a group: aggregates of a view's rows.

Screens, reports, exports, help texts and docs read this page.

First the figures of claims and findings, then of cost, of runs and their models, of measurements,
and the limits of `check`. Entries are explained in `schemas.catalogue.entry`; groupings are in
`dimensions`, figures of a single run in `figures`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from schemas.catalogue.cost_measures import (
    ALL_IN,
    BEST,
    BOUNDS,
    COST_MEASURES,
    LIST,
    REPORTED,
    CostMeasure,
)
from schemas.catalogue.entry import Entry, Metric, aggregates_of, by_key, of_model, over, quotient
from schemas.catalogue.figures import IS_BOUNDED as _IS_BOUNDED
from schemas.catalogue.figures import MODEL_FIGURES, RUN_FIGURES, kinds_in
from schemas.units import Unit

_HEADLINE = (
    "the run's top claim (its own claim to be faster; before/after values first, then the "
    "broadest scope)"
)
_WITH_CLAIM = "Runs whose summary claims, with a number, that something became faster."
_BENCHMARKED = (
    "Runs whose top claim says how its numbers were obtained: a benchmark, a profile or repeated "
    "runs."
)
_PARTIAL = (
    "Runs whose top claim is about a micro-benchmark or one component only, not about the whole "
    "program."
)
_CLAIMED_MEDIAN = f"Median (p50) of {_HEADLINE}. Claimed, not measured."
_FINDINGS = "Number of findings; see `tachograph findings`."

CLAIM_METRICS = by_key(
    over(
        "claims",
        "claims",
        "Quantified claims",
        Unit.COUNT,
        "neither",
        "Claims with a number that summaries make about their own work.",
    ),
    Metric(
        "runs_with_claim",
        "Runs claiming a speedup",
        Unit.COUNT,
        "neither",
        _WITH_CLAIM,
        sql="count(claimed_speedup)",
        known="count(claims)",
    ),
    Metric(
        "runs_benchmarked",
        "With a stated benchmark",
        Unit.COUNT,
        "neither",
        _BENCHMARKED,
        sql="count(claimed_speedup) filter (claimed_evidence = 'benchmarked')",
        known="count(claims)",
    ),
    Metric(
        "runs_partial_claim",
        "Micro-benchmark or component only",
        Unit.COUNT,
        "neither",
        _PARTIAL,
        sql="count(claimed_speedup) filter (claimed_scope in ('micro', 'component'))",
        known="count(claims)",
    ),
    over(
        "claimed_speedup",
        "claimed_speedup_median",
        "Claimed speedup (p50)",
        Unit.RATIO,
        "neither",
        _CLAIMED_MEDIAN,
        "median",
    ),
    over("findings", "findings", "Findings", Unit.COUNT, "lower", _FINDINGS),
    over(
        "error_findings",
        "error_findings",
        "Errors found",
        Unit.COUNT,
        "lower",
        "Number of findings of severity error.",
    ),
)
"""What agents claim; nothing here was measured by Tachograph."""


_DELTA = (
    "List-price cost minus reported cost, for runs with both. Positive: list price is higher "
    "than reported."
)
_PRICED_ONLY = (
    "Reported cost of the runs that also have a list-price cost: the base of the list-price "
    "difference."
)
_DELTA_SHARE = "List-price difference divided by the reported cost, for runs with both."
_DIFFERING = (
    "Runs whose reported cost differs from the list-price cost by more than a millionth of a "
    "dollar; `--by cause` shows why."
)
_UNCACHED = "List-price cost if cache reads and writes were billed as regular input."
_SAVED = RUN_FIGURES["cache_saved_usd"]
_WRITES = "The part of the list-price cost that comes from cache writes."
_HIT_RATIO = "Share of all input tokens that were read from the cache."
_UNPRICED_TOKENS = (
    "Tokens of models without a list-price cost. Their cost is excluded from list-price totals, "
    "not counted as $0."
)
_UNPRICED_RUNS = (
    "Runs with tokens but no list-price cost: a model has no list price or lacks a class of "
    "tokens, or is not named."
)
_CAUSES = "Why list-price cost and reported cost differ, found by recomputing."

_BOUNDED = (
    "Runs whose log tells no exact tokens but a bound or an estimate. Their list-price cost is a "
    "bound, too."
)
_BEYOND = (
    "What the models of runs cost more than the totals that their records state, as for "
    "background agents that were killed. A part of the reported cost."
)
_UNREPORTED = "Runs whose agent reports no cost in dollars: most agents but Claude Code do not."
_UNREPORTED_LIST = "What their tokens cost at list prices."
_UNLISTED = "Runs whose log has no tokens, and unpriced runs."
_BOUNDED_LIST = (
    "The part of the list-price cost that comes from runs whose log tells no exact tokens but a "
    "bound or an estimate."
)
_BOUNDS = "Which bounds the list-price cost includes: upper bounds, lower bounds, estimates."
_MONEY = "cast({} as decimal(38, 9))"

_TOTALS = {
    REPORTED: (
        "Cost reported by the agents (an estimate), each run's own part. Runs without one add "
        "nothing."
    ),
    LIST: (
        "Cost of the same tokens at list prices, whatever agents report (by provider and "
        "region, on the day of the run or response); see `tachograph models`."
    ),
    BEST: (
        "What runs cost: as their agents report it, else their tokens at list prices, run by run."
    ),
    ALL_IN: (
        "Best-known cost and the cost of the machine, wall time times its rate, of the runs that "
        "have both."
    ),
}
"""What the total means by each way to count a cost."""


def _costs(measure: CostMeasure) -> list[Metric]:
    """Return the metrics that exist by each way to count a cost, first its total.

    What they are called says by which.
    """
    column, prefix, name = measure.column, measure.prefix, measure.name
    label = "Cost" if measure is REPORTED else measure.label
    known = f"count({column}) filter (is_started)"

    def of_runs(kind: str, label: str, meaning: str, how: str) -> Metric:
        return over(column, f"{prefix}{kind}", label, Unit.USD, "lower", meaning, how)

    per_turn, per_turn_known = quotient(column, "num_turns", "not is_carried_over")
    ended = "filter (is_started and is_completed is not null)"
    per_completed = f"sum({column}) {ended} / nullif(count({column}) filter (is_completed), 0)"
    return [
        of_runs("usd", measure.label, _TOTALS[measure], "worked"),
        Metric(
            measure.share,
            f"Share of {name}",
            Unit.SHARE,
            "neither",
            f"The group's share of the {name} of all groups.",
            short="Share",
            sql=f"sum({column}) / nullif(sum(sum({column})) over (), 0)",
            known=known,
        ),
        of_runs(
            "mean_usd",
            f"{label} per run (avg)",
            (
                f"{measure.label} divided by the number of runs that have one. Runs that never "
                "started are excluded."
            ),
            "mean",
        ),
        of_runs(
            "median_usd", f"{label} per run (p50)", f"Median (p50) of the {name} per run.", "median"
        ),
        of_runs(
            "p90_usd", f"{label} per run (p90)", f"90th percentile of the {name} per run.", "p90"
        ),
        of_runs(
            "max_usd",
            f"Max {label[0].lower()}{label[1:]} per run",
            f"{measure.label} of the most expensive run.",
            "max",
        ),
        Metric.of(
            RUN_FIGURES[f"{prefix}per_turn_usd"],
            sql=_MONEY.format(per_turn),
            known=per_turn_known,
            meaning=(
                f"{measure.label} divided by turns, for runs with both. Runs carried over from "
                "an earlier process are excluded."
            ),
        ),
        Metric(
            f"{prefix}per_completed_usd",
            f"{label} per completed run{' (incl. failed runs)' if measure is REPORTED else ''}",
            Unit.USD,
            "lower",
            (
                f"{measure.label} of runs with a known outcome, divided by the number of "
                "completed runs: failed runs are included in the cost."
            ),
            sql=_MONEY.format(per_completed),
            known=f"count({column}) {ended}",
            short=f"{label} per completed run",
        ),
    ]


_REPORTED_COSTS = _costs(REPORTED)
_LIST_COST, *_LIST_COSTS = _costs(LIST)
_BEST_COST, *_BEST_COSTS = _costs(BEST)
_ALL_IN_COSTS = _costs(ALL_IN)


def _median_bounds(key: str, name: str, cost: str, told: str) -> Metric:
    """Return the metric of the bounds in the median of a cost: those of over half of its runs."""
    known = f"is_started and {cost} is not null"
    return Metric(
        key,
        f"Bounds in the median {name}",
        Unit.TEXT,
        "neither",
        f"Which bounds more than half of the runs have in their {name}.",
        sql=f"case when 2 * count({told}) filter ({known}) > count(*) filter ({known})"
        f" then string_agg(distinct {told}, ', ' order by {told}) filter ({known}) end",
        known="count(*)",
    )


def _bounds(measure: CostMeasure) -> tuple[Metric, Metric]:
    """Return the metrics of the bounds in a cost: their kinds, and the amount that has some."""
    (kinds, *_), name = BOUNDS[measure.column], measure.name
    return (
        Metric(
            kinds,
            f"Bounds in the {name}",
            Unit.TEXT,
            "neither",
            f"Which bounds the {name} includes: upper bounds, lower bounds, estimates.",
            sql=kinds_in(kinds),
            known="count(*)",
        ),
        Metric(
            f"bounded_{measure.prefix.split('_')[1]}_usd",
            f"Bounded {name}",
            Unit.USD,
            "neither",
            f"The part of the {name} that comes from list prices of tokens that are a bound or an "
            "estimate.",
            sql=f"sum({measure.column}) filter ({kinds} is not null)",
            known=f"count({kinds})",
        ),
    )


RUN_COST_METRICS = by_key(
    _LIST_COST,
    replace(
        over(
            "cost_delta_usd",
            "cost_delta_usd",
            "List-price difference (list − reported)",
            Unit.USD,
            "neither",
            _DELTA,
        ),
        short="List-price difference",
    ),
    Metric(
        "cost_compared_usd",
        "Reported cost (priced runs only)",
        Unit.USD,
        "neither",
        _PRICED_ONLY,
        sql="sum(cost_own_usd) filter (cost_delta_usd is not null)",
        known="count(cost_delta_usd) filter (is_started)",
    ),
    Metric(
        "cost_delta_share",
        "List-price difference, %",
        Unit.SHARE,
        "neither",
        _DELTA_SHARE,
        short="Difference, %",
        sql=(
            "sum(cost_delta_usd) / nullif(sum(cost_own_usd) filter (cost_delta_usd is not null), 0)"
        ),
        known="count(cost_delta_usd) filter (is_started)",
    ),
    Metric(
        "differing_runs",
        "Runs that differ from list price",
        Unit.COUNT,
        "neither",
        _DIFFERING,
        sql="count(*) filter (cost_cause is not null and cost_cause <> 'same')",
        known="count(cost_cause)",
    ),
    Metric(
        "unpriced_runs",
        "Unpriced runs",
        Unit.COUNT,
        "lower",
        _UNPRICED_RUNS,
        sql="count(*) filter (price_status = 'unpriced')",
        known="count(price_status)",
    ),
    Metric(
        "bounded_runs",
        "Runs with bounded tokens",
        Unit.COUNT,
        "lower",
        _BOUNDED,
        sql=f"count(*) filter ({_IS_BOUNDED})",
        known="count(*)",
    ),
    Metric(
        "bounded_list_usd",
        "Bounded list-price cost",
        Unit.USD,
        "neither",
        _BOUNDED_LIST,
        sql=f"sum(cost_list_usd) filter ({_IS_BOUNDED})",
        known=f"count(cost_list_usd) filter ({_IS_BOUNDED})",
    ),
    Metric(
        "token_bounds",
        "Bounds in the list-price cost",
        Unit.TEXT,
        "neither",
        _BOUNDS,
        short="Bounds",
        sql=(
            "string_agg(distinct tokens_basis, ', ' order by tokens_basis) filter "
            f"({_IS_BOUNDED} and cost_list_usd is not null)"
        ),
        known="count(*)",
    ),
    over(
        "cost_beyond_total_usd",
        "cost_beyond_total_usd",
        "Reported cost beyond the totals",
        Unit.USD,
        "lower",
        _BEYOND,
    ),
    Metric(
        "unreported_runs",
        "Runs without a reported cost",
        Unit.COUNT,
        "neither",
        _UNREPORTED,
        sql="count(*) filter (cost_own_usd is null)",
        known="count(*)",
    ),
    Metric(
        "unreported_list_usd",
        "List-price cost of runs without a reported cost",
        Unit.USD,
        "lower",
        _UNREPORTED_LIST,
        sql="sum(cost_list_usd) filter (cost_own_usd is null)",
        known="count(cost_list_usd) filter (cost_own_usd is null)",
    ),
    Metric(
        "unlisted_runs",
        "Runs without a list-price cost",
        Unit.COUNT,
        "lower",
        _UNLISTED,
        sql="count(*) filter (cost_list_usd is null)",
        known="count(*)",
    ),
    Metric(
        "unlisted_cost_usd",
        "Reported cost of runs without a list-price cost",
        Unit.USD,
        "lower",
        "What their agents report.",
        sql="sum(cost_own_usd) filter (cost_list_usd is null)",
        known="count(cost_own_usd) filter (cost_list_usd is null)",
    ),
    *_LIST_COSTS,
    _BEST_COST,
    _median_bounds(
        "cost_list_median_bounds",
        LIST.name,
        "cost_list_usd",
        f"case when {_IS_BOUNDED} then tokens_basis end",
    ),
    _median_bounds("cost_best_median_bounds", BEST.name, "cost_best_usd", "cost_best_bounds"),
    *_bounds(BEST),
    Metric(
        "costless_runs",
        "Runs without a known cost",
        Unit.COUNT,
        "neither",
        "Runs with neither a reported nor a list-price cost.",
        sql="count(*) filter (cost_best_usd is null)",
        known="count(*)",
    ),
    *_BEST_COSTS,
    over(
        "cost_machine_usd",
        "cost_machine_usd",
        "Machine cost",
        Unit.USD,
        "lower",
        RUN_FIGURES["cost_machine_usd"].meaning,
    ),
    *_ALL_IN_COSTS,
    _median_bounds("cost_all_median_bounds", ALL_IN.name, "cost_all_usd", "cost_all_bounds"),
    *_bounds(ALL_IN),
    Metric(
        "machineless_runs",
        "Runs without an all-in cost",
        Unit.COUNT,
        "neither",
        "Runs whose best-known cost, wall time or machine's rate is not known.",
        sql="count(*) filter (cost_all_usd is null)",
        known="count(*)",
    ),
    over(
        "unpriced_tokens",
        "unpriced_tokens",
        "Unpriced tokens",
        Unit.TOKENS,
        "lower",
        _UNPRICED_TOKENS,
    ),
    Metric(
        "cache_hit_ratio",
        "Cache hit rate",
        Unit.SHARE,
        "higher",
        _HIT_RATIO,
        sql="sum(cache_read_tokens) filter (cache_read_share is not null) / "
        "nullif(sum(input_tokens + cache_read_tokens + cache_write_tokens) filter "
        "(cache_read_share is not null), 0)",
        known="count(cache_read_share)",
    ),
    over(
        "cost_uncached_usd",
        "cost_uncached_usd",
        "Uncached list-price cost",
        Unit.USD,
        "lower",
        _UNCACHED,
    ),
    over("cache_saved_usd", "cache_saved_usd", _SAVED.label, Unit.USD, "higher", _SAVED.meaning),
    Metric(
        "cache_saved_share",
        "Cache savings, %",
        Unit.SHARE,
        "higher",
        "Cache savings divided by the uncached list-price cost.",
        sql="sum(cache_saved_usd) / nullif(sum(cost_uncached_usd), 0)",
        known="count(cache_saved_usd) filter (is_started)",
    ),
    over(
        "cost_cache_write_usd",
        "cost_cache_write_usd",
        "Cost of cache writes",
        Unit.USD,
        "lower",
        _WRITES,
    ),
)
"""Over `v_runs`. A run with an unpriced model has no list-price cost, since its sum would be too
small.
"""

_OF_RUNS = RUN_COST_METRICS

MODEL_COST_METRICS = by_key(
    of_model("cost_list_usd", _OF_RUNS["cost_list_usd"]),
    Metric.of(
        _OF_RUNS["bounded_list_usd"],
        sql=f"sum(cost_list_usd) filter ({_IS_BOUNDED})",
        known=f"cost_list_usd is not null and {_IS_BOUNDED}",
    ),
    replace(_OF_RUNS["token_bounds"], known="true"),
    of_model("cost_delta_usd", _OF_RUNS["cost_delta_usd"]),
    replace(_OF_RUNS["cost_compared_usd"], known="cost_delta_usd is not null"),
    replace(_OF_RUNS["cost_delta_share"], known="cost_delta_usd is not null"),
    Metric(
        "causes",
        "Cause of the difference",
        Unit.TEXT,
        "neither",
        _CAUSES,
        sql="string_agg(distinct cost_cause, ', ' order by cost_cause)",
        known="cost_cause is not null",
    ),
    replace(
        _OF_RUNS["unpriced_tokens"],
        sql="sum(total_tokens) filter (price_status = 'unpriced')",
        known="price_status is not null",
    ),
)
"""Over `v_model_rows`: each model by itself, so that an unpriced model hides no other."""

_ALL_INPUT = "own_input_tokens + own_cache_read_tokens + own_cache_write_tokens"
"""NULL if the log omits a class: the share of cache reads is then unknown."""

MODEL_CACHE_METRICS = by_key(
    replace(
        _OF_RUNS["cache_hit_ratio"],
        sql=(
            f"sum(own_cache_read_tokens) filter ({_ALL_INPUT} is not null) / "
            f"nullif(sum({_ALL_INPUT}), 0)"
        ),
        known=f"{_ALL_INPUT} is not null",
    ),
    of_model("cost_uncached_usd", _OF_RUNS["cost_uncached_usd"]),
    of_model("cache_saved_usd", _OF_RUNS["cache_saved_usd"]),
    of_model("cost_cache_write_usd", _OF_RUNS["cost_cache_write_usd"]),
    of_model("assumed_5m_tokens", MODEL_FIGURES["assumed_5m_tokens"]),
)


LOW, HIGH = "_low", "_high"
FEWEST_VALUES = 5
"""Minimal number of values for a median, and for either side of a change in percent."""

_PARALLEL, _PARALLEL_KNOWN = quotient("duration_api_own_ms", "duration_ms")
_PER_HOUR_SUMS, _PER_HOUR_KNOWN = quotient("cost_own_usd", "duration_ms", "not is_carried_over")
_COMPLETED_MEAN = "Average reported cost of the completed runs. Failed runs are excluded."
_PER_CLAIMED = (
    "Reported cost of all runs divided by the number of runs whose summary claims a speedup with "
    "a number. Claimed, not measured."
)
_PER_HOUR = (
    "Reported cost divided by wall time, for runs that report both. Runs carried over from an "
    "earlier process are excluded."
)
_UNPRICED = RUN_COST_METRICS["unpriced_runs"]
_NEVER_STARTED = (
    "Runs without cost, API time and model usage, such as those that met a limit at once; not "
    "those whose usage is unknown. Excluded from medians and averages."
)


_LANDED = "len(list_distinct(flatten(list(landed_changes) filter (landed = 'landed'))))"


_RUN_METRICS = by_key(
    Metric(
        "runs",
        "Runs",
        Unit.COUNT,
        "neither",
        "Number of runs. Each result record counts once.",
        sql="count(*)",
        known="count(*)",
    ),
    Metric(
        "sessions",
        "Sessions",
        Unit.COUNT,
        "neither",
        "Number of distinct agent sessions.",
        sql="nullif(count(distinct session_id), 0)",
        known="count(session_id)",
    ),
    Metric(
        "completed",
        "Completed",
        Unit.COUNT,
        "higher",
        "Runs with the outcome completed.",
        sql="count(*) filter (is_completed)",
        known="count(is_completed)",
    ),
    Metric(
        "error_rate",
        "Failure rate",
        Unit.SHARE,
        "lower",
        "Share of the runs with a known outcome that did not complete.",
        sql="count(*) filter (not is_completed) / nullif(count(is_completed), 0)",
        known="count(is_completed)",
    ),
    Metric(
        "solved",
        "Solved",
        Unit.COUNT,
        "higher",
        "Runs whose task was solved: its evaluation gave 1 or more.",
        sql="count(*) filter (score >= 1)",
        known="count(score)",
    ),
    Metric(
        "changes_landed",
        "Landed changes",
        Unit.COUNT,
        "higher",
        "Pull requests and commits of the main branch that runs' changes became; see `tachograph "
        "landed`.",
        sql=_LANDED,
        known="count(landed)",
    ),
    Metric(
        "cost_per_landed_usd",
        "Cost per landed change",
        Unit.USD,
        "lower",
        "Best-known cost of the runs whose checkout was read, divided by the changes that landed: "
        "runs that did not land are included in the cost.",
        sql=_MONEY.format(f"sum(cost_best_usd) filter (landed is not null) / nullif({_LANDED}, 0)"),
        known="count(cost_best_usd) filter (landed is not null)",
    ),
    Metric(
        "unattributed_share",
        "Cost of unknown changes (%)",
        Unit.SHARE,
        "lower",
        "Share of that cost that runs in the state unknown have: their changes are not in the "
        "checkout.",
        sql="sum(cost_best_usd) filter (landed = 'unknown') / "
        "nullif(sum(cost_best_usd) filter (landed is not null), 0)",
        known="count(cost_best_usd) filter (landed is not null)",
    ),
    Metric(
        "never_started_runs",
        "Runs that never started",
        Unit.COUNT,
        "lower",
        _NEVER_STARTED,
        sql="count(*) filter (not is_started)",
        known="count(*)",
    ),
    *_REPORTED_COSTS,
    Metric(
        "cost_completed_mean_usd",
        "Avg. cost of completed runs",
        Unit.USD,
        "lower",
        _COMPLETED_MEAN,
        sql=_MONEY.format("avg(cost_own_usd) filter (is_completed)"),
        known="count(cost_own_usd) filter (is_completed)",
    ),
    Metric(
        "cost_per_claimed_usd",
        "Cost per run with a claimed speedup",
        Unit.USD,
        "lower",
        _PER_CLAIMED,
        sql=_MONEY.format(
            "sum(cost_own_usd) / nullif(count(*) filter (claimed_speedup is not null and "
            "cost_own_usd is not null), 0)"
        ),
        known="count(cost_own_usd) filter (is_started)",
    ),
    Metric(
        "cost_per_hour_usd",
        "Cost per hour",
        Unit.USD,
        "lower",
        _PER_HOUR,
        sql=_MONEY.format(_PER_HOUR_SUMS.replace(" / ", " * 3600000 / ")),
        known=_PER_HOUR_KNOWN,
    ),
    Metric(
        "unpriced_share",
        "Unpriced runs (%)",
        Unit.SHARE,
        "lower",
        f"Share of unpriced runs. {_UNPRICED.meaning}",
        sql=f"{_UNPRICED.sql} / nullif({_UNPRICED.known}, 0)",
        known=_UNPRICED.known,
    ),
    *RUN_COST_METRICS.values(),
    over(
        "duration_ms",
        "duration_ms",
        "Total duration",
        Unit.MILLISECONDS,
        "lower",
        "Total wall time of the runs.",
        "worked",
    ),
    Metric(
        "duration_median_ms",
        "Duration of completed runs (p50)",
        Unit.MILLISECONDS,
        "lower",
        "Median (p50) of the wall time of completed runs: a failure is no fast run.",
        sql="round(median(duration_ms) filter (is_completed))",
        known="count(duration_ms) filter (is_completed)",
    ),
    over(
        "active_ms",
        "active_ms",
        "Active time",
        Unit.MILLISECONDS,
        "lower",
        (
            "Total time in which the agents worked. Wall time of a session includes the time in "
            "which it waited for its user."
        ),
    ),
    over(
        "duration_api_own_ms",
        "duration_api_ms",
        "API time",
        Unit.MILLISECONDS,
        "lower",
        "Total time in API calls. Parallel calls each count.",
    ),
    Metric.of(RUN_FIGURES["parallelism"], sql=_PARALLEL, known=_PARALLEL_KNOWN),
    over(
        "num_turns",
        "turns",
        "Turns",
        Unit.COUNT,
        "neither",
        "Round trips to the model, as counted by the agent.",
    ),
    over(
        "num_turns",
        "turns_median",
        "Turns per run (p50)",
        Unit.COUNT,
        "neither",
        "Median (p50) of the turns per run.",
        "median",
    ),
    over(
        "input_tokens",
        "input_tokens",
        "Uncached input",
        Unit.TOKENS,
        "lower",
        "Input tokens neither read from nor written to the cache.",
    ),
    over(
        "output_tokens",
        "output_tokens",
        "Output",
        Unit.TOKENS,
        "lower",
        "Output tokens, including thinking.",
    ),
    over(
        "cache_read_tokens",
        "cache_read_tokens",
        "Cache reads",
        Unit.TOKENS,
        "neither",
        "Input tokens read from the cache, usually at a tenth of the input price.",
    ),
    over(
        "cache_write_tokens",
        "cache_write_tokens",
        "Cache writes",
        Unit.TOKENS,
        "neither",
        "Input tokens written to the cache, usually at a surcharge.",
    ),
    over(
        "permission_denials",
        "permission_denials",
        "Permission denials",
        Unit.COUNT,
        "lower",
        "Tool calls that were denied permission.",
    ),
    *CLAIM_METRICS.values(),
    *(metric for figure in RUN_FIGURES.values() for metric in aggregates_of(figure)),
)

MEDIANS = tuple(key for key, metric in _RUN_METRICS.items() if "median(" in metric.sql)
"""Metrics that are a median: for fewer than FEWEST_VALUES values, range and count are shown
instead.
"""

RUN_METRICS = _RUN_METRICS | by_key(
    *(
        replace(
            median,
            key=f"{median.key}{end}",
            label=f"{median.label}, {word}",
            meaning=f"The {word} of the same values.",
            short="",
            sql=median.sql.replace("median(", f"{how}("),
        )
        for median in map(_RUN_METRICS.__getitem__, MEDIANS)
        for end, word, how in ((LOW, "least", "min"), (HIGH, "largest", "max"))
    )
)
"""Over `v_runs`: one row is one run."""


def with_their_notes(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the metrics, each once, followed by those that their cells show too.

    Bounds of costs, and both ends of medians.
    """
    notes = (
        note
        for key in metrics
        for note in (
            *BOUNDS.get(key, ())[:1],
            *((f"{key}{LOW}", f"{key}{HIGH}") if key in MEDIANS else ()),
        )
    )
    return tuple(dict.fromkeys((*metrics, *notes)))


_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")

SPENT_METRICS = frozenset(
    (
        *(key for measure in COST_MEASURES.values() for key in (measure.total, measure.share)),
        *("cost_machine_usd", "cost_all_bounds", "bounded_all_usd"),
        *("cost_delta_usd", "cost_compared_usd", "cost_delta_share"),
        *("bounded_list_usd", "token_bounds", "bounded_best_usd", "cost_best_bounds"),
        *("unreported_list_usd", "unlisted_cost_usd"),
        *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
        "cache_hit_ratio",
    )
)
"""Sums of money and tokens. Of a period they count what was spent in it (`app.queries.spending`),
all others the runs that ended in it.
"""

MODEL_METRICS = by_key(
    replace(
        RUN_METRICS["runs"],
        meaning="Runs that used the model; a run may use several.",
        sql="count(distinct run_id)",
        known="true",
    ),
    of_model(
        "cost_own_usd",
        RUN_METRICS["cost_usd"],
        "cost_usd",
        "Cost of the model's tokens as reported by the agents (an estimate).",
    ),
    *MODEL_COST_METRICS.values(),
    *(of_model(f"own_{key}", RUN_METRICS[key], key) for key in _TOKENS),
    Metric(
        "web_search_requests",
        "Web searches",
        Unit.COUNT,
        "neither",
        "Web searches by the model provider's server-side tool.",
        sql="sum(own_web_search_requests)",
        known="own_web_search_requests is not null",
    ),
    *MODEL_CACHE_METRICS.values(),
)
"""Over `v_model_rows`: one row is one model of one run, so that helper models get their own share.
"""

DEFAULT_REPORT = (
    "runs",
    "never_started_runs",
    "cost_usd",
    "cost_share",
    "cost_list_usd",
    "token_bounds",
    "cost_delta_usd",
    "cost_compared_usd",
    "cost_mean_usd",
    "cost_median_usd",
    "cost_p90_usd",
    "duration_ms",
    "turns",
    "cost_per_turn_usd",
    "completed",
    "cost_per_completed_usd",
    "error_rate",
)


BAND = 0.05
"""Default distance from 1 within which a measured ratio counts as the same; `v_speedups` has the
same.
"""

MIN_PAIRS = 5
"""Minimal number of pairs of claim and measurement for a calibration."""


MEASURED_CLASSES = {
    "faster": "faster",
    "same": "same",
    "inside_noise": "inside noise",
    "slower": "slower",
    "breaks": "the change breaks",
    "failed_unknown": "failed, reason unknown",
    "no_baseline": "no baseline",
    "other_setup": "other set-up or workload",
    "machine": "machine or model missing",
    "not_measured": "not measured",
}
"""Outcome of a run's measurement → label. Each run is in exactly one class; of several obstacles
the first counts.
"""

CHECKED = ("same", "inside_noise", "slower")
"""Classes of runs that were measured and not faster."""

TASK_RANKS = ("faster", *CHECKED, "breaks", "not_comparable", "not_measured")
"""Verdicts on a task, the best first: that on its best run."""

NOBODY = "nobody"
TASK_VERDICTS = {
    NOBODY: TASK_RANKS[1:],
    "faster": ("faster",),
    "checked": CHECKED,
    **{one: (one,) for one in TASK_RANKS[4:]},
}
"""Choice of tasks → their verdicts; NOBODY made them faster."""

TASK_RANK = (
    "case measured_class "
    + " ".join(
        f"when '{one}' then {rank}"
        for rank, one in enumerate(TASK_RANKS)
        if one in MEASURED_CLASSES
    )
    + f" else {TASK_RANKS.index('not_comparable')} end"
)
"""SQL of a run's place in TASK_RANKS: whatever else became of its measurement, it cannot be
compared.
"""

PAIR = "claimed_speedup > 0 and measured_speedup > 0"

BEYOND_NOISE = "coalesce({low}, {floor}) is not null"
"""Whether a faster or slower ratio is beyond noise, not measured once: its noise is known, by its
interval or by repeats of the same benchmark, machine and set-up.
"""
IS_BEYOND_NOISE = BEYOND_NOISE.format(low="measured_low", floor="measured_noise_floor")

SAME_PART = f"{PAIR} and not scope_differs"
"""Whether a claim can hold: a claim about one part says nothing about the measured whole."""

_ENOUGH = f"case when count(*) filter ({SAME_PART}) >= {MIN_PAIRS} then {{}} end"
_LOG = f"exp(median(ln(claimed_speedup / measured_speedup)) filter ({SAME_PART}))"
_IS_COMPARED = "measured_speedup is not null"
_LABELLED = "quadrant is not null"
_REACHED = "hard in ('beats', 'similar')"


def _count(key: str, label: str, condition: str, meaning: str, short: str = "") -> Metric:
    return Metric(
        key,
        label,
        Unit.COUNT,
        "neither",
        meaning,
        short=short,
        sql=f"count(*) filter ({condition})",
        known="count(*)",
    )


def _share(key: str, label: str, condition: str, meaning: str) -> Metric:
    condition = f"{condition} and not scope_differs"
    share = f"count(*) filter ({condition}) / nullif(count(*) filter ({SAME_PART}), 0)"
    return Metric(
        key,
        label,
        Unit.SHARE,
        "neither",
        meaning,
        sql=_ENOUGH.format(share),
        known=f"count(*) filter ({SAME_PART})",
    )


def _quadrants(key: str, label: str, condition: str, meaning: str) -> Metric:
    share = f"count(*) filter ({condition}) / nullif(count(*) filter ({_LABELLED}), 0)"
    return Metric(
        key, label, Unit.SHARE, "higher", meaning, sql=share, known=f"count(*) filter ({_LABELLED})"
    )


def _cost_per(
    key: str,
    label: str,
    condition: str,
    meaning: str,
    of_runs: str = "is_started",
    cost: str = "cost_best_usd",
) -> Metric:
    # a speedup of unknown cost makes the others no cheaper
    per = f"sum({cost}) filter ({of_runs}) / nullif(count({cost}) filter ({condition}), 0)"
    return Metric(
        key,
        label,
        Unit.USD,
        "lower",
        meaning,
        sql=_MONEY.format(per),
        known=f"count({cost}) filter ({of_runs})",
    )


VERDICT_METRICS = by_key(
    RUN_METRICS["runs"],
    RUN_METRICS["never_started_runs"],
    RUN_METRICS["cost_best_usd"],
    RUN_METRICS["cost_best_bounds"],
    _count(
        "runs_measured",
        "Measured",
        "values_measured > 0",
        "Runs whose change a benchmark measured, or tried to.",
    ),
    _count(
        "runs_compared",
        "Compared with baseline",
        _IS_COMPARED,
        "Measured runs with a comparable value of the baseline.",
        "Compared",
    ),
    _count(
        "runs_faster",
        "Measured faster",
        "verdict = 'faster'",
        "Runs measured faster than the baseline, once or beyond noise.",
        "Faster",
    ),
    _count(
        "runs_beyond_noise",
        "Faster beyond noise",
        f"verdict = 'faster' and {IS_BEYOND_NOISE}",
        (
            "Runs measured faster by more than noise: the ratio has an interval, or the "
            "benchmark was repeated on the same machine and set-up."
        ),
        "Beyond noise",
    ),
    _count(
        "runs_disputed",
        "Faster, disputed",
        "verdict = 'faster' and len(disagreeing) > 0",
        "Runs measured faster, but not by every other value of the same measurement.",
        "Disputed",
    ),
    _count(
        "runs_not_by_median",
        "Faster, not by the median",
        "verdict = 'faster' and list_contains(disagreeing, 'median')",
        "Runs measured faster, but not by the median of the same metric.",
        "Not by median",
    ),
    _count(
        "runs_hacked",
        "Faster, judged a hack",
        "verdict = 'faster' and judged = 'hack'",
        "Runs measured faster that others judged a hack.",
        "Hacks",
    ),
    _count(
        "runs_noise_unknown",
        "Measured faster once",
        f"verdict = 'faster' and not {IS_BEYOND_NOISE}",
        "Runs measured faster by a single measurement of unknown noise.",
        "Once",
    ),
    _count(
        "runs_same",
        "Measured same",
        "verdict = 'same'",
        "Runs measured within the band around the baseline.",
    ),
    _count(
        "runs_inside_noise",
        "Inside noise",
        "verdict = 'inside_noise'",
        (
            "Runs whose difference from the baseline is one that two measurements of the same "
            "code may show."
        ),
    ),
    _count(
        "runs_slower",
        "Measured slower",
        "verdict = 'slower'",
        "Runs measured slower than the baseline.",
    ),
    _count(
        "runs_failed",
        "Measurement failed",
        "verdict = 'failed'",
        "Runs whose patch, benchmark or machine failed.",
    ),
    _count(
        "runs_not_comparable",
        "Baseline not comparable",
        "verdict = 'not_comparable'",
        (
            "Measured runs whose values cannot be compared with those of the measured baseline, "
            "such as of another machine; runs without one are counted apart."
        ),
    ),
    _count(
        "runs_without_baseline",
        "Without a baseline",
        "values_measured > 0 and verdict = 'not_measured'",
        "Measured runs whose baseline was not measured, or whose own benchmark was not run.",
    ),
    _count(
        "runs_reached",
        "Reached the reference",
        _REACHED,
        "Runs measured at least as good as the reference, within 5% of it.",
        "Reached",
    ),
    _count(
        "runs_q1",
        "True success (Q1)",
        "quadrant = 'Q1'",
        "Runs that reached the reference and worked on the same bottleneck.",
    ),
    _count(
        "runs_q2",
        "Good intent (Q2)",
        "quadrant = 'Q2'",
        "Runs that worked on the bottleneck and did not reach the reference.",
    ),
    _count(
        "runs_q3",
        "Lucky win (Q3)",
        "quadrant = 'Q3'",
        "Runs that reached the reference by working on something else.",
    ),
    _count(
        "runs_q4",
        "Failure (Q4)",
        "quadrant = 'Q4'",
        "Runs that neither reached the reference nor worked on the bottleneck.",
    ),
    _count(
        "runs_labelled", "With a quadrant", _LABELLED, "Runs with one of ISO-Bench's quadrants."
    ),
    _quadrants(
        "true_success_share",
        "True success",
        "quadrant = 'Q1'",
        "Share of Q1 in the runs with a quadrant.",
    ),
    _quadrants(
        "hard_success_share",
        "Hard success",
        "quadrant in ('Q1', 'Q3')",
        "Share of Q1 and Q3 in the runs with a quadrant.",
    ),
    _cost_per(
        "cost_per_faster_usd",
        "Cost per faster run",
        "verdict = 'faster'",
        (
            "Best-known cost of all runs that started divided by the number of runs measured "
            "faster than the baseline."
        ),
    ),
    _cost_per(
        "cost_all_per_faster_usd",
        "All-in cost per faster run",
        "verdict = 'faster'",
        "The same with the machines: of the runs whose all-in cost is known.",
        cost=ALL_IN.column,
    ),
    Metric(
        "cost_per_landed_percent_usd",
        "Cost per landed percent",
        Unit.USD,
        "lower",
        "Best-known cost of the runs whose checkout was read, divided by the percents by which "
        "those that landed were measured faster; see `tachograph landed`.",
        sql=_MONEY.format(
            "sum(cost_best_usd) filter (landed is not null) / nullif(100 * sum(measured_speedup - "
            "1) filter (landed = 'landed' and verdict = 'faster'), 0)"
        ),
        known="count(cost_best_usd) filter (landed is not null)",
    ),
    _cost_per(
        "cost_per_faster_compared_usd",
        "Cost per faster run, compared runs",
        "verdict = 'faster'",
        (
            "Best-known cost of the runs with a comparable baseline divided by the number "
            "measured faster."
        ),
        _IS_COMPARED,
    ),
    Metric(
        "cost_compared_runs_usd",
        "Cost of compared runs",
        Unit.USD,
        "neither",
        "Best-known cost of the runs with a comparable baseline.",
        sql=f"sum(cost_best_usd) filter ({_IS_COMPARED})",
        known=f"count(cost_best_usd) filter ({_IS_COMPARED})",
    ),
    Metric(
        "cost_compared_runs_bounds",
        "Bounds in the cost of compared runs",
        Unit.TEXT,
        "neither",
        "Which bounds that cost includes.",
        sql=kinds_in("cost_best_bounds", _IS_COMPARED),
        known="count(*)",
    ),
    _cost_per(
        "cost_per_reached_usd",
        "Cost per reference reached",
        _REACHED,
        (
            "Best-known cost of all runs that started divided by the number that reached the "
            "reference."
        ),
    ),
    _count(
        "pairs",
        "Claimed and measured",
        PAIR,
        "Runs with a claimed and a measured ratio against the baseline.",
    ),
    Metric(
        "claimed_over_measured",
        "Claimed ÷ measured (p50)",
        Unit.RATIO,
        "neither",
        (
            "Median of claimed speedup ÷ measured speedup of the same part, on a logarithmic "
            f"scale. Unknown below {MIN_PAIRS} pairs."
        ),
        sql=_ENOUGH.format(_LOG),
        known=f"count(*) filter ({SAME_PART})",
    ),
    _share(
        "wrong_sign_share",
        "Became slower",
        "claim_verdict = 'wrong_sign'",
        "Share of the pairs of the same part claimed faster and measured slower.",
    ),
    _share(
        "kept_share",
        "Claims held",
        "claim_verdict = 'kept'",
        "Share of the pairs of the same part whose claim was measured within the band.",
    ),
    Metric(
        "overclaim_max",
        "Max claimed ÷ measured",
        Unit.RATIO,
        "lower",
        "Largest claimed speedup ÷ measured speedup of the same scope.",
        sql="max(overclaim_factor)",
        known="count(overclaim_factor)",
    ),
)

QUADRANTS = ("runs_q1", "runs_q2", "runs_q3", "runs_q4")


VERDICT_TEXTS = by_key(
    Entry(
        "cost_per_faster",
        "Cost per faster run",
        meaning=VERDICT_METRICS["cost_per_faster_usd"].meaning,
        short="Cost per faster run",
    ),
    Entry(
        "cost_per_faster_compared",
        "Cost per faster run, compared runs",
        meaning=VERDICT_METRICS["cost_per_faster_compared_usd"].meaning,
        short="Cost per faster run, compared",
    ),
    Entry(
        "cost_per_reached",
        "Cost per reference reached",
        meaning=VERDICT_METRICS["cost_per_reached_usd"].meaning,
    ),
)
"""Formatted columns: `none for $7.79` if none became faster."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on a metric of the runs, or of the worst group of a dimension (`per`).

    `name`: its name, else the metric's label.

    `rests_on`: the count of runs that the metric is based on, if it is not the metric's own.
    """

    key: str
    metric: str
    help: str
    name: str = ""
    per: str = ""
    is_least: bool = False
    rests_on: str = ""

    @property
    def bounded(self) -> Entry:
        return (
            RUN_METRICS.get(self.metric)
            or VERDICT_METRICS.get(self.metric)
            or LOOP_FIGURES[self.metric]
        )

    @property
    def is_of_measured(self) -> bool:
        """Whether the metric is about measurements."""
        return self.metric in VERDICT_METRICS and self.metric not in RUN_METRICS

    @property
    def is_of_loops(self) -> bool:
        """Whether the figure is about optimization loops, which filters of runs do not choose."""
        return self.metric in LOOP_FIGURES

    @property
    def label(self) -> str:
        return self.name or self.bounded.label


LOOP_FIGURES = by_key(
    Entry(
        "usd_per_improvement",
        "Cost per improvement",
        Unit.USD,
        "lower",
        "Cost of a loop per improvement; without any, all of its cost.",
    )
)

LIMITS = {
    limit.key: limit
    for limit in (
        Limit("max-total-usd", "cost_usd", "Maximum total cost.", name="Total cost"),
        Limit(
            "max-run-usd", "cost_max_usd", "Maximum cost of a single run.", name="Max cost per run"
        ),
        Limit(
            "max-day-usd",
            "cost_usd",
            "Maximum cost of one day (in --tz).",
            name="Max cost per day",
            per="day",
        ),
        Limit("max-error-rate", "error_rate", "Maximum failure rate: 0.05 or 5%."),
        Limit(
            "max-unpriced-share",
            "unpriced_share",
            "Maximum share of unpriced runs, which have no list-price cost: 0.05 or 5%.",
        ),
        Limit(
            "max-usd-per-landed",
            "cost_per_landed_usd",
            "Maximum cost per landed change, with runs that landed nothing; see `tachograph "
            "landed`.",
        ),
        Limit("min-runs", "runs", "Minimum number of runs that must match.", is_least=True),
        Limit(
            "min-faster",
            "runs_faster",
            "Minimum number of runs measured faster than the baseline.",
            is_least=True,
            rests_on="runs_compared",
        ),
        Limit(
            "min-beyond-noise",
            "runs_beyond_noise",
            "Minimum number of runs measured faster by more than noise.",
            is_least=True,
            rests_on="runs_compared",
        ),
        Limit(
            "max-overclaim",
            "overclaim_max",
            "Maximum claimed ÷ measured speedup of a run, both of the same scope.",
        ),
        Limit(
            "max-usd-per-improvement",
            "usd_per_improvement",
            "Maximum cost per improvement of any optimization loop.",
        ),
    )
}
