-- One finding per run and cause, with both figures; one per unpriced run (`price_status`). `rules` has the severity of each.
delete from findings where rule in (select rule from rules) and run_id in (select run_id from touched);
insert into findings by name
with differing as (
    select
        run_id, cost_cause,
        try_cast(sum(cost_list_usd) as decimal(18, 9)) as listed, try_cast(sum(cost_own_usd) as decimal(18, 9)) as reported,
        count(*) as models, max(price_no) as last_price_no,
        min(price_no) as price_no, arg_min(rank, price_no) as rank, bool_or(is_assumed_5m) as is_assumed_5m
    from judged
    where cause is not null
    group by run_id, cost_cause
),
worded as (
    select
        differing.*,
        case models
            when 1 then prices.model_id
            when 2 then prices.model_id || ' and ' || last.model_id
            else models || ' models, ' || prices.model_id || ' among them'
        end as who,
        coalesce(cast(try_cast(abs(listed / reported - 1) * 100 as decimal(9, 1)) as varchar) || ' %', 'many times')
        || case when listed < reported then ' less' else ' more' end as difference,
        case
            when words is not null then words
            when cost_cause = 'fallback_price' then 'a guess, as the agent itself says'
            else 'at no price that is known here'
                || case when prices.has_tiers then '; long requests cost more than the base tier, which the sums of a run cannot tell' else '' end
                || case when is_assumed_5m then '; 1-hour cache writes are not told apart, all are taken for 5-minute writes' else '' end
        end as explanation
    from differing
    join prices using (price_no)
    join prices as last on last.price_no = last_price_no
    left join alternatives on alternatives.price_no = differing.price_no and alternatives.rank = differing.rank
),
found as (
    select
        run_id, 'cost_' || cost_cause as rule,
        who || ': list prices give ' || case when reported > 0 then difference || ' than reported' else 'a cost, the record reports none' end
        || '. The reported cost is ' || explanation || '.' as message,
        'USD ' || listed || ' at list prices' as expected,
        'USD ' || reported || ' reported' as actual
    from worded
    union all
    select
        run_id, 'cost_helper_model_missing',
        'The record''s total is more than its models cost: a model is missing from its list.',
        'USD ' || (cost_own_usd - unlisted) || ' over the models',
        'USD ' || cost_own_usd || ' in total'
    from totals
    where unlisted > 0.000001
    union all
    select
        run_id, 'cost_unpriced',
        'No list price for ' || coalesce(names, 'the run, whose record names no model') || '; its cost is left out of list costs.'
        || case when named > 0 then ' A price file can name one: tachograph reprice --prices FILE.' else '' end,
        null,
        coalesce('USD ' || coalesce(unlisted_usd, touched.cost_own_usd) || ' reported', 'no cost reported')
    from touched
    left join totals using (run_id)
    left join (
        select
            run_id, string_agg(coalesce(model_id, 'a model that the record does not name'), ', ' order by model_id) as names,
            count(model_id) as named, sum(cost_own_usd) as unlisted_usd
        from judged
        where cost_list_usd is null
        group by run_id
    ) as unlisted using (run_id)
    where totals.cost_list_usd is null
)
select run_id, rule, severity, message, expected, actual
from found
join rules using (rule);
