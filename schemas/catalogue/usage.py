"""Usage over time: groupings of billed responses, and every figure of a group.

Read by `tachograph usage`.

A row is a part of the usage of runs (`app.queries.usage`), of one kind (`part`): `response` is one
billed response of a run; `run` is one model of a run without responses, or such a run without a
model; `rest` is what is left of such a run beyond its models. The parts of a run add up to it.
"""

from __future__ import annotations

from dataclasses import replace

from schemas.catalogue.dimensions import DIMENSIONS
from schemas.catalogue.entry import Columns, Dimension, Entry, Metric, by_key
from schemas.catalogue.metrics import RUN_METRICS
from schemas.units import Unit


def _by(key: str, label: str, meaning: str, sql: str = "") -> Dimension:
    return Dimension(key, label, meaning=meaning, sql=sql or key)


def _period(
    key: str, label: str, meaning: str, pattern: str, time: str = "timezone($zone, used_at)"
) -> Dimension:
    return Dimension(
        key, label, meaning=meaning, sql=f"strftime({time}, '{pattern}')", in_order=True
    )


BLOCK, TOOL, WEEK = "block", "tool", "week"
"""Dimensions that need more than the columns of a part."""

_LOCAL = "in the time zone of --tz"

USAGE_DIMENSIONS = by_key(
    _period("day", "Day", f"The day of the response, {_LOCAL}.", "%Y-%m-%d"),
    _period(
        WEEK, "Week", f"The ISO week of the response, {_LOCAL}. It starts on Monday.", "%G-W%V"
    ),
    _period("month", "Month", f"The month of the response, {_LOCAL}.", "%Y-%m"),
    _period(
        "hour",
        "Hour",
        "The hour of the response on the clocks of the time zone of --tz.",
        "%Y-%m-%d %H:00",
    ),
    _by("session", "Session", "Session of the agent; a run without a session stands for itself."),
    _period(
        BLOCK,
        "Block",
        (
            "Start of the block of hours that the response falls in, like the usage window of a "
            "subscription."
        ),
        "%Y-%m-%d %H:%M",
        "timezone($zone, block_start)",
    ),
    _by("project", "Project", DIMENSIONS["project"].meaning),
    _by("model", "Model", "The model that answered."),
    _by("effort", "Effort", "Reasoning effort of the run's model."),
    _by(
        TOOL,
        "Tool",
        "The tool that the response called. A response that called several counts for each.",
    ),
    _by("agent", "Agent", DIMENSIONS["agent"].meaning),
    _by(
        "sub-agent",
        "Sub-agent",
        "Type of the sub-agent that asked, else its id; main: the main conversation.",
        "subagent",
    ),
)

SUNDAY_WEEK = _period(
    WEEK, "Week from", f"The Sunday that the week of the response starts on, {_LOCAL}.",
    "%Y-%m-%d", "date_trunc('week', timezone($zone, used_at) + interval 1 day) - interval 1 day",
)  # fmt: skip
"""Replaces WEEK if weeks start on Sunday; ISO does not number those."""

WHOLE_RUNS = "whole_runs"
LOWER_BOUNDS = "lower_bounds"
TOKEN_BOUNDS = "token_bounds"  # noqa: S105
COST_BOUNDS = "cost_best_bounds"


def _known(cost: str) -> str:
    """Return SQL of the number of responses and of runs without responses that have the cost."""
    return (
        f"count({cost}) filter (part = 'response') + count(distinct run_id) filter (part = 'run')"
        f" - count(distinct run_id) filter (part = 'run' and {cost} is null)"
    )


def _cost(key: str, like: str, column: str, meaning: str) -> Metric:
    of = RUN_METRICS[like]
    return Metric(
        key, of.label, Unit.USD, "lower", meaning, sql=f"sum({column})", known=_known(column)
    )


_BEST = "As the agent logged it, else at list prices, spread over the responses of each run."
_LIST = "Cost at the list prices of the day, spread over the responses of each run."
_REPORT = "Cost that the agent logged, spread over the responses of each run by their list price."
_WHOLE = "Runs without single responses in the store. They count whole, at the time they ended."
_BOUNDS = (
    "Responses and runs whose output count is a lower bound: output, tokens and list-price cost "
    "of the row are at least that."
)


def _count(key: str, label: str, meaning: str, sql: str) -> Metric:
    return Metric(key, label, Unit.COUNT, meaning=meaning, sql=sql, known="")


def _tokens(key: str) -> Metric:
    like = RUN_METRICS[key]
    return Metric.of(like, sql=f"try_cast(sum({key}) as bigint)", known="")


