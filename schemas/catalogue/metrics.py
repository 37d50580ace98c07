"""Every figure Tachograph shows, once. Screens, reports, exports, help texts and docs read this page.

The groupings are in `schemas.catalogue.dimensions`; what a metric is, is in `schemas.catalogue.metric`.
"""

from __future__ import annotations

from schemas.catalogue.dimensions import DIMENSIONS, MODEL_DIMENSIONS
from schemas.catalogue.metric import Better, Dimension, Metric, of_model, over, table
from schemas.catalogue.metrics_claims import CLAIM_METRICS
from schemas.catalogue.metrics_cost import MODEL_CACHE_METRICS, MODEL_COST_METRICS, RUN_COST_METRICS
from schemas.catalogue.unit_names import Unit

__all__ = ["DEFAULT_REPORT", "DIMENSIONS", "MODEL_DIMENSIONS", "MODEL_METRICS", "RUN_METRICS", "Better", "Dimension", "Metric"]

RUN_METRICS = table(
    Metric("runs", "Runs", "count(*)", "count(*)", Unit.COUNT, "neither", "Result records read, each counted once."),
    Metric(
        "sessions", "Sessions", "count(distinct session_id)", "count(session_id)", Unit.COUNT, "neither", "Different sessions of the agent."
    ),
    Metric(
        "completed", "Completed", "count(*) filter (is_completed)", "count(*)", Unit.COUNT, "higher", "Runs whose outcome is completed."
    ),
    Metric(
        "error_rate",
        "Runs not completed",
        "count(*) filter (not is_completed) / nullif(count(*), 0)",
        "count(*)",
        Unit.SHARE,
        "lower",
        "Share of runs whose outcome is anything but completed.",
    ),
    over(
        "cost_own_usd",
        "cost_usd",
        "Reported cost",
        Unit.USD,
        "lower",
        "What the agent says its runs cost (its own estimate), each dollar once.",
    ),
    over(
        "cost_own_usd",
        "cost_share",
        "Share of reported cost",
        Unit.SHARE,
        "neither",
        "The group's reported cost divided by that of all groups.",
        "sum({0}) / nullif(sum(sum({0})) over (), 0)",
    ),
    over(
        "cost_own_usd",
        "cost_mean_usd",
        "Reported cost per run, mean",
        Unit.USD,
        "lower",
        "Reported cost divided by the runs that report one.",
        "cast(avg({}) as decimal(38, 9))",
    ),
    over(
        "cost_own_usd", "cost_median_usd", "Reported cost per run, median", Unit.USD, "lower", "Half of the runs report less.", "median({})"
    ),
    over(
        "cost_own_usd",
        "cost_p90_usd",
        "Reported cost per run, p90",
        Unit.USD,
        "lower",
        "Nine of ten runs report less.",
        "cast(quantile_cont({}, 0.9) as decimal(38, 9))",
    ),
    over("cost_own_usd", "cost_max_usd", "Reported cost, dearest run", Unit.USD, "lower", "The most that one run reports.", "max({})"),
    Metric(
        "cost_per_turn_usd",
        "Reported cost per turn",
        "cast(sum(cost_own_usd) filter (num_turns > 0)"
        " / sum(num_turns) filter (num_turns > 0 and cost_own_usd is not null) as decimal(38, 9))",
        "count(*) filter (num_turns > 0 and cost_own_usd is not null)",
        Unit.USD,
        "lower",
        "Reported cost divided by turns, over runs that report both.",
    ),
    Metric(
        "cost_per_completed_usd",
        "Reported cost of all runs per completed run",
        "cast(sum(cost_own_usd) / nullif(count(*) filter (is_completed and cost_own_usd is not null), 0) as decimal(38, 9))",
        "count(cost_own_usd)",
        Unit.USD,
        "lower",
        "What all runs report, divided by those that completed: what a completed run takes, failed attempts included.",
    ),
    Metric(
        "cost_completed_mean_usd",
        "Reported cost of completed runs, mean",
        "cast(avg(cost_own_usd) filter (is_completed) as decimal(38, 9))",
        "count(cost_own_usd) filter (is_completed)",
        Unit.USD,
        "lower",
        "What completed runs report, divided by their number: what failed attempts cost is left out.",
    ),
    Metric(
        "cost_per_claimed_usd",
        "Reported cost of all runs per run with a claimed speedup",
        "cast(sum(cost_own_usd) / nullif(count(*) filter (claimed_speedup is not null and cost_own_usd is not null), 0) as decimal(38, 9))",
        "count(cost_own_usd)",
        Unit.USD,
        "lower",
        "What all runs report, divided by those whose summary claims a speedup in figures. Claimed, not measured.",
    ),
    Metric(
        "cost_per_hour_usd",
        "Reported cost per wall hour",
        "cast(sum(cost_own_usd) filter (duration_ms > 0) * 3600000"
        " / sum(duration_ms) filter (duration_ms > 0 and cost_own_usd is not null) as decimal(38, 9))",
        "count(*) filter (duration_ms > 0 and cost_own_usd is not null)",
        Unit.USD,
        "lower",
        "Reported cost divided by wall time, over runs that report both.",
    ),
    Metric(
        "unpriced_share",
        "Runs without a list cost",
        "count(*) filter (price_status = 'unpriced') / nullif(count(price_status), 0)",
        "count(price_status)",
        Unit.SHARE,
        "lower",
        "Share of runs whose list cost is unknown: a model has no list price, or the record names none.",
    ),
    *RUN_COST_METRICS.values(),
    over("duration_ms", "duration_ms", "Wall time", Unit.MILLISECONDS, "lower", "Time from start to end of the runs, added up."),
    over(
        "duration_ms",
        "duration_median_ms",
        "Wall time per run, median",
        Unit.MILLISECONDS,
        "lower",
        "Half of the runs were shorter.",
        "median({})",
    ),
    over(
        "duration_api_own_ms",
        "duration_api_ms",
        "API time",
        Unit.MILLISECONDS,
        "lower",
        "Time in API calls, added up; parallel calls count each.",
    ),
    Metric(
        "parallelism",
        "API ÷ wall time",
        "sum(duration_api_own_ms) filter (duration_ms > 0) / sum(duration_ms) filter (duration_ms > 0 and duration_api_own_ms is not null)",
        "count(*) filter (duration_ms > 0 and duration_api_own_ms is not null)",
        Unit.RATIO,
        "neither",
        "API time divided by wall time: above 1 where calls ran in parallel.",
    ),
    over("num_turns", "turns", "Turns", Unit.COUNT, "neither", "Round trips to the model, as the agent counts them."),
    over("num_turns", "turns_median", "Turns per run, median", Unit.COUNT, "neither", "Half of the runs took fewer.", "median({})"),
    over(
        "input_tokens", "input_tokens", "Input", Unit.TOKENS, "lower", "Input tokens that were neither read from nor written to the cache."
    ),
    over("output_tokens", "output_tokens", "Output", Unit.TOKENS, "lower", "Output tokens, thinking included."),
    over(
        "cache_read_tokens",
        "cache_read_tokens",
        "Cache read",
        Unit.TOKENS,
        "neither",
        "Input tokens read from the cache, at a tenth of the price.",
    ),
    over(
        "cache_write_tokens",
        "cache_write_tokens",
        "Cache write",
        Unit.TOKENS,
        "neither",
        "Input tokens written to the cache, at a surcharge.",
    ),
    over("permission_denials", "permission_denials", "Permission denials", Unit.COUNT, "lower", "Tool calls that were denied permission."),
    *CLAIM_METRICS.values(),
)
"""Figures over `v_runs`: one row is one run."""

