-- The runs that are made of a transcript and of which the agent reports only the total: what it reports beside what the responses cost.
-- `difference`: of the two, NULL where they are the same; the costs of responses are rounded one by one.
create or replace temp table outside as
with of_responses as (
    select
        run_id, sum(responses)::bigint as responses, sum(unfinished)::bigint as unfinished,
        case when count(cost_list_usd) = count(*) then try_cast(sum(cost_list_usd) as decimal(18, 9)) end as listed
    from response_sums
    where is_by_name
    group by run_id
)
select
    run_id, responses, unfinished, listed, touched.cost_own_usd as reported,
    case when abs(reported - listed) > 0.000001 + responses * 0.0000000005 then reported - listed end as difference
from runs
join touched using (run_id)
join of_responses using (run_id)
join totals using (run_id)
where record_kind = 'transcript' and totals.unlisted is null and reported is not null and listed is not null;
