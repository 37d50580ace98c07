"""Metrics of list prices, their difference from what agents report, and what caching is worth. A part of `schemas.catalogue.metrics`.

List costs are those of the tokens that a record added to its chain: of its responses where they are known, each on its day and in its tier,
else at the base tier on the day of the run. All are computed at ingest and stored; here they are summed.
"""

from __future__ import annotations

from dataclasses import replace

from schemas.catalogue.cost_measures import BEST, LIST
from schemas.catalogue.entry import Metric, by_key, of_model, over, quotient
from schemas.catalogue.figures import IS_BOUNDED as _IS_BOUNDED
from schemas.catalogue.figures import MODEL_FIGURES, RUN_FIGURES
from schemas.unit_names import Unit

_LIST = "Cost of the same tokens at list prices (by provider and region, on the day of the run or response); see `tachograph models`."
_DELTA = "List-price cost minus reported cost, for runs with both. Positive: list price is higher than reported."
_COMPARED = "Reported cost of the runs that also have a list-price cost: the base of the list-price difference."
_DELTA_SHARE = "List-price difference divided by the reported cost, for runs with both."
_DIFFERING = "Runs whose reported cost differs from the list-price cost by more than a millionth of a dollar; `--by cause` shows why."
_UNCACHED = "List-price cost if cache reads and writes were billed as regular input."
_SAVED = RUN_FIGURES["cache_saved_usd"]
_WRITES = "The part of the list-price cost that comes from cache writes."
_HIT_RATIO = "Share of all input tokens that were read from the cache."
_UNPRICED = "Tokens of models without a list price. Their cost is excluded from list-price totals, not counted as $0."
_UNPRICED_RUNS = "Runs with tokens but no list-price cost: a model has no list price, or the record names no model."
_CAUSES = "Why list-price cost and reported cost differ, found by recomputing."

_BOUNDED = "Runs whose log tells no exact tokens but a bound or an estimate. Their list-price cost is a bound, too."
_BEYOND = (
    "What the models of runs cost more than the totals that their records state, as for background agents that were killed. A part of the "
    "reported cost."
)
_UNREPORTED = "Runs whose agent reports no cost in dollars: most agents but Claude Code do not."
_UNREPORTED_LIST = "What their tokens cost at list prices."
_UNLISTED = "Runs whose log has no tokens, and unpriced runs."
_BOUNDED_LIST = "The part of the list-price cost that comes from runs whose log tells no exact tokens but a bound or an estimate."
_BOUNDS = "Which bounds the list-price cost includes: upper bounds, lower bounds, estimates."
_LIST_MEAN = "List-price cost divided by the number of runs that have one. Runs that never started are excluded."
_LIST_PER_COMPLETED = "List-price cost of all runs divided by the number of completed runs: failed runs are included in the cost."
_LIST_PER_TURN, _LIST_PER_TURN_KNOWN = quotient("cost_list_usd", "num_turns", "not is_carried_over")
_BEST = "What runs cost: as their agents report it, else their tokens at list prices, run by run."
_BEST_PER_TURN, _BEST_PER_TURN_KNOWN = quotient("cost_best_usd", "num_turns", "not is_carried_over")
_LIST_COMPLETED = "nullif(count(*) filter (is_completed and cost_list_usd is not null), 0)"


def _median_bounds(key: str, name: str, cost: str, told: str) -> Metric:
    """Which bounds the median of a cost includes: of more than half of its runs."""
    known = f"is_started and {cost} is not null"
    return Metric(
        key, f"Bounds in the median {name}", Unit.TEXT, "neither", f"Which bounds more than half of the runs have in their {name}.",
        sql=f"case when 2 * count({told}) filter ({known}) > count(*) filter ({known})"
        f" then string_agg(distinct {told}, ', ' order by {told}) filter ({known}) end",
        known="count(*)",
    )  # fmt: skip


