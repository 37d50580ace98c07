-- What each model row added to its chain: its totals less those of the record it continues.
update model_usage
set
    own_input_tokens = added(linked.input_tokens, linked.former_input_tokens),
    own_output_tokens = added(linked.output_tokens, linked.former_output_tokens),
    own_cache_read_tokens = added(linked.cache_read_tokens, linked.former_cache_read_tokens),
    own_cache_write_tokens = added(linked.cache_write_tokens, linked.former_cache_write_tokens),
    cost_own_usd = added(linked.cost_reported_usd, linked.former_cost_reported_usd),
    own_cache_write_1h_tokens = added(linked.cache_write_1h_tokens, linked.former_cache_write_1h_tokens),
    own_web_search_requests = added(linked.web_search_requests, linked.former_web_search_requests)
from (
    select
        later.run_id, later.model_id, later.input_tokens, later.output_tokens, later.cache_read_tokens, later.cache_write_tokens,
        later.cost_reported_usd, later.web_search_requests,
        former.web_search_requests as former_web_search_requests, former.cache_write_1h_tokens as former_cache_write_1h_tokens,
        -- what the later record wrote for 1 hour is told apart only if the former one tells it too
        case
            when former.cache_write_tokens is null or former.cache_write_tokens = 0 or former.cache_write_1h_tokens is not null
                then coalesce(later.cache_write_1h_tokens, later.cache_write_tokens - later.cache_write_5m_tokens)
        end as cache_write_1h_tokens,
        former.input_tokens as former_input_tokens, former.output_tokens as former_output_tokens,
        former.cache_read_tokens as former_cache_read_tokens, former.cache_write_tokens as former_cache_write_tokens,
        former.cost_reported_usd as former_cost_reported_usd
    from places
    join model_usage as later using (run_id)
    left join model_usage as former on former.run_id = places.former and former.model_id is not distinct from later.model_id
) as linked
where model_usage.run_id = linked.run_id and model_usage.model_id is not distinct from linked.model_id;
