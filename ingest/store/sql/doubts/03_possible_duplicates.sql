-- Runs that are alike in what no two runs share by chance: session, duration, turns and cost. Their records have other ids, as a copy of
-- a record without its id has.
insert into findings by name
with alike as (
    select
        run_id, runs.session_id, duration_ms, num_turns, cost_reported_usd,
        list(run_id) over (
            partition by runs.session_id, duration_ms, num_turns, cost_reported_usd
            order by run_id rows between unbounded preceding and unbounded following
        ) as run_ids,
        min(cost_own_usd) over (partition by runs.session_id, duration_ms, num_turns, cost_reported_usd) > 0 as is_counted_in_each
    from runs
    join examined using (run_id)
    where runs.session_id is not null and duration_ms > 0 and cost_reported_usd > 0
),
named as (select *, list_filter(run_ids, lambda other: other <> run_id) as others from alike where len(run_ids) > 1)
select
    run_id, rule, severity,
    'Run ' || array_to_string(list_transform(others[:5], lambda other: if(length(other) > 12, other[:8] || '…', other)), ', ') || case when len(others) > 5 then ' and ' || (len(others) - 5) || ' more' else '' end
    || case when len(others) > 1 then ' have' else ' has' end
    || ' the same session, duration, turns and cost: probably a copy of this record without its id.'
    || case when is_counted_in_each then ' The cost is counted in each.' else '' end as message,
    'one run with these figures' as expected,
    len(run_ids) || ' runs of ' || duration_ms || ' ms, ' || coalesce(num_turns || ' turns, ', '') || 'USD ' || cost_reported_usd as actual
from named
join doubts on rule = 'possible_duplicate';
