-- Runs that are alike in what no two runs share by chance: session, duration, turns and cost. Their records have other ids, as a copy of
-- a record without its id has (its run has a hash). One is counted that is not excluded: one with an id of its own, then that to which the
-- chain of its session gives the highest cost, or one with a date; records with ids of their own are all counted.
-- A log may have thousands of copies: only the first ids of each group are listed.
insert into findings by name
with compared as (
    select
        run_id, runs.session_id, duration_ms, num_turns, cost_reported_usd,
        regexp_full_match(run_id, '[0-9a-f]{64}') as is_hash,
        is_hash and row_number() over (
            partition by runs.session_id, duration_ms, num_turns, cost_reported_usd
            order by
                run_id in (select run_id from annotations where excluded), is_hash, cost_own_usd desc nulls last, coalesce(time_source, 'file') = 'file', run_id
        ) > 1 as is_copy
    from runs
    join examined using (run_id)
    where runs.session_id is not null and duration_ms > 0 and cost_reported_usd > 0
),
alike as (
    select
        session_id, duration_ms, num_turns, cost_reported_usd, count(*) as copies, min(run_id, 6) as first_ids
    from compared
    group by session_id, duration_ms, num_turns, cost_reported_usd
    having count(*) > 1
),
named as (
    select compared.*, copies, list_filter(first_ids, lambda other: other <> run_id)[:5] as others
    from compared
    join alike
        on compared.session_id = alike.session_id and compared.duration_ms = alike.duration_ms
        and compared.num_turns is not distinct from alike.num_turns and compared.cost_reported_usd = alike.cost_reported_usd
)
select
    run_id, case when is_copy then 'probable_copy' else 'possible_duplicate' end as rule, $severity as severity,
    'Run ' || array_to_string(list_transform(others, lambda other: if(length(other) > 12, other[:8] || '…', other)), ', ')
    || case when copies > 6 then ' and ' || (copies - 6) || ' more' else '' end
    || case when copies > 2 then ' have' else ' has' end
    || ' the same session, duration, turns and cost: probably the same run under another id. '
    || case when is_copy then 'Another of them is counted, this one is not.' else 'This one is counted.' end as message,
    'one run with these figures' as expected,
    copies || ' runs of ' || duration_ms || ' ms, ' || coalesce(num_turns || ' turns, ', '') || 'USD ' || cost_reported_usd as actual
from named;
