-- Each row at the price of its model on its day; `prices` has one row per model and period. Without a price the costs are NULL.
create or replace temp table priced as
select
    counted.*, price_no, source, has_tiers,
    costs_at(own, rates) as cost_list_usd,
    cost_list_usd - cost_own_usd as cost_delta_usd,
    case when cost_list_usd is not null then costs_at(own, uncached(rates)) end as cost_uncached_usd,
    case
        when cost_list_usd is not null then cast(own.write_5m * rates.write_5m + own.write_1h * rates.write_1h as decimal(18, 9))
    end as cost_cache_write_usd
from counted
left join prices
    on counted.model_id = prices.model_id
    and counted.model is not distinct from prices.model
    and counted.provider is not distinct from prices.provider
    and counted.region is not distinct from prices.region
    and day >= since
    and day < until;
