-- Each row with the cause of its difference, and the words for it.
create or replace temp view judged as
select
    priced.*,
    case
        when cost_delta_usd is null then null
        when abs(cost_delta_usd) <= 0.000001 then 'same'
        when cause is not null then cause
        when cost_basis = 'unknown' then 'fallback_price'
        else 'unexplained'
    end as cost_cause,
    case
        when words is not null then words
        when cost_basis = 'unknown' then 'a guess, as the agent itself says'
        else 'at no price that is known here'
            || case when has_tiers then '; long requests cost more than the base tier, which the sums of a run cannot tell' else '' end
            || case when is_assumed_5m then '; the record does not tell 1-hour cache writes apart, all are taken for 5-minute writes' else '' end
    end as explanation
from priced
left join explained using (run_id, model_id);
