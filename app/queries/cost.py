"""Costs, hours, coverage of a report, and costs at other prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from app.queries import Row
from app.queries.filters import Filters, where
from app.queries.grouping import UTC_ZONE, groups
from app.queries.reading import fetch, fetch_rows, left_out, undated
from app.queries.runs import KNOWN_SUFFIX
from app.queries.spending import spent_in
from ingest.prices.model_ids import parse_model_id
from ingest.store.database import Store, arrow, run_step
from ingest.store.pricing import prices_table, stored_book
from schemas.catalogue.cost_measures import ALL_IN, BEST, BOUNDS, LIST, CostMeasure
from schemas.catalogue.metrics import FEWEST_VALUES
from schemas.errors import UsageError
from schemas.rows.cost import CostCause
from schemas.rows.price import ModelKey

if TYPE_CHECKING:
    from ingest.prices.price_book import Price


COST_FACTS = (
    "runs",
    "cost_usd",
    "cost_list_usd",
    "unreported_runs",
    "unreported_list_usd",
    "unlisted_runs",
    "unlisted_cost_usd",
    "bounded_runs",
    "bounded_list_usd",
    "token_bounds",
    "unpriced_runs",
    "cost_best_usd",
    "costless_runs",
    "bounded_best_usd",
    "cost_best_bounds",
    "cost_all_usd",
    "machineless_runs",
    "bounded_all_usd",
    "cost_all_bounds",
)
"""Columns that count runs with reported and list-price costs, and the bounds among these."""

FAR, ENOUGH_TO_JUDGE = 5.0, 10
"""A slow outlier takes FAR times the median of its agent and model, which needs ENOUGH_TO_JUDGE
runs.
"""


def is_comparable(before: Row, after: Row, measure: CostMeasure) -> bool:
    """Return whether two sums of costs give a change in percent.

    Both rest on five known costs, and both are of one kind.

    `before`, `after`: COST_FACTS with their known counts. Kinds differ if only one sum has reported
    costs, list prices or bounds.
    """

    def kind(facts: Row) -> tuple[bool, bool, str | None]:
        has_list = measure is LIST or (
            measure in (BEST, ALL_IN) and facts[f"unreported_list_usd{KNOWN_SUFFIX}"] > 0
        )
        bounds = facts[BOUNDS[measure.total][0]] if measure.total in BOUNDS else None
        return has_list, measure is not LIST and facts[f"cost_usd{KNOWN_SUFFIX}"] > 0, bounds

    least = min(facts[f"{measure.total}{KNOWN_SUFFIX}"] for facts in (before, after))
    return least >= FEWEST_VALUES and kind(before) == kind(after)


@dataclass(frozen=True, slots=True)
class ListPrice:
    """Runs of an agent and model with reported and list-price cost, by `cause` of the difference.

    The cause is a key of CAUSES.

    `saved_usd`: savings by caching at list prices.
    """

    agent: str | None
    model: str | None
    cause: str | None
    runs: int
    reported_usd: Decimal
    list_usd: Decimal
    delta_usd: Decimal
    saved_usd: Decimal | None


def list_prices(store: Store, filters: Filters) -> list[ListPrice]:
    """Return reported against list-price cost by agent, model and cause.

    The most expensive agent and model come first. Over a period it is what was spent then.
    """
    rows = spent_in(store, filters)
    sql = f"""
        select agent, model_group as model, cost_cause as cause, count(distinct run_id) as runs,
            sum(cost_own_usd) as reported_usd, sum(cost_list_usd) as list_usd,
            sum(cost_delta_usd) as delta_usd, sum(cache_saved_usd) as saved_usd
        from {rows.sql} where is_started and cost_delta_usd is not null
        group by agent, model_group, cost_cause
        order by sum(sum(cost_own_usd)) over (partition by agent, model_group) desc, agent, model,
            abs(delta_usd) desc, cause"""
    return [ListPrice(**row) for row in fetch_rows(store, sql, rows.parameters)]


@dataclass(frozen=True, slots=True)
class Times:
    """Wall times in milliseconds of the runs of an agent and model, or of all runs (`is_all`).

    `known` started runs have a time, `wall_ms` in all, `lost_ms` of it in runs that did not
    complete. `median`, `p90` and `longest` are over the `timed` completed runs. `parallelism` is
    the median of API time ÷ wall time of `parallel` runs.
    """

    agent: str | None
    model: str | None
    is_all: bool
    runs: int
    started: int
    completed: int
    known: int
    wall_ms: int | None
    lost: int
    lost_ms: int | None
    timed: int
    median: float | None
    p90: float | None
    longest: int | None
    parallelism: float | None
    parallel: int


def times(store: Store, filters: Filters) -> list[Times]:
    """Return wall times of all runs in the first row, then by agent and model, longest first."""
    condition = where(filters)
    done = "is_started and is_completed"
    sql = f"""
        select agent, model_group as model, grouping(agent) = 1 as is_all, count(*) as runs,
            count(*) filter (is_started) as started,
               count(*) filter ({done}) as completed, count(duration_ms) filter (is_started) as
                   known,
               sum(duration_ms) filter (is_started)::bigint as wall_ms,
               count(duration_ms) filter (is_started and not is_completed) as lost,
               sum(duration_ms) filter (is_started and not is_completed)::bigint as lost_ms,
               count(duration_ms) filter ({done}) as timed, median(duration_ms) filter ({done}) as
                   median,
               quantile_cont(duration_ms::double, 0.9) filter ({done}) as p90, max(duration_ms)
                   filter ({done}) as longest,
               median(parallelism) filter ({done} and not is_carried_over) as parallelism,
               count(parallelism) filter ({done} and not is_carried_over) as parallel
        from v_runs where {condition.sql} group by grouping sets ((), (agent, model_group))
        order by is_all desc, wall_ms desc nulls last, runs desc, agent, model"""
    return [Times(**row) for row in fetch_rows(store, sql, condition.parameters)]


def slow(store: Store, filters: Filters, limit: int) -> list[dict[str, Any]]:
    """Return completed runs that took FAR times the median of agent and model, slowest first.

    Columns: `run_id`, `title`, `agent`, `model`, `duration_ms`, `usual` (the median, of `judged_by`
    runs) and `times_usual`.
    """
    condition = where(filters)
    sql = f"""
        with completed as (
            select run_id, title, agent, model_group as model, duration_ms,
                   median(duration_ms) over same as usual, count(*) over same as judged_by
            from v_runs where {condition.sql} and is_started and is_completed and duration_ms > 0
            window same as (partition by agent, model_group)
        )
        select *, duration_ms / usual as times_usual from completed
        where judged_by >= {ENOUGH_TO_JUDGE} and duration_ms >= {FAR} * usual order by times_usual
            desc, run_id limit {int(limit)}"""
    return fetch_rows(store, sql, condition.parameters)


def coverage(store: Store, filters: Filters) -> dict[str, Any]:
    """Return how many runs match the filters, their recorded dates, and what the store has read.

    The dates are the first and the last. The number of all runs is included.

    `undated_runs` have no recorded date, and cost `undated_usd` with `undated_bounds`. The file of
    `file_dated_runs` of them has a time. `left_out_runs`, with the same figures, are those that the
    period leaves out.
    """
    condition = where(filters)
    sql = f"""
        select count(*) as runs,
               min(coalesce(started_at, ended_at)) filter (dated_at is not null) as first_at,
               max(dated_at) as last_at,
               count(dated_at) as timed_runs,
               count(*) filter (time_source = 'file') as file_dated_runs,
               (select count(*) from runs) as stored_runs,
               (select count(distinct (source_id, name)) from found_files) as sources,
               (select cast(coalesce(sum(rejected), 0) as bigint) from sources) as rejected,
               (select max(received_at) from sources) as last_read_at
        from v_runs where {condition.sql}"""
    row = fetch_rows(store, sql, condition.parameters)[0]
    return (
        row | undated(store, filters).facts("undated") | left_out(store, filters).facts("left_out")
    )


def at_another_price(store: Store, filters: Filters) -> dict[str, Any]:
    """Return what the agents computed at the price of another model.

    It covers the runs that match the filters, and is the finding cost_fallback_price.

    `another_runs`: their number; `another_usd`, `another_list_usd`: the reported cost of these
    models, and their list-price cost.
    """
    condition = where(filters)
    sql = f"""
        select count(distinct run_id) as another_runs, sum(cost_own_usd) as another_usd,
            sum(cost_list_usd) as another_list_usd
        from model_usage
        where cost_cause = '{CostCause.FALLBACK_PRICE}' and run_id in (select run_id from v_runs
            where {condition.sql})"""
    return fetch_rows(store, sql, condition.parameters)[0]


_COPIES = "('possible_duplicate', 'probable_copy')"


def doubtful(store: Store, filters: Filters) -> dict[str, Any]:
    """Return the doubtful part of the total cost, by findings on the runs that match the filters.

    `copied_runs`, `copied_usd`: runs that are counted, but may be others: all but one of each set
    of the same figures, second logs of a session, and of sessions with the same beginning all but
    the most expensive, an upper bound of what they share. `carried_runs`, `carried_usd`: runs whose
    figures seem to include those of an earlier process. `beyond_runs`, `beyond_usd`: models cost
    more than the run's total. `zero_runs` report $0 for their tokens, `part_zero_runs` only for
    some models. `gateway_runs`, `gateway_usd`: priced at the makers' list prices for models behind
    a gateway. `cut_runs` were cut off.
    """
    condition = where(filters)
    sql = f"""
        with chosen as (select * from v_runs where {condition.sql}),
        copies as (
            select count(*) - 1 as runs, (count(*) - 1) * min(cost_own_usd) as usd
            from chosen
            where run_id in (select run_id from findings where rule in {_COPIES}) and cost_own_usd >
                0
            group by session_id, duration_ms, num_turns, cost_reported_usd
            having count(*) > 1
            union all
            select count(*), sum(cost_own_usd)
            from chosen as rounded
            where
                record_kind = 'transcript' and session_id is null and cost_own_usd > 0
                and run_id in (select run_id from findings where rule in {_COPIES})
                and exists (select 1 from chosen as exact where exact.agent = rounded.agent and
                    exact.record_kind = 'stream')
            union all
            select count(*) - 1, sum(cost_own_usd) - max(cost_own_usd)
            from chosen
            where
                record_kind = 'transcript' and cost_own_usd > 0
                and run_id in (select run_id from findings where rule in {_COPIES})
            group by agent, started_at
            having count(distinct session_id) > 1
        ),
        zeros as (select run_id, cost_own_usd from chosen semi join (from findings where rule =
            'zero_cost') as found using (run_id)),
        gateways as (
            select run_id, cost_list_usd from model_usage
            semi join chosen using (run_id) where contains(price_source, ', behind the gateway ')
        )
        select
            (select count(distinct run_id) from gateways) as gateway_runs, (select
                sum(cost_list_usd) from gateways) as gateway_usd,
            (select count(*) from zeros where cost_own_usd is null) as zero_runs,
            (select count(*) from zeros where cost_own_usd is not null) as part_zero_runs,
            count(cost_beyond_total_usd) as beyond_runs, sum(cost_beyond_total_usd) as beyond_usd,
            cast(coalesce((select sum(runs) from copies), 0) as bigint) as copied_runs, (select
                sum(usd) from copies) as copied_usd,
            count(*) filter (is_carried_over) as carried_runs, sum(cost_own_usd) filter
                (is_carried_over) as carried_usd,
            count(*) filter (run_id in (select run_id from findings where rule = 'cut_off')) as
                cut_runs
        from chosen"""
    return fetch_rows(store, sql, condition.parameters)[0]


def unpriced_models(store: Store, filters: Filters) -> pa.Table:
    """Return models without a list-price cost, most tokens first.

    No list has their price, or the log lacks a class of their tokens.

    Covers all unpriced runs; records that name no model are a row without one.
    """
    condition = where(filters)
    sql = f"""
        with unpriced as (select run_id, cost_own_usd from v_runs where {condition.sql} and
            price_status = 'unpriced'),
        uses as (
            select model_id, provider, region, run_id, total_tokens,
                   -- a model that is not named is the only one of its run
                   coalesce(v_model_rows.cost_own_usd, case when model_id is null then
                       unpriced.cost_own_usd end) as cost_own_usd
            from v_model_rows join unpriced using (run_id) where price_status = 'unpriced'
            union all
            select null, null, null, run_id, null, cost_own_usd from unpriced where run_id not in
                (select run_id from model_usage)
        )
        select model_id as "model-id", provider, region, count(distinct run_id) as runs,
            sum(total_tokens) as total_tokens,
               sum(cost_own_usd) as cost_usd, count(distinct run_id) filter (cost_own_usd is not
                   null) as cost_usd_known
        from uses group by all order by total_tokens desc nulls last, "model-id", provider,
            region"""
    return fetch(store, sql, condition.parameters)


@dataclass(frozen=True)
class WhatIf:
    """Figures per group with their known-of counts, and a note on prices.

    List-price cost, cost at the other prices, and the difference over the runs that have both.
    """

    table: pa.Table
    words: str


_OWN = """{
    'input': own_input_tokens, 'output': own_output_tokens, 'cache_read': own_cache_read_tokens,
    'write_5m': own_cache_write_tokens
        - least(coalesce(own_cache_write_1h_tokens, 0), own_cache_write_tokens),
    'write_1h': least(coalesce(own_cache_write_1h_tokens, 0), own_cache_write_tokens),
    'searches': coalesce(own_web_search_requests, 0)
}"""


def what_if(
    store: Store, filters: Filters, by: Sequence[str], model: str, zone: str = UTC_ZONE
) -> WhatIf:
    """Return the cost of the filtered runs' tokens at the prices of `model`.

    `model` is `MODEL` or `MODEL@PROVIDER`. The prices are those of the day of each run.

    All models of a run are repriced, helpers too; cache reads and writes keep their counts. Raises
    UsageError for a model without a price, with similar names.
    """
    chosen, condition = groups(by, zone), where(filters)
    named = "".join(f'{group.sql} as "g{number}", ' for number, group in enumerate(chosen))
    shown = "".join(
        f'"g{number}" as "{group.word.replace(chr(34), chr(34) * 2)}", '
        for number, group in enumerate(chosen)
    )
    keys = ", ".join(f'"g{number}"' for number in range(len(chosen)))
    sql = f"""
        with wanted as (select {named} run_id, cost_list_usd from v_runs where {condition.sql}),
        other as (
            select run_id,
                   case when count(cost) = count(*) then try_cast(sum(cost) as decimal(18, 9)) end
                       as cost
            from (
                select run_id, costs_at({_OWN}, rates) as cost
                from model_usage
                semi join wanted using (run_id)
                left join what_if_prices as prices on price_date >= since and price_date < until
            )
            group by run_id
        ),
        both_costs as (
            select wanted.*, case when other.run_id is null then wanted.cost_list_usd else
                other.cost end as cost_what_if_usd
            from wanted
            left join other on other.run_id = wanted.run_id
        )
        select {shown}
               count(*) as runs,
               sum(cost_list_usd) as cost_list_usd, count(cost_list_usd) as cost_list_usd_known,
               sum(cost_what_if_usd) as cost_what_if_usd, count(cost_what_if_usd) as
                   cost_what_if_usd_known,
               sum(cost_what_if_usd - cost_list_usd) as cost_what_if_delta_usd,
               count(cost_what_if_usd - cost_list_usd) as cost_what_if_delta_usd_known
        from both_costs
        {f"group by {keys} order by cost_list_usd desc nulls last, {keys}" if keys else ""}"""
    parameters = condition.parameters | {
        name: value for group in chosen for name, value in group.parameters.items()
    }
    with store.reading() as connection:
        prices = _prices(connection, model)
        run_step(connection, "pricing/01_costs_at")
        connection.register("what_if_prices", prices_table(prices))
        try:
            table = arrow(connection, sql, parameters)
        finally:
            connection.unregister("what_if_prices")
    sources = " and ".join(dict.fromkeys(price.source for price in prices))
    return WhatIf(
        table,
        (
            f"What if: the same tokens at the list prices of {model} ({sources}). Another model "
            "would use other tokens."
        ),
    )


def require_price(store: Store, model: str) -> None:
    """Raise UsageError if the model has no list price, StoreError if the store cannot be read."""
    with store.reading() as connection:
        _prices(connection, model)


def _prices(connection: duckdb.DuckDBPyConnection, model: str) -> list[Price]:
    """Return the prices of the model. Raises UsageError."""
    name, at, provider = model.strip().rpartition("@")
    if (
        not at or provider[:1].isdigit() or provider == "default"
    ):  # `claude-sonnet-4-5@20250929` is a whole id
        name, provider = model.strip(), ""
    parsed = parse_model_id(name)
    key = ModelKey(name, parsed.model, provider or parsed.provider, parsed.region)
    prices = [price for price in stored_book(connection).prices(key) if not price.gateway]
    if prices:
        return prices
    from ingest.prices.genai import known_models

    names: dict[str, str] = {}
    for served_by, known in known_models():
        if key.provider in (None, served_by):
            names.setdefault(known.lower(), f"{known}@{served_by}")
    near = [names[found] for found in get_close_matches(key.model.lower(), names, 3)]
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    hint = (
        f"{meant}Write MODEL or MODEL@PROVIDER, e.g. claude-sonnet-4-6 or claude-sonnet-4-6@aws; "
        "a price file can name more."
    )
    raise UsageError(f"no list price for {model!r}.", hint)
