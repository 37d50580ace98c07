"""Sessions with responses in the store: a list, and one session along time with its sub-agents."""

from __future__ import annotations

import pyarrow as pa

from app.queries.filters import NO_FILTERS, Filters
from app.queries.reading import fetch, fetch_value, limited
from app.queries.spending import spent
from app.queries.usage import LANE, parts
from ingest.store.database import Store
from schemas.catalogue.figures import kinds_in

MAIN = "main"
"""The main conversation as `subagent`."""

_CONTEXT = (
    "(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0))"
)
"""Tokens that the model read for a response: the size of its context."""

_PARTS = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")
_TOTAL = f"{_CONTEXT} + coalesce(output_tokens, 0)"

_SUMS = f"""
    min(responses.at) as first_at, max(responses.at) as last_at, count(*) as responses,
    try_cast(sum({_TOTAL}) as bigint) as total_tokens,
    try_cast(sum(output_tokens) as bigint) as output_tokens,
    sum(cost_list_usd) as cost_list_usd, count(cost_list_usd) as cost_list_usd_known,
    count(*) filter (not output_is_final) as lower_bounds, sum(len(tools))::bigint as tool_calls,
    sum(len(failed_tools))::bigint as failed_calls
"""
LANED = f"""
    select *, if(is_write_counted, paid, if(is_cached, paid, 0)) as unread,
        case when cache_read_tokens * 2 < context_before and not is_fall
            then coalesce(least(context_before - cache_read_tokens, unread), 0) else 0
        end as again_tokens
    from (
        select *, {LANE} as subagent, {_CONTEXT} as context_tokens,
            lag(nullif({_CONTEXT}, 0) ignore nulls) over lane as context_before,
            {_CONTEXT} > 0 and {_CONTEXT} * 2 < context_before as is_fall,
            date_diff('millisecond', lag(responses.at) over lane, responses.at) as pause_ms,
            coalesce(sum(cache_write_tokens) over run > 0, false) as is_write_counted,
            coalesce(sum(cache_read_tokens) over run > 0, false) as is_cached,
            if(is_write_counted, cache_write_tokens, input_tokens) as paid
        from responses
        where {{condition}}
        window run as (partition by run_id),
            lane as (
                partition by run_id, agent_id, is_sidechain
                order by responses.at nulls last, response_id
            )
    )
"""
"""Responses with the context before them in the same conversation, and what of it is paid again.

A response that read less than half of that context from the cache pays for the rest of it again:
writes it to the cache, or sends it where an agent's caches have no price for writing. A context
less than half as large as the one before is another one (a compaction), and new. Responses without
tokens (failed ones, summaries of a compaction) have no context.
"""

_BOUNDS = kinds_in("cost_best_bounds")
_OF_SESSION = (
    "run_id = $run_id or session_id = (select session_id from runs where runs.run_id = $run_id)"
)
"""Condition for a session's responses, which a session of several runs has at only one of them."""


def runs_with_responses(store: Store) -> set[str]:
    """Return the ids of the runs whose session has responses in the store."""
    sql = """
        select run_id from runs where run_id in (select run_id from responses)
            or session_id in (select session_id from responses)"""
    return {*fetch(store, sql)["run_id"].to_pylist()}


def runs_with_usage(store: Store, filters: Filters) -> int:
    """Return how many runs the filters choose.

    A period chooses runs with a response in it, or without responses that started in it.
    """
    chosen = parts(store, filters)
    sql = f"with {chosen.sql} select count(distinct run_id) from parts"
    return int(fetch_value(store, sql, chosen.parameters))


