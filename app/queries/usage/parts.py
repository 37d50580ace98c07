"""The parts that usage consists of, as SQL: billed responses, and runs without responses.

A session whose responses are in the store counts by them alone, each at its own time: also its runs of which only a result record tells,
since the transcript has the same tokens. Every other run counts with its own totals at the time it started. So nothing counts twice, and
each total is the sum of its parts however they are grouped.
"""

from __future__ import annotations

from typing import Any

from app.queries.filters.chosen import Filters, Where, where
from app.queries.filters.registry import COUNTED, TIMES
from app.queries.filters.time_words import moment

_TOKENS = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")


def _sums(prefix: str, table: str) -> str:
    """The classes of tokens, and their sum. A class that is not told adds nothing to it; where none is, it is unknown."""
    columns = {key: f"{table}.{prefix}{key}" for key in _TOKENS}
    classes = ", ".join(f"{column} as {key}" for key, column in columns.items())
    total = " + ".join(f"coalesce({column}, 0)" for column in columns.values())
    return f"{classes}, case when coalesce({', '.join(columns.values())}) is not null then {total} end as total_tokens"


_MAIN = "if(is_sidechain, 'side chain', 'main')"
SUBAGENT = f"coalesce(if(agent_id is null, null, agent_type), agent_id, {_MAIN})"
"""Who asked for a response: a type of sub-agents, one of unknown type, a question beside the main conversation, or that itself."""

_ALIKE = "partition by agent_type, agent_description"
LANE = f"""case
    when agent_id is null then {_MAIN}
    when agent_type is null then agent_id
    else concat_ws(': ', agent_type, agent_description)
        || if(min(agent_id) over ({_ALIKE}) = max(agent_id) over ({_ALIKE}), '', ' ' || left(agent_id, 8))
end"""
"""The same within a session: each sub-agent by its type and task. The beginning of its id tells those apart that are called alike."""

PROJECT = "coalesce(repo, nullif(regexp_extract(cwd, '([^/\\\\]+)[/\\\\]*$', 1), ''))"
"""What a run worked on: its repository, else the last folder of its working directory."""

ROUNDING_USD = "0.00001"
"""Reported costs are rounded: what they have beyond the responses by so little is no part of them."""

_PARTS = f"""
wanted as (
    select
        run_id, session_id, agent, cost_own_usd, tokens_basis, input_tokens, cache_write_tokens, cache_read_tokens, output_tokens,
        coalesce(session_id, run_id) as session,
        {PROJECT} as project,
        case when time_source is distinct from 'file' then coalesce(started_at, ended_at) end as used_at
    from v_runs
    where {{condition}}
),
of_responses as (
    select
        'response' as part, wanted.run_id, wanted.session, wanted.agent, wanted.project, responses.at as used_at,
        response_id, responses.model,
        {SUBAGENT} as subagent,
        {_sums("", "responses")}, cost_list_usd, responses.cost_reported_usd, not output_is_final as is_bound, tools, failed_tools,
        limit_resets_at
    from responses
    join wanted using (run_id)
),
cut_off as (
    -- streams without their result: a process of its own, which tells nothing of others in the session
    select run_id from runs where record_kind = 'stream' and len(part_ids) > 0
),
whole as (
    select wanted.* from wanted
    anti join responses on responses.run_id = wanted.run_id
    anti join (select session_id from responses anti join cut_off using (run_id)) as others on others.session_id = wanted.session_id
),
of_models as (
    select
        'run' as part, whole.run_id, whole.session, whole.agent, whole.project, whole.used_at, model_usage.model,
        {_sums("own_", "model_usage")}, model_usage.cost_list_usd, model_usage.cost_own_usd as cost_reported_usd,
        model_usage.tokens_basis = 'lower_bound' as is_bound
    from whole
    join model_usage using (run_id)
),
nameless as (
    select
        'run' as part, whole.run_id, whole.session, whole.agent, whole.project, whole.used_at,
        {_sums("", "whole")}, whole.cost_own_usd as cost_reported_usd, whole.tokens_basis = 'lower_bound' as is_bound
    from whole
    anti join model_usage using (run_id)
),
rests as (
    -- what a run cost beyond its models
    select 'rest' as part, run_id, session, agent, project, used_at, cost_own_usd - coalesce(named.usd, 0) as cost_reported_usd
    from whole
    join (select run_id, sum(cost_own_usd) as usd from model_usage semi join whole using (run_id) group by run_id) as named using (run_id)
    where cost_own_usd <> coalesce(named.usd, 0)
),
reported as (
    select session_id, sum(cost_own_usd) as usd from runs where session_id is not null and {{counted}} group by session_id
),
explained as (
    select
        run_id, any_value(session) as session, any_value(agent) as agent, any_value(project) as project, min(used_at) as used_at,
        sum(coalesce(cost_reported_usd, cost_list_usd)) as usd, count(*) = count(coalesce(cost_reported_usd, cost_list_usd)) as is_whole
    from of_responses
    anti join cut_off using (run_id)
    group by run_id
),
of_sessions as (
    select 'outside' as part, run_id, session, agent, project, used_at, reported.usd - explained.usd as outside_usd
    from explained
    join reported on reported.session_id = explained.session
    where is_whole and reported.usd - explained.usd > {ROUNDING_USD}
),
every_part as (
    select * from of_responses
    union all by name select * from of_models
    union all by name select * from nameless
    union all by name select * from rests
    union all by name select * from of_sessions
)
"""


