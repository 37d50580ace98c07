"""Every figure of a group, once: what aggregates the rows of a view. Screens, reports, exports, help texts and docs read this page.

What an entry says is in `schemas.catalogue.entry`; the groupings are in `schemas.catalogue.dimensions`, figures of a single run in
`schemas.catalogue.figures`. Figures of one kind have a file each; they come together here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from schemas.catalogue.cost_measures import BOUNDS
from schemas.catalogue.dimensions import DIMENSIONS, MODEL_DIMENSIONS
from schemas.catalogue.entry import Better, Dimension, Metric, aggregates_of, by_key, of_model, over, quotient
from schemas.catalogue.figures import RUN_FIGURES
from schemas.catalogue.metrics_claims import CLAIM_METRICS
from schemas.catalogue.metrics_cost import MODEL_CACHE_METRICS, MODEL_COST_METRICS, RUN_COST_METRICS
from schemas.unit_names import Unit

__all__ = ["DEFAULT_REPORT", "DIMENSIONS", "MODEL_DIMENSIONS", "MODEL_METRICS", "RUN_METRICS", "Better", "Dimension", "Metric"]

LOW, HIGH = "_low", "_high"
FEWEST_VALUES = 5
"""Fewest values of a median, and of either side of a change in percent."""

_PARALLEL, _PARALLEL_KNOWN = quotient("duration_api_own_ms", "duration_ms")
_PER_TURN, _PER_TURN_KNOWN = quotient("cost_own_usd", "num_turns", "not is_carried_over")
_PER_HOUR_SUMS, _PER_HOUR_KNOWN = quotient("cost_own_usd", "duration_ms", "not is_carried_over")
_MONEY = "cast({} as decimal(38, 9))"
_WITH_COST = "nullif(count(*) filter ({} and cost_own_usd is not null), 0)"
_COST = "Cost reported by the agents (an estimate), deduplicated."
_MEAN = "Reported cost divided by the number of runs that report one. Runs that never started are excluded."
_MEDIAN = "Median (p50) of the reported cost per run."
_SHARE = "The group's share of the reported cost of all groups."
_PER_COMPLETED = "Reported cost of all runs divided by the number of completed runs: failed runs are included in the cost."
_COMPLETED_MEAN = "Average reported cost of the completed runs. Failed runs are excluded."
_PER_CLAIMED = (
    "Reported cost of all runs divided by the number of runs whose summary claims a speedup with a number. Claimed, not measured."
)
_PER_HOUR = "Reported cost divided by wall time, for runs that report both. Runs carried over from an earlier process are excluded."
_UNPRICED = RUN_COST_METRICS["unpriced_runs"]
_NEVER_STARTED = (
    "Runs without cost, API time and model usage, such as those that met a limit at once; not those whose usage is unknown. "
    "Excluded from medians and averages."
)


def _ends(median: Metric) -> list[Metric]:
    """The least and the largest of the values of a median: what is said of few of them."""
    return [
        replace(
            median, key=f"{median.key}{end}", label=f"{median.label}, {word}", meaning=f"The {word} of the same values.",
            short="", sql=median.sql.replace("median(", f"{how}("),
        )
        for end, word, how in ((LOW, "least", "min"), (HIGH, "largest", "max"))
    ]  # fmt: skip


_RUN_METRICS = by_key(
    Metric("runs", "Runs", Unit.COUNT, "neither", "Number of runs. Each result record counts once.", sql="count(*)", known="count(*)"),
    Metric(
        "sessions", "Sessions", Unit.COUNT, "neither", "Number of distinct agent sessions.",
        sql="nullif(count(distinct session_id), 0)", known="count(session_id)",
    ),
    Metric(
        "completed", "Completed", Unit.COUNT, "higher", "Runs with the outcome completed.",
        sql="count(*) filter (is_completed)", known="count(is_completed)",
    ),
    Metric(
        "error_rate", "Failure rate", Unit.SHARE, "lower", "Share of the runs with a known outcome that did not complete.",
        sql="count(*) filter (not is_completed) / nullif(count(is_completed), 0)", known="count(is_completed)",
    ),
    Metric(
        "never_started_runs", "Runs that never started", Unit.COUNT, "lower", _NEVER_STARTED,
        sql="count(*) filter (not is_started)", known="count(*)",
    ),
    over("cost_own_usd", "cost_usd", "Reported cost", Unit.USD, "lower", _COST, "worked"),
    Metric(
        "cost_share", "Share of reported cost", Unit.SHARE, "neither", _SHARE, short="Share",
        sql="sum(cost_own_usd) / nullif(sum(sum(cost_own_usd)) over (), 0)", known="count(cost_own_usd) filter (is_started)",
    ),
    over("cost_own_usd", "cost_mean_usd", "Cost per run (avg)", Unit.USD, "lower", _MEAN, "mean"),
    over("cost_own_usd", "cost_median_usd", "Cost per run (p50)", Unit.USD, "lower", _MEDIAN, "median"),
    over("cost_own_usd", "cost_p90_usd", "Cost per run (p90)", Unit.USD, "lower", "90th percentile of the cost per run.", "p90"),
    over("cost_own_usd", "cost_max_usd", "Max cost per run", Unit.USD, "lower", "Reported cost of the most expensive run.", "max"),
    Metric.of(
        RUN_FIGURES["cost_per_turn_usd"], sql=_MONEY.format(_PER_TURN), known=_PER_TURN_KNOWN,
        meaning="Reported cost divided by turns, for runs that report both. Runs carried over from an earlier process are excluded.",
    ),
    Metric(
        "cost_per_completed_usd", "Cost per completed run (incl. failed runs)", Unit.USD, "lower", _PER_COMPLETED,
        sql=_MONEY.format(f"sum(cost_own_usd) / {_WITH_COST.format('is_completed')}"), known="count(cost_own_usd) filter (is_started)",
        short="Cost per completed run",
    ),
    Metric(
        "cost_completed_mean_usd", "Avg. cost of completed runs", Unit.USD, "lower", _COMPLETED_MEAN,
        sql=_MONEY.format("avg(cost_own_usd) filter (is_completed)"), known="count(cost_own_usd) filter (is_completed)",
    ),
    Metric(
        "cost_per_claimed_usd", "Cost per run with a claimed speedup", Unit.USD, "lower", _PER_CLAIMED,
        sql=_MONEY.format(f"sum(cost_own_usd) / {_WITH_COST.format('claimed_speedup is not null')}"),
        known="count(cost_own_usd) filter (is_started)",
    ),
    Metric(
        "cost_per_hour_usd", "Cost per hour", Unit.USD, "lower", _PER_HOUR,
        sql=_MONEY.format(_PER_HOUR_SUMS.replace(" / ", " * 3600000 / ")), known=_PER_HOUR_KNOWN,
    ),
    Metric(
        "unpriced_share", "Unpriced runs (%)", Unit.SHARE, "lower", f"Share of unpriced runs. {_UNPRICED.meaning}",
        sql=f"{_UNPRICED.sql} / nullif({_UNPRICED.known}, 0)", known=_UNPRICED.known,
    ),
    *RUN_COST_METRICS.values(),
    over("duration_ms", "duration_ms", "Total duration", Unit.MILLISECONDS, "lower", "Total wall time of the runs.", "worked"),
    Metric(
        "duration_median_ms", "Duration of completed runs (p50)", Unit.MILLISECONDS, "lower",
        "Median (p50) of the wall time of completed runs: a failure is no fast run.",
        sql="round(median(duration_ms) filter (is_completed))", known="count(duration_ms) filter (is_completed)",
    ),
    over(
        "active_ms", "active_ms", "Active time", Unit.MILLISECONDS, "lower",
        "Total time in which the agents worked. Wall time of a session includes the time in which it waited for its user.",
    ),
    over(
        "duration_api_own_ms", "duration_api_ms", "API time", Unit.MILLISECONDS, "lower",
        "Total time in API calls. Parallel calls each count.",
    ),
    Metric.of(RUN_FIGURES["parallelism"], sql=_PARALLEL, known=_PARALLEL_KNOWN),
    over("num_turns", "turns", "Turns", Unit.COUNT, "neither", "Round trips to the model, as counted by the agent."),
    over("num_turns", "turns_median", "Turns per run (p50)", Unit.COUNT, "neither", "Median (p50) of the turns per run.", "median"),
    over(
        "input_tokens", "input_tokens", "Uncached input", Unit.TOKENS, "lower", "Input tokens neither read from nor written to the cache."
    ),
    over("output_tokens", "output_tokens", "Output", Unit.TOKENS, "lower", "Output tokens, including thinking."),
    over(
        "cache_read_tokens", "cache_read_tokens", "Cache reads", Unit.TOKENS, "neither",
        "Input tokens read from the cache, usually at a tenth of the input price.",
    ),
    over(
        "cache_write_tokens", "cache_write_tokens", "Cache writes", Unit.TOKENS, "neither",
        "Input tokens written to the cache, usually at a surcharge.",
    ),
    over("permission_denials", "permission_denials", "Permission denials", Unit.COUNT, "lower", "Tool calls that were denied permission."),
    *CLAIM_METRICS.values(),
    *(metric for figure in RUN_FIGURES.values() for metric in aggregates_of(figure)),
)  # fmt: skip

MEDIANS = tuple(key for key, metric in _RUN_METRICS.items() if "median(" in metric.sql)
"""Metrics that are a median: of fewer than FEWEST_VALUES people read the range and how many there are."""

RUN_METRICS = _RUN_METRICS | by_key(*(end for key in MEDIANS for end in _ends(_RUN_METRICS[key])))
"""Figures over `v_runs`: one row is one run."""


def with_their_notes(metrics: Iterable[str]) -> tuple[str, ...]:
    """The metrics, each once, and behind them what their cells say too: bounds of costs, and both ends of medians."""
    notes = (note for key in metrics for note in (*BOUNDS.get(key, ())[:1], *((f"{key}{LOW}", f"{key}{HIGH}") if key in MEDIANS else ())))
    return tuple(dict.fromkeys((*metrics, *notes)))


_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")

MODEL_METRICS = by_key(
    replace(
        RUN_METRICS["runs"], meaning="Runs that used the model; a run may use several.", sql="count(distinct run_id)", known="true"
    ),
    of_model("cost_own_usd", RUN_METRICS["cost_usd"], "cost_usd", "Cost of the model's tokens as reported by the agents (an estimate)."),
    *MODEL_COST_METRICS.values(),
    *(of_model(f"own_{key}", RUN_METRICS[key], key) for key in _TOKENS),
    Metric(
        "web_search_requests", "Web searches", Unit.COUNT, "neither", "Web searches by the model provider's server-side tool.",
        sql="sum(own_web_search_requests)", known="own_web_search_requests is not null",
    ),
    *MODEL_CACHE_METRICS.values(),
)  # fmt: skip
"""Figures over `v_model_rows`: one row is one model of one run, so that helper models get their own share."""

DEFAULT_REPORT = (
    "runs", "never_started_runs",
    "cost_usd", "cost_share", "cost_list_usd", "token_bounds", "cost_delta_usd", "cost_compared_usd", "cost_mean_usd",
    "cost_median_usd", "cost_p90_usd", "duration_ms", "turns", "cost_per_turn_usd", "completed", "cost_per_completed_usd", "error_rate",
)  # fmt: skip
"""What `tachograph report` shows per group."""
