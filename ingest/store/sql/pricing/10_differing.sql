-- One finding per run and cause of a difference, with both amounts. `rules` has the severity of each.
insert into findings by name
with differing as (
    select
        run_id, cost_cause,
        try_cast(sum(cost_list_usd) as decimal(18, 9)) as listed, try_cast(sum(cost_own_usd) as decimal(18, 9)) as reported,
        count(*) as models, max(price_no) as last_price_no,
        min(price_no) as price_no, arg_min(rank, price_no) as rank, bool_or(is_assumed_5m) as is_assumed_5m,
        bool_or(responses = 0) as has_sums
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
            when cost_cause = 'long_context' then 'The reported cost matches the base rates, without the long-context tier of some requests'
            when cost_cause = 'fast_mode' then 'The reported cost matches the base rates, without fast mode of some requests'
            when cost_cause = 'service_tier' then 'The reported cost matches the base rates, without the service tier of some requests'
            when cost_cause = 'regional_endpoint' then 'The reported cost matches the price of the global endpoint'
            when cost_cause = '1h_cache_writes' then 'The reported cost matches the base rates, with 1-hour cache writes at the 5-minute rate'
            when cost_cause = 'gateway' then 'The list price is that of the maker, ' || prices.source
            when cost_cause = 'fallback_price' then 'The agent guessed the price, according to its record'
            else 'The reported cost matches no known price'
                || case when prices.has_tiers and has_sums then '; long requests may cost more than the base tier used here' else '' end
                || case when is_assumed_5m then '; cache writes of unknown lifetime are assumed to be 5-minute' else '' end
        end as explanation
    from differing
    join prices using (price_no)
    join prices as last on last.price_no = last_price_no
    left join alternatives on alternatives.price_no = differing.price_no and alternatives.rank = differing.rank
)
select
    run_id, rule, severity,
    who || case when reported > 0 then ': list price is ' || difference || ' than reported. ' else ': the reported cost is $0. ' end
    || explanation || '.' as message,
    usd_text(listed, reported) || ' at list prices' as expected,
    usd_text(reported, listed) || ' reported' as actual
from worded
join rules on rule = 'cost_' || cost_cause;