USAGE_METRICS = by_key(
    _count(
        "responses",
        "Responses",
        "Billed responses of models. One that several files tell of counts once.",
        "count(*) filter (part = 'response')",
    ),
    _count(
        WHOLE_RUNS, "Runs without responses", _WHOLE, "count(distinct run_id) filter (part = 'run')"
    ),
    _count(
        "sessions",
        "Sessions",
        (
            "Distinct sessions; a run that names none counts as one. One that spans several rows "
            "counts in each, and once in the total."
        ),
        "count(distinct session)",
    ),
    _tokens("input_tokens"),
    _tokens("cache_write_tokens"),
    _tokens("cache_read_tokens"),
    _tokens("output_tokens"),
    Metric(
        "total_tokens",
        "Tokens",
        Unit.TOKENS,
        "lower",
        "All tokens: uncached input, cache writes, cache reads and output.",
        sql="try_cast(sum(total_tokens) as bigint)",
        known="",
    ),
    _cost("cost_best_usd", "cost_best_usd", "cost_best_usd", _BEST),
    _cost("cost_list_usd", "cost_list_usd", "cost_list_usd", _LIST),
    _cost("cost_reported_usd", "cost_usd", "cost_own_usd", _REPORT),
    Metric(
        "models",
        "Models",
        meaning="The models that answered.",
        known="",
        sql="list_sort(list(distinct model) filter (model is not null))",
    ),
    _count(
        LOWER_BOUNDS,
        "Lower bounds",
        _BOUNDS,
        (
            "count(*) filter (part = 'response' and is_bound) + count(distinct run_id) filter "
            "(part = 'run' and is_bound)"
        ),
    ),
    Metric(
        TOKEN_BOUNDS,
        "Bounds in the list-price cost",
        meaning="Which bounds the list-price cost includes.",
        known="",
        sql="string_agg(distinct cost_list_bounds, ', ' order by cost_list_bounds) filter "
        "(cost_list_usd is not null)",
    ),
    replace(RUN_METRICS[COST_BOUNDS], known=""),
    Metric(
        "first_at",
        "First",
        Unit.TIME,
        meaning="Time of the first response or run (UTC).",
        sql="min(used_at)",
        known="",
    ),
    Metric(
        "last_at",
        "Last",
        Unit.TIME,
        meaning="Time of the last response or run (UTC).",
        sql="max(used_at)",
        known="",
    ),
)
"""Figures over parts. With an empty `known`, no count is shown beside the figure."""

_SEVERAL = "A response that called several tools counts for each of them: rows do not add up."

TOOL_METRICS = by_key(
    _count("tool_calls", "Calls", "Calls of the tool.", "sum(calls)::bigint"),
    _count(
        "failed_calls",
        "Failed calls",
        "Calls that failed, where the log says so.",
        "sum(failed)::bigint",
    ),
    _count(
        "calling_responses",
        "Calling responses",
        f"Responses that called the tool. {_SEVERAL}",
        "count(response_id)",
    ),
    _count("sessions", "Sessions", "Sessions that called the tool.", "count(distinct session)"),
    Metric(
        "calling_tokens",
        "Tokens of calling responses",
        Unit.TOKENS,
        "lower",
        f"All tokens of the responses that called the tool. {_SEVERAL}",
        sql="try_cast(sum(total_tokens) as bigint)",
        known="",
    ),
    Metric(
        "calling_cost_list_usd",
        "List-price cost of calling responses",
        Unit.USD,
        "lower",
        f"List-price cost of the responses that called the tool. {_SEVERAL}",
        sql="sum(cost_list_usd)",
        known="count(cost_list_usd)",
    ),
    Metric(
        "first_at",
        "First",
        Unit.TIME,
        meaning="Time of the first call (UTC).",
        sql="min(used_at)",
        known="",
    ),
    Metric(
        "last_at",
        "Last",
        Unit.TIME,
        meaning="Time of the last call (UTC).",
        sql="max(used_at)",
        known="",
    ),
)
"""Figures over tool calls: one row is a response and a tool it called, or a run without responses
and a tool.
"""

TOOL_TOTALS = ("tool_calls", "failed_calls")

RESETS = "limit_resets_at"

BLOCK_ENTRIES = by_key(
    Entry(
        "block_start",
        "Start",
        Unit.TIME,
        meaning="When the block starts (UTC): its first response, floored to the hour.",
    ),
    Entry("block_end", "End", Unit.TIME, meaning="When the block ends (UTC)."),
    Entry(
        RESETS,
        "Limit resets",
        Unit.TIME,
        meaning=(
            "When the limit that was reached in the block resets (UTC), by its message. Empty: "
            "none was reached, or it does not say."
        ),
    ),
    Entry(
        "block_state",
        "State",
        meaning="complete, active or gap; a gap is the time without a response between two blocks.",
    ),
    Entry(
        "tokens_per_minute",
        "Tokens per minute",
        Unit.TOKENS,
        meaning="Burn rate from the block's first response to its last.",
    ),
    Entry(
        "usd_per_hour",
        "Cost per hour",
        Unit.USD,
        meaning="List-price cost per hour, over the same time.",
    ),
    Entry(
        "minutes_left", "Minutes left", Unit.COUNT, meaning="Minutes until the active block ends."
    ),
    Entry(
        "projected_tokens",
        "Projected tokens",
        Unit.TOKENS,
        meaning="Tokens at the end of the active block at its burn rate.",
    ),
    Entry(
        "projected_usd",
        "Projected cost",
        Unit.USD,
        meaning="List-price cost at the end of the active block at its burn rate.",
    ),
)
"""Extra columns of the 5-hour-block table."""

USAGE: Columns = {**USAGE_DIMENSIONS, **USAGE_METRICS, **BLOCK_ENTRIES}
TOOLS: Columns = {**USAGE_DIMENSIONS, **TOOL_METRICS}
