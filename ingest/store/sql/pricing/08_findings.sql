-- One finding per run and cause, with both amounts; one per unpriced run (`price_status`). `rules` has the severity of each.
-- Amounts are for people: 2 decimals, 4 below $1, and all 9 where two amounts would look the same.
create or replace temp macro usd_text(amount, other) as '$' || case
    when cast(amount as decimal(18, 4)) = cast(other as decimal(18, 4)) then cast(cast(amount as decimal(18, 9)) as varchar)
    when abs(amount) < 1 then cast(cast(amount as decimal(18, 4)) as varchar)
    else cast(cast(amount as decimal(18, 2)) as varchar)
end;
delete from findings where rule in (select rule from rules) and run_id in (select run_id from touched);
insert into findings by name
with differing as (
    select
        run_id, cost_cause,
        try_cast(sum(cost_list_usd) as decimal(18, 9)) as listed, try_cast(sum(cost_own_usd) as decimal(18, 9)) as reported,
        count(*) as models, max(price_no) as last_price_no,
        min(price_no) as price_no, arg_min(rank, price_no) as rank, bool_or(is_assumed_5m) as is_assumed_5m
    from judged
    where cause is not null and not (is_bound and cause = 'unexplained') -- a bound on the tokens says nothing about the reported cost
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
        coalesce(cast(try_cast(abs(listed / reported - 1) * 100 as decimal(9, 1)) as varchar) || '%', 'many times')
        || case when listed < reported then ' lower' else ' higher' end as difference,
        case
            when words is not null then 'The reported cost matches ' || words
            when cost_cause = 'fallback_price' then 'The agent guessed the price, according to its record'
            else 'The reported cost matches no known price'
                || case when prices.has_tiers then '; long requests may cost more than the base tier used here' else '' end
                || case when is_assumed_5m then '; cache writes of unknown lifetime are assumed to be 5-minute' else '' end
        end as explanation
    from differing
    join prices using (price_no)
    join prices as last on last.price_no = last_price_no
    left join alternatives on alternatives.price_no = differing.price_no and alternatives.rank = differing.rank
),
found as (
    select
        run_id, 'cost_' || cost_cause as rule,
        who || case when reported > 0 then ': list price is ' || difference || ' than reported. ' else ': the reported cost is $0. ' end
        || explanation || '.' as message,
        usd_text(listed, reported) || ' at list prices' as expected,
        usd_text(reported, listed) || ' reported' as actual
    from worded
    union all
    select
        run_id, 'cost_helper_model_missing',
        'The reported total is higher than the sum of its models: the usage of a model is missing.',
        usd_text(cost_own_usd - unlisted, cost_own_usd) || ' over the models',
        usd_text(cost_own_usd, cost_own_usd - unlisted) || ' in total'
    from totals
    where unlisted > 0.000001
    union all
    select
        run_id, 'cost_unpriced',
        'No list price for ' || coalesce(names, 'the run: its record names no model') || '; excluded from list-price totals.'
        || case when named > 0 then ' Add its price with a price file (reprice --prices FILE).' else '' end,
        null,
        coalesce(usd_text(coalesce(unlisted_usd, touched.cost_own_usd), null) || ' reported', 'no cost reported')
    from touched
    left join totals using (run_id)
    left join (
        select
            run_id, string_agg(coalesce(model_id, 'an unnamed model'), ', ' order by model_id) as names,
            count(model_id) as named, sum(cost_own_usd) as unlisted_usd
        from judged
        where cost_list_usd is null
        group by run_id
    ) as unlisted using (run_id)
    where totals.cost_list_usd is null and not coalesce(totals.is_uncounted, touched.cost_own_usd is null)
)
select run_id, rule, severity, message, expected, actual
from found
join rules using (rule);