RUN_COST_METRICS = by_key(
    over("cost_list_usd", "cost_list_usd", "List-price cost", Unit.USD, "lower", _LIST, "worked"),
    replace(
        over("cost_delta_usd", "cost_delta_usd", "List-price difference (list − reported)", Unit.USD, "neither", _DELTA),
        short="List-price difference",
    ),
    Metric(
        "cost_compared_usd", "Reported cost (priced runs only)", Unit.USD, "neither", _COMPARED,
        sql="sum(cost_own_usd) filter (cost_delta_usd is not null)", known="count(cost_delta_usd)",
    ),
    Metric(
        "cost_delta_share", "List-price difference, %", Unit.SHARE, "neither", _DELTA_SHARE, short="Difference, %",
        sql="sum(cost_delta_usd) / nullif(sum(cost_own_usd) filter (cost_delta_usd is not null), 0)", known="count(cost_delta_usd)",
    ),
    Metric(
        "differing_runs", "Runs that differ from list price", Unit.COUNT, "neither", _DIFFERING,
        sql="count(*) filter (cost_cause is not null and cost_cause <> 'same')", known="count(cost_cause)",
    ),
    Metric(
        "unpriced_runs", "Unpriced runs", Unit.COUNT, "lower", _UNPRICED_RUNS,
        sql="count(*) filter (price_status = 'unpriced')", known="count(price_status)",
    ),
    Metric(
        "bounded_runs", "Runs with bounded tokens", Unit.COUNT, "lower", _BOUNDED,
        sql=f"count(*) filter ({_IS_BOUNDED})", known="count(*)",
    ),
    Metric(
        "bounded_list_usd", "Bounded list-price cost", Unit.USD, "neither", _BOUNDED_LIST,
        sql=f"sum(cost_list_usd) filter ({_IS_BOUNDED})", known=f"count(cost_list_usd) filter ({_IS_BOUNDED})",
    ),
    Metric(
        "token_bounds", "Bounds in the list-price cost", Unit.TEXT, "neither", _BOUNDS, short="Bounds",
        sql=f"string_agg(distinct tokens_basis, ', ' order by tokens_basis) filter ({_IS_BOUNDED} and cost_list_usd is not null)",
        known="count(*)",
    ),
    over(
        "cost_beyond_total_usd", "cost_beyond_total_usd", "Reported cost beyond the totals", Unit.USD, "lower", _BEYOND,
    ),
    Metric(
        "unreported_runs", "Runs without a reported cost", Unit.COUNT, "neither", _UNREPORTED,
        sql="count(*) filter (cost_own_usd is null)", known="count(*)",
    ),
    Metric(
        "unreported_list_usd", "List-price cost of runs without a reported cost", Unit.USD, "lower", _UNREPORTED_LIST,
        sql="sum(cost_list_usd) filter (cost_own_usd is null)", known="count(cost_list_usd) filter (cost_own_usd is null)",
    ),
    Metric(
        "unlisted_runs", "Runs without a list-price cost", Unit.COUNT, "lower", _UNLISTED,
        sql="count(*) filter (cost_list_usd is null)", known="count(*)",
    ),
    Metric(
        "unlisted_cost_usd", "Reported cost of runs without a list-price cost", Unit.USD, "lower", "What their agents report.",
        sql="sum(cost_own_usd) filter (cost_list_usd is null)", known="count(cost_own_usd) filter (cost_list_usd is null)",
    ),
    Metric(
        "cost_list_share", "Share of list-price cost", Unit.SHARE, "neither", "The group's share of the list-price cost of all groups.",
        short="Share", sql="sum(cost_list_usd) / nullif(sum(sum(cost_list_usd)) over (), 0)",
        known="count(cost_list_usd) filter (is_started)",
    ),
    over("cost_list_usd", "cost_list_mean_usd", "List-price cost per run (avg)", Unit.USD, "lower", _LIST_MEAN, "mean"),
    over(
        "cost_list_usd", "cost_list_median_usd", "List-price cost per run (p50)", Unit.USD, "lower",
        "Median (p50) of the list-price cost per run.", "median",
    ),
    over(
        "cost_list_usd", "cost_list_p90_usd", "List-price cost per run (p90)", Unit.USD, "lower",
        "90th percentile of the list-price cost per run.", "p90",
    ),
    over(
        "cost_list_usd", "cost_list_max_usd", "Max list-price cost per run", Unit.USD, "lower",
        "List-price cost of the most expensive run.", "max",
    ),
    Metric.of(
        RUN_FIGURES["cost_list_per_turn_usd"], sql=f"cast({_LIST_PER_TURN} as decimal(38, 9))", known=_LIST_PER_TURN_KNOWN,
        meaning="List-price cost divided by turns, for runs with both. Runs carried over from an earlier process are excluded.",
    ),
    Metric(
        "cost_list_per_completed_usd", "List-price cost per completed run", Unit.USD, "lower", _LIST_PER_COMPLETED,
        sql=f"cast(sum(cost_list_usd) / {_LIST_COMPLETED} as decimal(38, 9))", known="count(cost_list_usd) filter (is_started)",
    ),
    over("cost_best_usd", "cost_best_usd", "Best-known cost", Unit.USD, "lower", _BEST, "worked"),
    _median_bounds("cost_list_median_bounds", LIST.name, "cost_list_usd", f"case when {_IS_BOUNDED} then tokens_basis end"),
    _median_bounds("cost_best_median_bounds", BEST.name, "cost_best_usd", "cost_best_bounds"),
    Metric(
        "cost_best_bounds", "Bounds in the best-known cost", Unit.TEXT, "neither",
        "Which bounds the best-known cost includes: upper bounds, lower bounds, estimates.",
        sql="string_agg(distinct cost_best_bounds, ', ' order by cost_best_bounds)", known="count(*)",
    ),
    Metric(
        "bounded_best_usd", "Bounded best-known cost", Unit.USD, "neither",
        "The part of the best-known cost that comes from list prices of tokens that are a bound or an estimate.",
        sql="sum(cost_best_usd) filter (cost_best_bounds is not null)", known="count(cost_best_bounds)",
    ),
    Metric(
        "costless_runs", "Runs without a known cost", Unit.COUNT, "neither", "Runs with neither a reported nor a list-price cost.",
        sql="count(*) filter (cost_best_usd is null)", known="count(*)",
    ),
    Metric(
        "cost_best_share", "Share of best-known cost", Unit.SHARE, "neither", "The group's share of the best-known cost of all groups.",
        short="Share", sql="sum(cost_best_usd) / nullif(sum(sum(cost_best_usd)) over (), 0)",
        known="count(cost_best_usd) filter (is_started)",
    ),
    over(
        "cost_best_usd", "cost_best_mean_usd", "Best-known cost per run (avg)", Unit.USD, "lower",
        "Average best-known cost of the runs that have one. Runs that never started are excluded.", "mean",
    ),
    over(
        "cost_best_usd", "cost_best_median_usd", "Best-known cost per run (p50)", Unit.USD, "lower",
        "Median (p50) of the best-known cost per run.", "median",
    ),
    over(
        "cost_best_usd", "cost_best_p90_usd", "Best-known cost per run (p90)", Unit.USD, "lower",
        "90th percentile of the best-known cost per run.", "p90",
    ),
    over(
        "cost_best_usd", "cost_best_max_usd", "Max best-known cost per run", Unit.USD, "lower",
        "Best-known cost of the most expensive run.", "max",
    ),
    Metric.of(
        RUN_FIGURES["cost_best_per_turn_usd"], sql=f"cast({_BEST_PER_TURN} as decimal(38, 9))", known=_BEST_PER_TURN_KNOWN,
        meaning="Best-known cost divided by turns, for runs with both. Runs carried over from an earlier process are excluded.",
    ),
    Metric(
        "cost_best_per_completed_usd", "Best-known cost per completed run", Unit.USD, "lower",
        "Best-known cost of all runs divided by the number of completed runs: failed runs are included in the cost.",
        sql="cast(sum(cost_best_usd) / nullif(count(*) filter (is_completed and cost_best_usd is not null), 0) as decimal(38, 9))",
        known="count(cost_best_usd) filter (is_started)",
    ),
    over("unpriced_tokens", "unpriced_tokens", "Unpriced tokens", Unit.TOKENS, "lower", _UNPRICED),
    Metric(
        "cache_hit_ratio", "Cache hit rate", Unit.SHARE, "higher", _HIT_RATIO,
        sql="sum(cache_read_tokens) filter (cache_read_share is not null)"
        " / nullif(sum(input_tokens + cache_read_tokens + cache_write_tokens) filter (cache_read_share is not null), 0)",
        known="count(cache_read_share)",
    ),
    over("cost_uncached_usd", "cost_uncached_usd", "Uncached list-price cost", Unit.USD, "lower", _UNCACHED),
    over("cache_saved_usd", "cache_saved_usd", _SAVED.label, Unit.USD, "higher", _SAVED.meaning),
    Metric(
        "cache_saved_share", "Cache savings, %", Unit.SHARE, "higher",
        "Cache savings divided by the uncached list-price cost.",
        sql="sum(cache_saved_usd) / nullif(sum(cost_uncached_usd), 0)", known="count(cache_saved_usd)",
    ),
    over("cost_cache_write_usd", "cost_cache_write_usd", "Cost of cache writes", Unit.USD, "lower", _WRITES),
)  # fmt: skip
"""Over `v_runs`. A run with an unpriced model has no list-price cost: its sum would be too small."""

