"""Figures of list prices, their difference from what agents report, and what caching is worth. A part of `schemas.catalogue.metrics`.

List costs are those of the tokens that a record added to its chain, at the base tier, on the day of the run. All are computed at
ingest and stored; here they are added up.
"""

from __future__ import annotations

from dataclasses import replace

from schemas.catalogue.entry import Metric, by_key, of_model, over
from schemas.catalogue.figures import MODEL_FIGURES, RUN_FIGURES
from schemas.unit_names import Unit

_LIST = "What the same tokens cost at list prices (base tier, per provider and region, of the day of the run); see `tachograph models`."
_DELTA = "List cost less reported cost, where both are known: above 0 where the list is dearer than what the agent says."
_COMPARED = "Reported cost of the runs that have a list cost too: what `cost_delta_usd` is a difference to."
_DELTA_SHARE = "List cost less reported cost, divided by reported cost, over runs with both."
_DIFFERING = "Runs whose list cost is not what they report, to a millionth of a dollar; `--by cause` says why."
_UNCACHED = "List cost of the same tokens had nothing been cached: cache reads and writes at the price of other input."
_SAVED = RUN_FIGURES["cache_saved_usd"]
_WRITES = "The part of list cost that cache writes cost."
_HIT_RATIO = "Share of the input that was read from the cache, over all input tokens together."
_UNPRICED = "Tokens of models that have no list price; their cost is left out of list costs, never taken for 0."
_UNPRICED_RUNS = "Runs whose list cost is unknown: a model has no list price, or the record names no model."
_CAUSES = "Why list cost and reported cost differ, found by recomputation; `same` where they do not."

RUN_COST_METRICS = by_key(
    over("cost_list_usd", "cost_list_usd", "List cost", Unit.USD, "lower", _LIST),
    over("cost_delta_usd", "cost_delta_usd", "List less reported", Unit.USD, "neither", _DELTA),
    Metric(
        "cost_compared_usd", "Reported cost beside a list cost", Unit.USD, "neither", _COMPARED,
        sql="sum(cost_own_usd) filter (cost_delta_usd is not null)", known="count(cost_delta_usd)",
    ),
    Metric(
        "cost_delta_share", "List less reported, of reported", Unit.SHARE, "neither", _DELTA_SHARE, short="Of reported",
        sql="sum(cost_delta_usd) / nullif(sum(cost_own_usd) filter (cost_delta_usd is not null), 0)", known="count(cost_delta_usd)",
    ),
    Metric(
        "differing_runs", "Runs with another list cost", Unit.COUNT, "neither", _DIFFERING,
        sql="count(*) filter (cost_cause is not null and cost_cause <> 'same')", known="count(cost_cause)",
    ),
    Metric(
        "unpriced_runs", "Unpriced runs", Unit.COUNT, "lower", _UNPRICED_RUNS,
        sql="count(*) filter (price_status = 'unpriced')", known="count(price_status)",
    ),
    over("unpriced_tokens", "unpriced_tokens", "Unpriced tokens", Unit.TOKENS, "lower", _UNPRICED),
    Metric(
        "cache_hit_ratio", "Cache hit ratio", Unit.SHARE, "higher", _HIT_RATIO, short="Cache hits",
        sql="sum(cache_read_tokens) filter (cache_read_share is not null)"
        " / nullif(sum(input_tokens + cache_read_tokens + cache_write_tokens) filter (cache_read_share is not null), 0)",
        known="count(cache_read_share)",
    ),
    over("cost_uncached_usd", "cost_uncached_usd", "List cost without caching", Unit.USD, "lower", _UNCACHED),
    over("cache_saved_usd", "cache_saved_usd", _SAVED.label, Unit.USD, "higher", _SAVED.meaning),
    Metric(
        "cache_saved_share", "Saved by caching, share", Unit.SHARE, "higher",
        "What caching saved, divided by what the same tokens would cost without it.",
        sql="sum(cache_saved_usd) / nullif(sum(cost_uncached_usd), 0)", known="count(cache_saved_usd)",
    ),
    over("cost_cache_write_usd", "cost_cache_write_usd", "Cost of cache writes", Unit.USD, "lower", _WRITES),
)  # fmt: skip
"""Over `v_runs`. A run with an unpriced model has no list cost: its sum would be too small."""

_OF_RUNS = RUN_COST_METRICS

MODEL_COST_METRICS = by_key(
    of_model("cost_list_usd", _OF_RUNS["cost_list_usd"]),
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

MODEL_CACHE_METRICS = by_key(
    replace(
        _OF_RUNS["cache_hit_ratio"],
        sql="sum(own_cache_read_tokens) filter (total_tokens is not null)"
        " / nullif(sum(own_input_tokens + own_cache_read_tokens + own_cache_write_tokens) filter (total_tokens is not null), 0)",
        known="total_tokens is not null",
    ),
    of_model("cost_uncached_usd", _OF_RUNS["cost_uncached_usd"]),
    of_model("cache_saved_usd", _OF_RUNS["cache_saved_usd"]),
    of_model("cost_cache_write_usd", _OF_RUNS["cost_cache_write_usd"]),
    of_model("assumed_5m_tokens", MODEL_FIGURES["assumed_5m_tokens"]),
)
"""Over `v_model_rows`, likewise."""