MODEL_METRICS = table(
    Metric(
        "runs",
        "Runs",
        "count(distinct run_id)",
        "true",
        Unit.COUNT,
        "neither",
        "Runs that used the model; a run may use several.",
    ),
    of_model(
        "cost_own_usd",
        "Reported cost",
        Unit.USD,
        "lower",
        "What the agent says the model's tokens cost (its own estimate).",
        key="cost_usd",
    ),
    *MODEL_COST_METRICS.values(),
    of_model("own_input_tokens", "Input", Unit.TOKENS, "lower", RUN_METRICS["input_tokens"].meaning, key="input_tokens"),
    of_model("own_output_tokens", "Output", Unit.TOKENS, "lower", RUN_METRICS["output_tokens"].meaning, key="output_tokens"),
    of_model(
        "own_cache_read_tokens", "Cache read", Unit.TOKENS, "neither", RUN_METRICS["cache_read_tokens"].meaning, key="cache_read_tokens"
    ),
    of_model(
        "own_cache_write_tokens", "Cache write", Unit.TOKENS, "neither", RUN_METRICS["cache_write_tokens"].meaning, key="cache_write_tokens"
    ),
    of_model(
        "own_web_search_requests", "Web searches", Unit.COUNT, "neither", "Searches by the model's server tool.", key="web_search_requests"
    ),
    *MODEL_CACHE_METRICS.values(),
)
"""Figures over `v_model_rows`: one row is one model of one run, so that helper models get their own share."""

DEFAULT_REPORT = (
    "runs", "cost_usd", "cost_share", "cost_list_usd", "cost_delta_usd", "cost_mean_usd", "cost_median_usd", "cost_p90_usd", "duration_ms",
    "turns", "cost_per_turn_usd", "completed", "cost_per_completed_usd", "error_rate",
)  # fmt: skip
"""What `tachograph report` shows per group."""