_OF_RUNS = RUN_COST_METRICS

MODEL_COST_METRICS = by_key(
    of_model("cost_list_usd", _OF_RUNS["cost_list_usd"]),
    Metric.of(
        _OF_RUNS["bounded_list_usd"], sql=f"sum(cost_list_usd) filter ({_IS_BOUNDED})", known=f"cost_list_usd is not null and {_IS_BOUNDED}"
    ),
    replace(_OF_RUNS["token_bounds"], known="true"),
    of_model("cost_delta_usd", _OF_RUNS["cost_delta_usd"]),
    replace(_OF_RUNS["cost_compared_usd"], known="cost_delta_usd is not null"),
    replace(_OF_RUNS["cost_delta_share"], known="cost_delta_usd is not null"),
    Metric(
        "causes", "Cause of the difference", Unit.TEXT, "neither", _CAUSES,
        sql="string_agg(distinct cost_cause, ', ' order by cost_cause)", known="cost_cause is not null",
    ),
    replace(
        _OF_RUNS["unpriced_tokens"],
        sql="sum(total_tokens) filter (price_status = 'unpriced')", known="price_status is not null",
    ),
)  # fmt: skip
"""Over `v_model_rows`: every model by itself, so that one unpriced model hides no other."""

_ALL_INPUT = "own_input_tokens + own_cache_read_tokens + own_cache_write_tokens"
"""NULL where the log leaves a class out: its cache reads are then no share of a known input."""

MODEL_CACHE_METRICS = by_key(
    replace(
        _OF_RUNS["cache_hit_ratio"],
        sql=f"sum(own_cache_read_tokens) filter ({_ALL_INPUT} is not null) / nullif(sum({_ALL_INPUT}), 0)",
        known=f"{_ALL_INPUT} is not null",
    ),
    of_model("cost_uncached_usd", _OF_RUNS["cost_uncached_usd"]),
    of_model("cache_saved_usd", _OF_RUNS["cache_saved_usd"]),
    of_model("cost_cache_write_usd", _OF_RUNS["cost_cache_write_usd"]),
    of_model("assumed_5m_tokens", MODEL_FIGURES["assumed_5m_tokens"]),
)
"""Over `v_model_rows`, likewise."""
