"""Figures of list prices, their difference from what agents report, and what caching is worth. A part of `schemas.catalogue.metrics`.

List costs are those of the tokens that a record added to its chain, at the base tier, on the day of the run. All are computed at
ingest and stored; here they are added up.
"""

from __future__ import annotations

from schemas.catalogue.metric import Metric, of_model, over, table
from schemas.catalogue.unit_names import Unit
from schemas.rows.cost import CostCause

_LIST = "What the same tokens cost at list prices (base tier, per provider and region, of the day of the run); see `tachograph models`."
_DELTA = "List cost less reported cost, where both are known: above 0 where the list is dearer than what the agent says."
_UNCACHED = "List cost of the same tokens had nothing been cached: cache reads and writes at the price of other input."
_SAVED = "What caching saved at list prices: the cost without it, less the cost with it; below 0 where writes cost more than reads saved."
_WRITES = "The part of list cost that cache writes cost."
_HIT_RATIO = "Share of the input that was read from the cache, over all input tokens together."
_UNPRICED = "Tokens of models that have no list price; their cost is left out of list costs, never taken for 0."
_DIFFERS = f"cost_cause is not null and cost_cause <> '{CostCause.SAME}'"

RUN_COST_METRICS = table(
    over("cost_list_usd", "cost_list_usd", "List cost", Unit.USD, "lower", _LIST),
    over("cost_delta_usd", "cost_delta_usd", "List less reported", Unit.USD, "neither", _DELTA),
    Metric(
        "cost_compared_usd",
        "Reported cost beside a list cost",
        "sum(cost_own_usd) filter (cost_delta_usd is not null)",
        "count(cost_delta_usd)",
        Unit.USD,
        "neither",
        "Reported cost of the runs that have a list cost too: what `cost_delta_usd` is a difference to.",
    ),
    Metric(
        "cost_delta_share",
        "List less reported, of reported",
        "sum(cost_delta_usd) / nullif(sum(cost_own_usd) filter (cost_delta_usd is not null), 0)",
        "count(cost_delta_usd)",
        Unit.SHARE,
        "neither",
        "List cost less reported cost, divided by reported cost, over runs with both.",
    ),
    Metric(
        "differing_runs",
        "Runs with another list cost",
        f"count(*) filter ({_DIFFERS})",
        "count(cost_cause)",
        Unit.COUNT,
        "neither",
        "Runs whose list cost is not what they report, to a millionth of a dollar; `--by cause` says why.",
    ),
    Metric(
        "unpriced_runs",
        "Unpriced runs",
        "count(*) filter (price_status = 'unpriced')",
        "count(price_status)",
        Unit.COUNT,
        "lower",
        "Runs that used a model without a list price.",
    ),
    over("unpriced_tokens", "unpriced_tokens", "Unpriced tokens", Unit.TOKENS, "lower", _UNPRICED),
    Metric(
        "cache_hit_ratio",
        "Cache hit ratio",
        "sum(cache_read_tokens) filter (cache_read_share is not null)"
        " / nullif(sum(input_tokens + cache_read_tokens + cache_write_tokens) filter (cache_read_share is not null), 0)",
        "count(cache_read_share)",
        Unit.SHARE,
        "higher",
        _HIT_RATIO,
    ),
    over("cost_uncached_usd", "cost_uncached_usd", "List cost without caching", Unit.USD, "lower", _UNCACHED),
    over("cache_saved_usd", "cache_saved_usd", "Saved by caching", Unit.USD, "higher", _SAVED),
    Metric(
        "cache_saved_share",
        "Saved by caching, share",
        "sum(cache_saved_usd) / nullif(sum(cost_uncached_usd), 0)",
        "count(cache_saved_usd)",
        Unit.SHARE,
        "higher",
        "What caching saved, divided by what the same tokens would cost without it.",
    ),
    over("cost_cache_write_usd", "cost_cache_write_usd", "Cost of cache writes", Unit.USD, "lower", _WRITES),
)
"""Over `v_runs`. A run with an unpriced model has no list cost: its sum would be too small."""

MODEL_COST_METRICS = table(
    of_model("cost_list_usd", "List cost", Unit.USD, "lower", _LIST),
    of_model("cost_delta_usd", "List less reported", Unit.USD, "neither", _DELTA),
    Metric(
        "cost_delta_share",
        "List less reported, of reported",
        RUN_COST_METRICS["cost_delta_share"].sql,
        "cost_delta_usd is not null",
        Unit.SHARE,
        "neither",
        RUN_COST_METRICS["cost_delta_share"].meaning,
    ),
    Metric(
        "causes",
        "Cause of the difference",
        "string_agg(distinct cost_cause, ', ' order by cost_cause)",
        "cost_cause is not null",
        Unit.TEXT,
        "neither",
        "Why list cost and reported cost differ, found by recomputation; `same` where they do not.",
    ),
    Metric(
        "unpriced_tokens",
        "Unpriced tokens",
        "sum(total_tokens) filter (price_status = 'unpriced')",
        "price_status is not null",
        Unit.TOKENS,
        "lower",
        _UNPRICED,
    ),
)
"""Over `v_model_rows`: every model by itself, so that one unpriced model hides no other."""

MODEL_CACHE_METRICS = table(
    Metric(
        "cache_hit_ratio",
        "Cache hit ratio",
        "sum(own_cache_read_tokens) filter (total_tokens is not null)"
        " / nullif(sum(own_input_tokens + own_cache_read_tokens + own_cache_write_tokens) filter (total_tokens is not null), 0)",
        "total_tokens is not null",
        Unit.SHARE,
        "higher",
        _HIT_RATIO,
    ),
    of_model("cost_uncached_usd", "List cost without caching", Unit.USD, "lower", _UNCACHED),
    of_model("cache_saved_usd", "Saved by caching", Unit.USD, "higher", _SAVED),
    of_model("cost_cache_write_usd", "Cost of cache writes", Unit.USD, "lower", _WRITES),
    of_model(
        "assumed_5m_tokens",
        "Cache writes taken for 5-minute ones",
        Unit.TOKENS,
        "lower",
        "Cache writes whose lifetime the record does not tell: list cost takes them for 5-minute writes; 1-hour ones cost more.",
    ),
)
"""Over `v_model_rows`, likewise."""