def sessions(store: Store, filters: Filters = NO_FILTERS, limit: int | None = None) -> pa.Table:
    """Return sessions with responses, latest first.

    Run, title, project, times, responses, sub-agents, tokens, best-known cost, peak context.

    `context_peak_tokens` is of the main conversation: each sub-agent has a context of its own.
    `sessions_found` ignores the limit. The filters choose runs, and their period what was spent in
    it: the cost is that of all runs of the session, as `usage` has it.
    """
    of = spent(store, filters)
    own_context = _CONTEXT.replace("coalesce(", "coalesce(responses.")
    parts = ", ".join(f"spendings.{key} as {key}" for key in _PARTS)
    sql = f"""
        with spendings as materialized (
            select run_id, response_id, coalesce(session_id, run_id) as session, title, agent,
                model, repo as project, cost_best_usd, cost_best_bounds, {", ".join(_PARTS)}
            from {of.sql}
        ),
        costs as (
            select session, sum(cost_best_usd) as cost_best_usd, {_BOUNDS} as cost_best_bounds
            from spendings group by session
        ),
        sums as (
            select session, arg_max(run_id, ("at", response_id)) as run_id, {_SUMS},
                count(distinct agent_id) as subagents,
                max(context) filter (not is_sidechain) as context_peak_tokens
            from (
                select responses.* replace ({parts}), {own_context} as context, session
                from responses join (
                    select run_id, response_id, session, {", ".join(_PARTS)} from spendings
                ) as spendings using (run_id, response_id)
            ) as responses
            group by session
        ),
        wanted as (
            select distinct on (run_id) run_id, title, agent, model, project from spendings
        )
        select wanted.*, costs.* exclude (session), sums.* exclude (run_id, session),
            count(*) over () as sessions_found
        from sums join wanted using (run_id) join costs using (session)
        order by last_at desc nulls last, run_id"""
    return fetch(store, limited(sql, limit), of.parameters)


_IN_ORDER = "order by responses.at nulls last, response_id"


def timeline(store: Store, run_id: str, limit: int | None = None) -> pa.Table:
    """Return the responses of a run's session in order, with context sizes and the cost so far.

    `cost_so_far_usd` adds up the known costs. Responses without a time come last.
    """
    sql = f"""
        select
            response_id, responses.at as at, agent_id, subagent, is_sidechain, model,
                input_tokens, cache_write_tokens,
            cache_read_tokens, output_tokens, context_tokens, cost_list_usd,
            sum(cost_list_usd) over ({_IN_ORDER}) as cost_so_far_usd,
            price_note, tools, failed_tools, stop_reason, output_is_final,
            again_tokens, pause_ms, is_fall
        from ({LANED.format(condition=_OF_SESSION)}) as responses {_IN_ORDER}"""
    return fetch(store, limited(sql, limit), {"run_id": run_id})


def points(store: Store, run_id: str, most: int) -> pa.Table:
    """Return about `most` chart points, each one response or several consecutive ones of a lane.

    `subagent` is the lane, `place` the number of the row's first response in the session, from 1;
    `at` and the sums so far are those of its last, `context_tokens` and `model` those of its
    fullest. `falls` counts responses with less than half the context of the one before, `again`
    those that paid for it again; `pause_ms` is the longest pause before one.
    """
    sql = f"""
        with numbered as (
            select
                *, {_TOTAL} as total_tokens,
                row_number() over ({_IN_ORDER}) as place, count(*) over () as found
            from ({LANED.format(condition=_OF_SESSION)}) as responses
        ),
        cut as (
            select
                *, sum(cost_list_usd) over (order by place) as cost_so_far_usd, sum(total_tokens)
                    over (order by place) as tokens_so_far,
                (row_number() over lane - 1) // ceil(found / $most)::bigint as part
            from numbered window lane as (partition by subagent order by place)
        )
        select
            subagent, min(place) as place, max(cut.at) as at, count(*) as responses,
                max(context_tokens) as context_tokens,
            arg_max(model, context_tokens) as model, try_cast(sum(output_tokens) as bigint) as
                output_tokens,
            sum(cost_list_usd) as cost_list_usd,
            max(cost_so_far_usd) as cost_so_far_usd, try_cast(max(tokens_so_far) as bigint) as
                tokens_so_far,
            count(*) filter (is_fall) as falls, count(*) filter (again_tokens > 0) as again,
                max(pause_ms) as pause_ms, sum(len(tools))::bigint as tool_calls,
                sum(len(failed_tools))::bigint as failed_calls,
            if(count(*) = 1, any_value(tools), null) as tools
        from cut group by subagent, part order by place"""
    return fetch(store, sql, {"run_id": run_id, "most": most})


def lanes(store: Store, run_id: str) -> pa.Table:
    """Return the lanes of a run's session in order of their start.

    The main conversation (no `agent_id`), side questions and sub-agents.

    `subagent` names them.
    """
    sql = f"""
        with named as (select *, {LANE} as subagent from responses where {_OF_SESSION})
        select agent_id, subagent, {_SUMS.replace("responses.", "named.")}, max({_CONTEXT}) as
            context_peak_tokens
        from named
        group by agent_id, subagent order by subagent <> 'main', first_at nulls last, subagent"""
    return fetch(store, sql, {"run_id": run_id})
