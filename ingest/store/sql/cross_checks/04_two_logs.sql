-- Runs of an agent whose two logs of a session share no id: one has exact figures and the time, the other rounded ones and the local time
-- of an unknown zone. They are alike in the number of answers, in cost to half a cent for each, and in tokens to a twentieth, since 1,049
-- may be printed as 1.0k; and the session may have begun in that zone up to a day before its first answer. The second log has a run for
-- each launch: those that go on with the session of another (`parent_run_id`) are compared together. Of two logs that fit each other best,
-- the rounded one is not counted, unless the other one is excluded.
insert into findings by name
with recursive compared as (
    select
        run_id, agent, record_kind, parent_run_id, started_at, num_turns, output_tokens, coalesce(cost_reported_usd, 0) as usd,
        input_tokens + coalesce(cache_write_tokens, 0) as sent_tokens
    from runs
    join examined using (run_id)
    where logs_share_no_id(agent) and output_tokens > 0
),
launches as (
    select run_id, run_id as first_id
    from compared
    where record_kind = 'transcript' and (parent_run_id is null or parent_run_id not in (select run_id from compared))
    union all
    select compared.run_id, launches.first_id
    from compared
    join launches on compared.parent_run_id = launches.run_id
),
rounded as (
    select
        agent, first_id, list(run_id) as run_ids, min(started_at) as started_at, sum(num_turns) as num_turns, sum(output_tokens) as output_tokens,
        sum(usd) as usd, sum(sent_tokens) as sent_tokens
    from compared
    join launches using (run_id)
    group by agent, first_id
),
pairs as (
    select
        exact.run_id as stream_id, run_ids,
        abs(exact.usd - rounded.usd) as apart_usd, abs(epoch(exact.started_at - rounded.started_at)) as apart_seconds,
        row_number() over (partition by exact.run_id order by apart_usd, apart_seconds, first_id) = 1
        and row_number() over (partition by first_id order by apart_usd, apart_seconds, exact.run_id) = 1 as is_best
    from compared as exact
    join rounded using (agent, num_turns)
    where
        exact.record_kind = 'stream'
        and abs(exact.usd - rounded.usd) <= num_turns * 0.005
        and abs(exact.output_tokens - rounded.output_tokens) * 20 <= exact.output_tokens
        and abs(exact.sent_tokens - rounded.sent_tokens) * 20 <= exact.sent_tokens
        and exact.started_at between rounded.started_at - interval 14 hour and rounded.started_at + interval 36 hour
),
named as (
    select stream_id as run_id, min(transcript_id, 5) as others, count(*) as count, false as is_copy
    from (select stream_id, unnest(run_ids) as transcript_id from pairs)
    group by stream_id
    union all
    select transcript_id, min(stream_id, 5), count(*), bool_or(is_best and stream_id not in (select run_id from annotations where excluded))
    from (select stream_id, is_best, unnest(run_ids) as transcript_id from pairs)
    group by transcript_id
)
select
    run_id, case when is_copy then 'probable_copy' else 'possible_duplicate' end as rule, $severity as severity,
    'Run ' || array_to_string(list_transform(others, lambda other: if(length(other) > 12, other[:8] || '…', other)), ', ')
    || case when count > 5 then ' and ' || (count - 5) || ' more have' when count > 1 then ' have' else ' has' end
    || ' as many answers, and the same tokens and cost within what is rounded: probably the other log of the same session. The logs have'
    || ' no id in common that would prove it.' || case when is_copy then ' The other one is counted, this one is not.' else '' end as message,
    'one run with these figures' as expected,
    count + 1 || ' runs' as actual
from named;
