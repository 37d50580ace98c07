-- Sessions of an agent whose file of a session holds all of it, that begin with the same words at the same millisecond: one is a copy of the
-- other, made while that went on. Neither says what it copied, as a branch does in its header.
insert into findings by name
with compared as (
    select run_id, agent, started_at, prompt, cost_own_usd
    from runs
    join examined using (run_id)
    where has_whole_files(agent) and record_kind = 'transcript' and output_tokens > 0
),
alike as (
    select agent, started_at, prompt, count(*) as copies, min(run_id, 6) as first_ids, min(cost_own_usd) > 0 as is_counted_in_each
    from compared
    group by agent, started_at, prompt
    having count(*) > 1
),
named as (
    select run_id, copies, is_counted_in_each, list_filter(first_ids, lambda other: other <> run_id)[:5] as others
    from compared
    join alike
        on compared.agent = alike.agent and compared.started_at = alike.started_at and compared.prompt is not distinct from alike.prompt
)
select
    run_id, 'possible_duplicate' as rule, $severity as severity,
    'Run ' || array_to_string(list_transform(others, lambda other: if(length(other) > 12, other[:8] || '…', other)), ', ')
    || case when copies > 6 then ' and ' || (copies - 6) || ' more begin' when copies > 2 then ' begin' else ' begins' end
    || ' with the same message at the same millisecond: probably one session is a copy of the other, and has its responses up to there.'
    || case when is_counted_in_each then ' The cost of what they share is counted in each.' else '' end as message,
    'one session that begins so' as expected,
    copies || ' sessions' as actual
from named;
