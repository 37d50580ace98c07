-- The difference of each model row to that of the record it continues.
update model_usage
set
    own_input_tokens = added(linked.input_tokens, linked.earlier_input_tokens),
    own_output_tokens = added(linked.output_tokens, linked.earlier_output_tokens),
    own_cache_read_tokens = added(linked.cache_read_tokens, linked.earlier_cache_read_tokens),
    own_cache_write_tokens = added(linked.cache_write_tokens, linked.earlier_cache_write_tokens),
    cost_own_usd = added(linked.cost_reported_usd, linked.earlier_cost_reported_usd),
    own_cache_write_1h_tokens = added(linked.cache_write_1h_tokens, linked.earlier_cache_write_1h_tokens),
    own_web_search_requests = added(linked.web_search_requests, linked.earlier_web_search_requests)
from (
    select
        later.run_id, later.model_id, later.input_tokens, later.output_tokens, later.cache_read_tokens, later.cache_write_tokens,
        later.cost_reported_usd, later.web_search_requests,
        earlier.web_search_requests as earlier_web_search_requests, earlier.cache_write_1h_tokens as earlier_cache_write_1h_tokens,
        -- known only if the earlier record has 1-hour cache writes apart too
        case
            when earlier.cache_write_tokens is null or earlier.cache_write_tokens = 0 or earlier.cache_write_1h_tokens is not null
                then coalesce(later.cache_write_1h_tokens, later.cache_write_tokens - later.cache_write_5m_tokens)
        end as cache_write_1h_tokens,
        earlier.input_tokens as earlier_input_tokens, earlier.output_tokens as earlier_output_tokens,
        earlier.cache_read_tokens as earlier_cache_read_tokens, earlier.cache_write_tokens as earlier_cache_write_tokens,
        earlier.cost_reported_usd as earlier_cost_reported_usd
    from places
    join model_usage as later using (run_id)
    left join model_usage as earlier on earlier.run_id = places.earlier and earlier.model_id is not distinct from later.model_id
) as linked
where model_usage.run_id = linked.run_id and model_usage.model_id is not distinct from linked.model_id;
