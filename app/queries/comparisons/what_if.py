"""What the same tokens would cost at another model's list prices. A thought, not a measurement: another model uses other tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.grouping import UTC_ZONE, groups
from ingest.prices.model_ids import parse_model_id
from ingest.store.database import Store, arrow, run_step
from ingest.store.pricing.price_tables import prices_table, stored_book
from schemas.errors import UsageError
from schemas.rows.price import ModelKey

if TYPE_CHECKING:
    from ingest.prices.price_book import Price

WHAT_IF_COLUMNS = (
    "runs", "cost_list_usd", "cost_list_usd_known", "cost_what_if_usd", "cost_what_if_usd_known", "cost_what_if_delta_usd",
    "cost_what_if_delta_usd_known",
)  # fmt: skip
"""Columns beside the groups: list-price cost, cost at the other prices, and other minus list over the runs that have both."""


@dataclass(frozen=True)
class WhatIf:
    """The figures per group with their known-of counts (WHAT_IF_COLUMNS), and in words what prices they rest on."""

    table: pa.Table
    words: str


def what_if(store: Store, filters: Filters, by: Sequence[str], model: str, zone: str = UTC_ZONE) -> WhatIf:
    """Own tokens of the filtered runs at the prices of `model` (`MODEL` or `MODEL@PROVIDER`) on the day of each run, by cost.

    Every model of a run is taken for that one, helpers too. Cache reads and writes stay what they are. Raises UsageError for a model
    without a price, with the names that come near.
    """
    with store.reading() as connection:
        prices = _prices(connection, model)
        run_step(connection, "pricing/01_costs_at")
        connection.register("what_if_prices", prices_table(prices))
        try:
            table = _table(connection, filters, by, zone)
        finally:
            connection.unregister("what_if_prices")
    return WhatIf(table, _words(model, prices))


def require_price(store: Store, model: str) -> None:
    """Raises UsageError where the model that is asked for has no list price, StoreError."""
    with store.reading() as connection:
        _prices(connection, model)


def _table(connection: duckdb.DuckDBPyConnection, filters: Filters, by: Sequence[str], zone: str) -> pa.Table:
    chosen = groups(by, zone)
    condition = where(filters)
    named = "".join(f'{group.sql} as "g{number}", ' for number, group in enumerate(chosen))
    shown = "".join(f'"g{number}" as "{group.word.replace(chr(34), chr(34) * 2)}", ' for number, group in enumerate(chosen))
    keys = ", ".join(f'"g{number}"' for number in range(len(chosen)))
    sql = f"""
        with wanted as (select {named} run_id, cost_list_usd from v_runs where {condition.sql}),
        other as (
            select run_id,
                   case when count(cost) = count(*) then try_cast(sum(cost) as decimal(18, 9)) end as cost
            from (
                select run_id, costs_at({_OWN}, rates) as cost
                from model_usage
                semi join wanted using (run_id)
                left join what_if_prices as prices on price_date >= since and price_date < until
            )
            group by run_id
        ),
        both_costs as (
            select wanted.*, case when other.run_id is null then wanted.cost_list_usd else other.cost end as cost_what_if_usd
            from wanted
            left join other on other.run_id = wanted.run_id
        )
        select {shown}
               count(*) as runs,
               sum(cost_list_usd) as cost_list_usd, count(cost_list_usd) as cost_list_usd_known,
               sum(cost_what_if_usd) as cost_what_if_usd, count(cost_what_if_usd) as cost_what_if_usd_known,
               sum(cost_what_if_usd - cost_list_usd) as cost_what_if_delta_usd,
               count(cost_what_if_usd - cost_list_usd) as cost_what_if_delta_usd_known
        from both_costs
        {f"group by {keys} order by cost_list_usd desc nulls last, {keys}" if keys else ""}"""
    parameters = condition.parameters | {name: value for group in chosen for name, value in group.parameters.items()}
    return arrow(connection, sql, parameters)


_OWN = """{
    'input': own_input_tokens, 'output': own_output_tokens, 'cache_read': own_cache_read_tokens,
    'write_5m': own_cache_write_tokens - least(coalesce(own_cache_write_1h_tokens, 0), own_cache_write_tokens),
    'write_1h': least(coalesce(own_cache_write_1h_tokens, 0), own_cache_write_tokens),
    'searches': coalesce(own_web_search_requests, 0)
}"""


def _prices(connection: duckdb.DuckDBPyConnection, model: str) -> list[Price]:
    """The prices of the model that is asked for. Raises UsageError."""
    name, at, provider = model.strip().rpartition("@")
    if not at or provider[:1].isdigit() or provider == "default":  # `claude-sonnet-4-5@20250929` is a whole id
        name, provider = model.strip(), ""
    parsed = parse_model_id(name)
    key = ModelKey(name, parsed.model, provider or parsed.provider, parsed.region)
    prices = [price for price in stored_book(connection).prices(key) if not price.gateway]
    if not prices:
        raise UsageError(f"no list price for {model!r}.", _hint(key))
    return prices


def _hint(key: ModelKey) -> str:
    """Models that come near, where they are served."""
    from ingest.prices.list_prices import known_models

    names: dict[str, str] = {}
    for provider, model in known_models():
        if key.provider in (None, provider):
            names.setdefault(model.lower(), f"{model}@{provider}")
    near = [names[found] for found in get_close_matches(key.model.lower(), names, 3)]
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"{meant}Write MODEL or MODEL@PROVIDER, e.g. claude-sonnet-4-6 or claude-sonnet-4-6@aws; a price file can name more."


def _words(model: str, prices: Sequence[Price]) -> str:
    sources = " and ".join(dict.fromkeys(price.source for price in prices))
    return f"What if: the same tokens at the list prices of {model} ({sources}). Another model would use other tokens."
