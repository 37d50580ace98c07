-- One row per model of a run, with the figures that follow from its own: what sums over models are made of.
create or replace view v_model_rows as
select
    model_usage.*,
    own_input_tokens + own_output_tokens + own_cache_read_tokens + own_cache_write_tokens as total_tokens,
    model_usage.cost_uncached_usd - model_usage.cost_list_usd as cache_saved_usd,
    case when own_cache_write_tokens > 0 and own_cache_write_1h_tokens is null then own_cache_write_tokens else 0 end as assumed_5m_tokens
from model_usage;
