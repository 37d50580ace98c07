"""Every figure and every grouping Tachograph shows, once. Screens, reports, exports, help texts and docs read this page.

A metric is an aggregate over the rows of a view, with the number of rows it rests on; unknown rows are left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.unit_names import Unit

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure.

    `sql` aggregates rows of the view; `known` counts the rows it rests on; `meaning` is one sentence for help texts.
    """

    key: str
    label: str
    sql: str
    known: str
    unit: Unit
    better: Better
    meaning: str


@dataclass(frozen=True, slots=True)
class Dimension:
    """One way to group rows: `sql` gives a row's group, NULL where it is not known."""

    key: str
    label: str
    sql: str
    meaning: str


def _over(column: str, key: str, label: str, unit: Unit, better: Better, meaning: str, sql: str = "sum({})") -> Metric:
    """A metric over one column, resting on the rows that have it."""
    return Metric(key, label, sql.format(column), f"count({column})", unit, better, meaning)


def _of_model(column: str, label: str, unit: Unit, better: Better, meaning: str, key: str = "") -> Metric:
    """The sum of one column of model rows, resting on the runs that have it."""
    known = f"count(distinct run_id) filter ({column} is not null)"
    return Metric(key or column, label, f"sum({column})", known, unit, better, meaning)


def _table(*metrics: Metric) -> dict[str, Metric]:
    return {metric.key: metric for metric in metrics}


RUN_METRICS = _table(
    Metric("runs", "Runs", "count(*)", "count(*)", Unit.COUNT, "neither", "Result records read, each counted once."),
    Metric(
        "sessions", "Sessions", "count(distinct session_id)", "count(session_id)", Unit.COUNT, "neither", "Different sessions of the agent."
    ),
    _over(
        "cost_own_usd",
        "cost_usd",
        "Reported cost",
        Unit.USD,
        "lower",
        "What the agent says its runs cost (its own estimate), each dollar once.",
    ),
    _over(
        "cost_own_usd",
        "cost_mean_usd",
        "Reported cost per run, mean",
        Unit.USD,
        "lower",
        "Reported cost divided by the runs that report one.",
        "cast(avg({}) as decimal(18, 9))",
    ),
    _over(
        "cost_own_usd", "cost_median_usd", "Reported cost per run, median", Unit.USD, "lower", "Half of the runs report less.", "median({})"
    ),
    _over("cost_own_usd", "cost_max_usd", "Reported cost, dearest run", Unit.USD, "lower", "The most that one run reports.", "max({})"),
    _over("duration_ms", "duration_ms", "Wall time", Unit.MILLISECONDS, "lower", "Time from start to end of the runs, added up."),
    _over(
        "duration_ms",
        "duration_median_ms",
        "Wall time per run, median",
        Unit.MILLISECONDS,
        "lower",
        "Half of the runs were shorter.",
        "median({})",
    ),
    _over(
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
    _over("num_turns", "turns", "Turns", Unit.COUNT, "neither", "Round trips to the model, as the agent counts them."),
    _over("num_turns", "turns_median", "Turns per run, median", Unit.COUNT, "neither", "Half of the runs took fewer.", "median({})"),
    Metric(
        "cost_per_turn_usd",
        "Reported cost per turn",
        "cast(sum(cost_own_usd) filter (num_turns > 0)"
        " / sum(num_turns) filter (num_turns > 0 and cost_own_usd is not null) as decimal(18, 9))",
        "count(*) filter (num_turns > 0 and cost_own_usd is not null)",
        Unit.USD,
        "lower",
        "Reported cost divided by turns, over runs that report both.",
    ),
    _over(
        "input_tokens", "input_tokens", "Input", Unit.TOKENS, "lower", "Input tokens that were neither read from nor written to the cache."
    ),
    _over("output_tokens", "output_tokens", "Output", Unit.TOKENS, "lower", "Output tokens, thinking included."),
    _over(
        "cache_read_tokens",
        "cache_read_tokens",
        "Cache read",
        Unit.TOKENS,
        "neither",
        "Input tokens read from the cache, at a tenth of the price.",
    ),
    _over(
        "cache_write_tokens",
        "cache_write_tokens",
        "Cache write",
        Unit.TOKENS,
        "neither",
        "Input tokens written to the cache, at a surcharge.",
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
    _over("permission_denials", "permission_denials", "Permission denials", Unit.COUNT, "lower", "Tool calls that were denied permission."),
)
"""Figures over `v_runs`: one row is one run."""

MODEL_METRICS = _table(
    Metric(
        "runs",
        "Runs",
        "count(distinct run_id)",
        "count(distinct run_id)",
        Unit.COUNT,
        "neither",
        "Runs that used the model; a run may use several.",
    ),
    _of_model(
        "cost_own_usd",
        "Reported cost",
        Unit.USD,
        "lower",
        "What the agent says the model's tokens cost (its own estimate).",
        key="cost_usd",
    ),
    _of_model("own_input_tokens", "Input", Unit.TOKENS, "lower", RUN_METRICS["input_tokens"].meaning, key="input_tokens"),
    _of_model("own_output_tokens", "Output", Unit.TOKENS, "lower", RUN_METRICS["output_tokens"].meaning, key="output_tokens"),
    _of_model(
        "own_cache_read_tokens", "Cache read", Unit.TOKENS, "neither", RUN_METRICS["cache_read_tokens"].meaning, key="cache_read_tokens"
    ),
    _of_model(
        "own_cache_write_tokens", "Cache write", Unit.TOKENS, "neither", RUN_METRICS["cache_write_tokens"].meaning, key="cache_write_tokens"
    ),
    _of_model("web_search_requests", "Web searches", Unit.COUNT, "neither", "Searches by the model's server tool."),
)
"""Figures over `v_model_usage`: one row is one model of one run, so that helper models get their own share."""

DEFAULT_REPORT = ("runs", "cost_usd", "cost_mean_usd", "cost_median_usd", "duration_ms", "turns", "cost_per_turn_usd", "error_rate")
"""What `tachograph report` shows per group."""

DIMENSIONS = {
    dimension.key: dimension
    for dimension in (
        Dimension("agent", "Agent", "agent", "The agent that wrote the record."),
        Dimension("agent-version", "Agent version", "agent_version", "Its version, where known."),
        Dimension(
            "model", "Main model", "model", "The model that cost the most in the run; see `tachograph models` for every model's own share."
        ),
        Dimension("provider", "Provider", "provider", "Who served the main model."),
        Dimension("region", "Region", "region", "Where the main model was served."),
        Dimension("outcome", "Outcome", "outcome", "How the run ended."),
        Dimension("repo", "Repository", "repo", "The repository worked on, where known."),
        Dimension("task", "Task", "task", "The task worked on, where known."),
        Dimension("experiment", "Experiment", "experiment", "The experiment the run belongs to, where labelled."),
        Dimension("session", "Session", "session_id", "The agent's session; resumed runs share one."),
        Dimension("source", "Source", "source_name", "The file the record was read from."),
        Dimension("run", "Run", "run_id", "Each run by itself."),
    )
}
"""Groupings of runs: the only identifiers that reach SQL from outside."""

MODEL_DIMENSIONS = {
    dimension.key: dimension
    for dimension in (
        Dimension("model", "Model", "model", "The model, whatever its id, date or region."),
        Dimension("provider", "Provider", "provider", "Who served it."),
        Dimension("region", "Region", "region", "Where it was served."),
        Dimension("model-id", "Model id", "model_id", "The id as logged."),
    )
}
"""Groupings of model rows."""
