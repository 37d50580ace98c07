-- The responses of the runs in `touched` with the token counts that are billed, and the price of the request: `request_prices` has one for every
-- service, day and size; rates are NULL where none is known. Cache writes of unknown lifetime count as 5-minute writes, and what a split leaves out
-- too. Where the tokens are only bounded, a class without a count is in another one or missing, and counts as 0; else it is unknown.
create or replace temp view requests as
with sized as (
    select
        responses.*,
        coalesce(cast(responses.at as date), touched.day) as day, -- a response without a time has the day of its run
        -- the size that decides the tier: all tokens that the request sent, from the cache or not
        coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens,
        case when not output_is_final or tokens_basis in ('upper_bound', 'lower_bound', 'estimate') then 0 end as missing,
        least(coalesce(cache_write_1h_tokens, greatest(cache_write_tokens - cache_write_5m_tokens, 0)), cache_write_tokens) as writes_1h,
        coalesce(
            cache_write_tokens > case
                when cache_write_5m_tokens is null and cache_write_1h_tokens is null then 0
                else cache_write_5m_tokens + cache_write_1h_tokens
            end,
            false
        ) as is_assumed_5m
    from responses
    join touched using (run_id)
)
select
    sized.* exclude (prompt_tokens, missing, writes_1h), services.service_no, words, source, rates,
    {
        'input': coalesce(input_tokens, missing),
        'output': coalesce(output_tokens, missing),
        'cache_read': coalesce(cache_read_tokens, missing),
        'write_5m': coalesce(cache_write_tokens - writes_1h, missing),
        'write_1h': case when cache_write_tokens is null then missing else writes_1h end,
        'searches': coalesce(web_search_requests, 0)
    } as own
from sized
join services
    on sized.model_id is not distinct from services.model_id
    and sized.model is not distinct from services.model
    and sized.provider is not distinct from services.provider
    and sized.region is not distinct from services.region
    and sized.speed is not distinct from services.speed
    and sized.service_tier is not distinct from services.service_tier
    and sized.inference_geo is not distinct from services.inference_geo
join request_prices
    on request_prices.service_no = services.service_no and day >= since and day < until and prompt_tokens > above and prompt_tokens <= up_to;
