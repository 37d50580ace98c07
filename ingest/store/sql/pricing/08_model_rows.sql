-- Write the prices into the model rows.
update model_usage
set
    own_cache_write_1h_tokens = judged.one_hour,
    own_web_search_requests = judged.searches,
    cost_list_usd = judged.cost_list_usd,
    cost_delta_usd = judged.cost_delta_usd,
    cost_cause = judged.cost_cause,
    cost_uncached_usd = judged.cost_uncached_usd,
    cost_cache_write_usd = judged.cost_cache_write_usd,
    price_status = case when is_uncounted then null when judged.cost_list_usd is null then 'unpriced' else 'priced' end,
    price_date = judged.day,
    price_source = judged.source
from judged
where model_usage.run_id = judged.run_id and model_usage.model_id is not distinct from judged.model_id;
