-- The runs that are made of a transcript and of which the agent reports only the total: what it reports beside what the responses cost.
-- `difference`: of the two, NULL where they are the same; the costs of responses are rounded one by one.
create or replace temp table outside as
with of_responses as (
    select run_id, try_cast(sum(responses) as bigint) as responses, try_cast(sum(unfinished) as bigint) as unfinished
    from response_sums
    where is_by_name
    group by run_id
),
of_transcripts as (
    select of_responses.*, totals.cost_own_usd as reported, totals.cost_list_usd as listed
    from of_responses
    join totals using (run_id)
    semi join (select run_id from runs where record_kind = 'transcript') as transcripts using (run_id)
    where unlisted is null
)
select *, case when abs(reported - listed) > 0.000001 + responses * 0.0000000005 then reported - listed end as difference
from of_transcripts
where reported is not null and listed is not null;
