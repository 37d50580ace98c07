-- Each row at the base rates of its model on its day; `prices` has one row per model and period. Without a price the costs are NULL.
-- `responses`: of how many responses its costs are the sum. Models without a price for cache writes
-- have none: where the record does not count them, they are no unknown part of the cost.
create or replace temp table priced as
with matched as (
    select
        counted.* exclude (own), price_no, source, gateway, rates,
        case
            when own.write_5m is null and rates.write_5m = rates.input and rates.write_1h = rates.input
                then struct_update(own, write_5m := 0, write_1h := 0)
            else own
        end as own
    from counted
    left join prices
        on counted.model_id = prices.model_id
        and counted.model is not distinct from prices.model
        and counted.provider is not distinct from prices.provider
        and counted.region is not distinct from prices.region
        and day >= since
        and day < until
),
exact as (
    select
        run_id, model_id, model, provider, region, price_no, source, gateway, day, 0 as responses,
        one_hour, searches, own, cost_own_usd, is_guess, is_assumed_5m, is_bound,
        tokens_basis = 'unknown' and own.input is null and own.output is null as is_uncounted,
        exact_cost(own, rates) as listed,
        exact_uncached_cost(own, rates) as uncached,
        own.write_5m * rates.write_5m + own.write_1h * rates.write_1h as written
    from matched
),
costs as (
    select
        exact.* exclude (listed, uncached, written), nanodollars(listed) as cost_list_usd,
        nanodollars(uncached) as cost_uncached_usd, nanodollars(written) as cost_cache_write_usd
    from exact
)
select
    costs.* exclude (cost_uncached_usd, cost_cache_write_usd),
    cost_list_usd - cost_own_usd as cost_delta_usd,
    case when cost_list_usd is not null then cost_uncached_usd end as cost_uncached_usd,
    case when cost_list_usd is not null then cost_cache_write_usd end as cost_cache_write_usd
from costs;
