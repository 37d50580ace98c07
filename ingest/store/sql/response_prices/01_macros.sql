-- What prices ask of a response (a row of `responses`). Cache writes of unknown lifetime count as 5-minute writes, and what a split leaves out too.
-- Where the tokens are only bounded, a class that the log does not tell is in another one or missing, and counts as 0; else it is not known.
create or replace temp macro uncounted(response) as
    case when not response.output_is_final or response.tokens_basis in ('upper_bound', 'lower_bound', 'estimate') then 0 end;
create or replace temp macro writes_1h(response) as least(
    coalesce(response.cache_write_1h_tokens, greatest(response.cache_write_tokens - response.cache_write_5m_tokens, 0)),
    response.cache_write_tokens
);
create or replace temp macro is_assumed_5m(response) as coalesce(
    response.cache_write_tokens > case
        when response.cache_write_5m_tokens is null and response.cache_write_1h_tokens is null then 0
        else response.cache_write_5m_tokens + response.cache_write_1h_tokens
    end,
    false
);
create or replace temp macro own_tokens(response) as {
    'input': coalesce(response.input_tokens, uncounted(response)),
    'output': coalesce(response.output_tokens, uncounted(response)),
    'cache_read': coalesce(response.cache_read_tokens, uncounted(response)),
    'write_5m': coalesce(response.cache_write_tokens - writes_1h(response), uncounted(response)),
    'write_1h': case when response.cache_write_tokens is null then uncounted(response) else writes_1h(response) end,
    'searches': coalesce(response.web_search_requests, 0)
};
-- The size that decides the tier: all tokens that the request sent, from the cache or not.
create or replace temp macro prompt_tokens(response) as
    coalesce(response.input_tokens, 0) + coalesce(response.cache_read_tokens, 0) + coalesce(response.cache_write_tokens, 0);
-- A response without a time has the day of its run.
create or replace temp macro price_day(response, run) as coalesce(cast(response.at as date), run.day);
-- `request_prices` has a price for every service, day and size; rates are NULL where none is known.
create or replace temp macro is_price_of(price, service, run, response) as
    response.run_id = run.run_id
    and response.model_id is not distinct from service.model_id
    and response.model is not distinct from service.model
    and response.provider is not distinct from service.provider
    and response.region is not distinct from service.region
    and response.speed is not distinct from service.speed
    and response.service_tier is not distinct from service.service_tier
    and response.inference_geo is not distinct from service.inference_geo
    and service.service_no = price.service_no
    and price_day(response, run) >= price.since
    and price_day(response, run) < price.until
    and prompt_tokens(response) > price.above
    and prompt_tokens(response) <= price.up_to;
