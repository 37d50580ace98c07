-- The tokens of the model rows of the runs in `touched` (run_id, cost_own_usd, whether it continues another, the day of the prices).
-- Cache writes that the record does not separate count as 5-minute writes. The first record of a chain counts with its totals; the
-- differences of the others were written when their chain was found. Where the tokens are only bounded, a class that the log does not tell is
-- inside another one: it counts as 0, and the cost is a bound too.
create or replace temp view counted as
with own as (
    select
        model_usage.*, day,
        case
            when continues then own_cache_write_1h_tokens
            when cache_write_1h_tokens is null and cache_write_5m_tokens is not null -- `greatest` would take an unknown difference for 0
                then greatest(cache_write_tokens - cache_write_5m_tokens, 0)
            else cache_write_1h_tokens
        end as one_hour,
        case when continues then own_web_search_requests else web_search_requests end as searches,
        case when tokens_basis in ('upper_bound', 'lower_bound', 'estimate') then 0 end as missing
    from model_usage
    join touched using (run_id)
)
select
    run_id, model_id, model, provider, region, cost_own_usd, day, one_hour, searches, tokens_basis,
    coalesce(cost_basis = 'unknown', false) as is_guess,
    coalesce(own_cache_write_tokens > 0 and one_hour is null, false) as is_assumed_5m,
    tokens_basis <> 'exact' as is_bound,
    {
        'input': own_input_tokens, 'output': own_output_tokens, 'cache_read': coalesce(own_cache_read_tokens, missing),
        'write_5m': coalesce(own_cache_write_tokens - least(coalesce(one_hour, 0), own_cache_write_tokens), missing),
        'write_1h': coalesce(least(coalesce(one_hour, 0), own_cache_write_tokens), missing),
        'searches': coalesce(searches, 0)
    } as own
from own;