def every_part(filters: Filters) -> Where:
    """SQL of common tables that end with `every_part`, and their values. One row is a part of usage (`schemas.catalogue.usage`).

    The filters choose runs; their period is left to `parts`.
    """
    condition = where(without_period(filters))
    counted = "true" if filters.choose_excluded else COUNTED
    return Where(_PARTS.format(condition=condition.sql, counted=counted).strip(), condition.parameters)


def parts(filters: Filters) -> Where:
    """The same and, behind it, `parts`: those whose own time is in the period of the filters."""
    chosen, period = every_part(filters), of_period(filters)
    return Where(f"{chosen.sql},\nparts as (select * from every_part where {period.sql})", chosen.parameters | period.parameters)


def undated(filters: Filters) -> Where:
    """SQL that counts the `responses` and `runs` without a time, which no period has, and its values."""
    chosen = every_part(filters)
    sql = f"""
        with {chosen.sql}
        select count(*) filter (part = 'response') as responses, count(distinct run_id) filter (part = 'run') as runs
        from every_part where used_at is null"""
    return Where(sql, chosen.parameters)


def unexplained(filters: Filters) -> Where:
    """SQL that counts the `sessions` with a reported cost and a response of unknown cost: what they cost outside is unknown, too."""
    chosen, period = every_part(filters), of_period(filters)
    sql = f"""
        with {chosen.sql}
        select count(*) as sessions from explained join reported on reported.session_id = explained.session
        where not is_whole and reported.usd is not null and {period.sql}"""
    return Where(sql, chosen.parameters | period.parameters)


def has_period(filters: Filters) -> bool:
    """Whether the filters choose a period."""
    return any(map(filters.values, TIMES))


def without_period(filters: Filters) -> Filters:
    """The filters that choose runs."""
    for key in TIMES:
        filters = filters.with_values(key, ())
    return filters


def of_period(filters: Filters, time: str = "used_at") -> Where:
    """SQL that keeps the rows whose `time`, a column, is in the period of the filters; all rows without one."""
    bound: dict[str, Any] = {}
    conditions = ["true"]
    for key, sign in zip(TIMES, (">=", "<"), strict=True):
        for number, text in enumerate(filters.values(key)):
            bound[f"{key}{number}"] = moment(text)
            conditions.append(f"{time} {sign} ${key}{number}")
    return Where(" and ".join(conditions), bound)
