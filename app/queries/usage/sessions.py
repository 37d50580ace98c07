"""Sessions whose responses are in the store: a list of them, and one along time with its sub-agents."""

from __future__ import annotations

import pyarrow as pa

from app.queries.filters.chosen import NO_FILTERS, Filters, where
from app.queries.runs import fetch
from app.queries.usage.parts import PROJECT
from ingest.store.database import Store

_CONTEXT = "coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)"
"""What the model read for a response: how full its context was."""

_TOTAL = f"{_CONTEXT} + coalesce(output_tokens, 0)"

_SUMS = f"""
    min(responses.at) as first_at, max(responses.at) as last_at, count(*) as responses, sum({_TOTAL})::bigint as total_tokens,
    sum(output_tokens)::bigint as output_tokens, sum(cost_list_usd) as cost_list_usd, count(cost_list_usd) as cost_list_usd_known,
    count(*) filter (not output_is_final) as lower_bounds, sum(len(tools))::bigint as tool_calls,
    sum(len(failed_tools))::bigint as failed_calls
"""
_OF_SESSION = "run_id = $run_id or session_id = (select session_id from runs where runs.run_id = $run_id)"
"""A session of several runs has its responses at one of them."""


def sessions(store: Store, filters: Filters = NO_FILTERS, limit: int | None = None) -> pa.Table:
    """Sessions with responses, the latest first: run, title, project, times, responses, sub-agents, tokens, cost, the peak of its context.

    `context_peak_tokens` is of the main conversation: each sub-agent has a context of its own. The filters choose runs.
    """
    condition = where(filters)
    sql = f"""
        with wanted as (
            select run_id, session_id, title, agent, model, {PROJECT} as project, cost_own_usd as cost_usd
            from v_runs where {condition.sql}
        ),
        sums as (
            select run_id, {_SUMS}, count(distinct agent_id) as subagents, max({_CONTEXT}) filter (not is_sidechain) as context_peak_tokens
            from responses semi join wanted using (run_id) group by run_id
        )
        select wanted.*, sums.* exclude (run_id) from wanted join sums using (run_id)
        order by last_at desc nulls last, run_id"""
    return fetch(store, sql + (f" limit {int(limit)}" if limit is not None else ""), condition.parameters)


def timeline(store: Store, run_id: str) -> pa.Table:
    """The responses of a run's session in order, with the size of the context and what the session had cost by then.

    `cost_so_far_usd` adds up what is known. Those without a time come last.
    """
    sql = f"""
        select
            response_id, responses.at as at, agent_id, is_sidechain, model, input_tokens, cache_write_tokens, cache_read_tokens,
            output_tokens, {_CONTEXT} as context_tokens, cost_list_usd,
            sum(cost_list_usd) over (order by responses.at nulls last, response_id) as cost_so_far_usd,
            tools, failed_tools, stop_reason, output_is_final
        from responses where {_OF_SESSION}
        order by responses.at nulls last, response_id"""
    return fetch(store, sql, {"run_id": run_id})


def lanes(store: Store, run_id: str) -> pa.Table:
    """The main conversation (no `agent_id`) and each sub-agent of a run's session, in the order in which they began."""
    sql = f"""
        select agent_id, {_SUMS}, max({_CONTEXT}) as context_peak_tokens
        from responses where {_OF_SESSION}
        group by agent_id order by agent_id is not null, first_at nulls last, agent_id"""
    return fetch(store, sql, {"run_id": run_id})
