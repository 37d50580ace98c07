-- Each response of the runs in `touched` at the price of its request. `request_prices` has one row per service, period and size of the prompt.
-- A response without a time has the day of its run. Cache writes of unknown lifetime count as 5-minute writes. Where the tokens are only
-- bounded, a class that the log does not tell counts as 0; else the cost is NULL, as it is without a price.
create or replace temp table priced_responses as
with told as (
    select
        response_id, run_id, service_no, coalesce(cast(responses.at as date), day) as day, output_is_final,
        tokens_basis = 'unknown' and input_tokens is null and output_tokens is null as is_uncounted,
        case when not output_is_final or tokens_basis in ('upper_bound', 'lower_bound', 'estimate') then 0 end as missing,
        coalesce(input_tokens, missing) as input, coalesce(output_tokens, missing) as output, coalesce(cache_read_tokens, missing) as cache_read,
        coalesce(cache_write_tokens, missing) as cache_write, coalesce(web_search_requests, 0) as searches,
        coalesce(cache_write_5m_tokens, cache_write_1h_tokens) is not null as is_split,
        coalesce(cache_write_1h_tokens, case when is_split then greatest(cache_write_tokens - cache_write_5m_tokens, 0) end) as one_hour,
        coalesce(cache_write_tokens > case when is_split then cache_write_5m_tokens + cache_write_1h_tokens else 0 end, false) as is_assumed_5m
    from responses
    join touched using (run_id)
    join services
        on responses.model_id is not distinct from services.model_id
        and responses.model is not distinct from services.model
        and responses.provider is not distinct from services.provider
        and responses.region is not distinct from services.region
        and responses.speed is not distinct from services.speed
        and responses.service_tier is not distinct from services.service_tier
        and responses.inference_geo is not distinct from services.inference_geo
),
counted as (
    select
        told.* exclude (missing, input, output, cache_read, searches), input, output, cache_read, searches,
        {
            'input': input, 'output': output, 'cache_read': cache_read,
            'write_5m': cache_write - least(coalesce(one_hour, 0), cache_write), 'write_1h': least(coalesce(one_hour, 0), cache_write),
            'searches': searches
        } as own
    from told
),
exact as (
    select
        counted.*, source, words,
        exact_cost(own, rates) as listed,
        exact_uncached_cost(own, rates) as uncached,
        own.write_5m * rates.write_5m + own.write_1h * rates.write_1h as written
    from counted
    left join request_prices
        on counted.service_no = request_prices.service_no
        and day >= since
        and day < until
        and coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) > above
        and coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) <= up_to
)
select
    response_id, run_id, service_no, day, source, output_is_final, is_assumed_5m, is_uncounted,
    input, output, cache_read, cache_write, own.write_1h, searches,
    nanodollars(listed) as cost_list_usd, nanodollars(uncached) as cost_uncached_usd, nanodollars(written) as cost_cache_write_usd,
    case when cost_list_usd is not null then
        nullif(
            concat_ws(
                ', ', words, case when searches > 0 then 'web searches' end, case when is_assumed_5m then 'cache writes assumed 5-minute' end
            ),
            ''
        )
    end as words
from exact;
