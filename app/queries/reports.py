"""What only a report asks of the store: what it covers, the models without a price, the findings by rule."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.runs import fetch
from ingest.store.database import Store


def coverage(store: Store, filters: Filters) -> dict[str, Any]:
    """How many runs the filters leave of how many, from when to when by their recorded dates, and what the store has read.

    `undated_runs` have no recorded date, and cost `undated_usd`; of them, `file_dated_runs` have the modification time of their file.
    """
    condition = where(filters)
    sql = f"""
        select count(*) as runs,
               min(coalesce(started_at, ended_at)) filter (dated_at is not null) as first_at,
               max(dated_at) as last_at,
               count(dated_at) as timed_runs,
               count(*) filter (dated_at is null) as undated_runs,
               sum(cost_own_usd) filter (dated_at is null) as undated_usd,
               count(*) filter (time_source = 'file') as file_dated_runs,
               (select count(*) from runs) as stored_runs,
               (select count(*) from sources) as sources,
               (select cast(coalesce(sum(rejected), 0) as bigint) from sources) as rejected,
               (select max(received_at) from sources) as last_read_at
        from v_runs where {condition.sql}"""
    row: dict[str, Any] = fetch(store, sql, condition.parameters).to_pylist()[0]
    return row


def doubtful(store: Store, filters: Filters) -> dict[str, Any]:
    """Money in the total that is in doubt, by findings on the runs that the filters leave.

    `copied_runs`, `copied_usd`: runs beyond the first of each set of probable copies, and probable second logs of a session. Of sessions
    that begin alike, all but the most expensive: they share at most so much.
    `carried_runs`, `carried_usd`: runs whose figures seem to include those of an earlier process. `beyond_runs`, `beyond_usd`: whose models
    cost more than their totals. `zero_runs`: that report $0 for their tokens, `part_zero_runs` for those of some models only.
    `gateway_runs`, `gateway_usd`: at list prices of makers of models behind a gateway. `cut_runs`: runs that were
    cut off.
    """
    condition = where(filters)
    sql = f"""
        with chosen as (select * from v_runs where {condition.sql}),
        copies as (
            select count(*) - 1 as runs, (count(*) - 1) * min(cost_own_usd) as usd
            from chosen
            where run_id in (select run_id from findings where rule = 'possible_duplicate') and cost_own_usd > 0
            group by session_id, duration_ms, num_turns, cost_reported_usd
            having count(*) > 1
            union all
            select count(*), sum(cost_own_usd)
            from chosen as rounded
            where
                record_kind = 'transcript' and session_id is null and cost_own_usd > 0
                and run_id in (select run_id from findings where rule = 'possible_duplicate')
                and exists (select 1 from chosen as exact where exact.agent = rounded.agent and exact.record_kind = 'stream')
            union all
            select count(*) - 1, sum(cost_own_usd) - max(cost_own_usd)
            from chosen
            where
                record_kind = 'transcript' and cost_own_usd > 0
                and run_id in (select run_id from findings where rule = 'possible_duplicate')
            group by agent, started_at
            having count(distinct session_id) > 1
        ),
        zeros as (select run_id, cost_own_usd from chosen semi join (from findings where rule = 'zero_cost') as found using (run_id)),
        gateways as (
            select run_id, cost_list_usd from model_usage
            semi join chosen using (run_id) where contains(price_source, ', behind the gateway ')
        )
        select
            (select count(distinct run_id) from gateways) as gateway_runs, (select sum(cost_list_usd) from gateways) as gateway_usd,
            (select count(*) from zeros where cost_own_usd is null) as zero_runs,
            (select count(*) from zeros where cost_own_usd is not null) as part_zero_runs,
            count(cost_beyond_total_usd) as beyond_runs, sum(cost_beyond_total_usd) as beyond_usd,
            cast(coalesce((select sum(runs) from copies), 0) as bigint) as copied_runs, (select sum(usd) from copies) as copied_usd,
            count(*) filter (is_carried_over) as carried_runs, sum(cost_own_usd) filter (is_carried_over) as carried_usd,
            count(*) filter (run_id in (select run_id from findings where rule = 'cut_off')) as cut_runs
        from chosen"""
    row: dict[str, Any] = fetch(store, sql, condition.parameters).to_pylist()[0]
    return row


def unpriced_models(store: Store, filters: Filters) -> pa.Table:
    """Models that no price list knows, most tokens first: what their list price would be is unknown, and counted nowhere.

    The models of all unpriced runs; those whose record names no model are a row without one.
    """
    condition = where(filters)
    sql = f"""
        with unpriced as (select run_id, cost_own_usd from v_runs where {condition.sql} and price_status = 'unpriced'),
        uses as (
            select model_id, provider, region, run_id, total_tokens,
                   -- a model that is not named is the only one of its run
                   coalesce(v_model_rows.cost_own_usd, case when model_id is null then unpriced.cost_own_usd end) as cost_own_usd
            from v_model_rows join unpriced using (run_id) where price_status = 'unpriced'
            union all
            select null, null, null, run_id, null, cost_own_usd from unpriced where run_id not in (select run_id from model_usage)
        )
        select model_id as "model-id", provider, region, count(distinct run_id) as runs, sum(total_tokens) as total_tokens,
               sum(cost_own_usd) as cost_usd, count(distinct run_id) filter (cost_own_usd is not null) as cost_usd_known
        from uses group by all order by total_tokens desc nulls last, "model-id", provider, region"""
    return fetch(store, sql, condition.parameters)
