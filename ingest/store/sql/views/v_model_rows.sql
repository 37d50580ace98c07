-- One row per model of a run, with the figures that follow from its own: what sums over models are made of.
-- Written by `make schema` from schemas/catalogue/figures.py; do not edit.
create or replace view v_model_rows as
select
    model_usage.*,
    own_input_tokens + own_output_tokens + coalesce(own_cache_read_tokens, case when tokens_basis <> 'exact' then 0 end) + coalesce(own_cache_write_tokens, case when tokens_basis <> 'exact' then 0 end) as total_tokens,
    cost_uncached_usd - cost_list_usd as cache_saved_usd,
    case when own_cache_write_tokens > 0 and own_cache_write_1h_tokens is null then own_cache_write_tokens else 0 end as assumed_5m_tokens
from model_usage;
comment on column v_model_rows."total_tokens" is 'All tokens: input, output, cache reads and cache writes.';
comment on column v_model_rows."cache_saved_usd" is 'Uncached list-price cost minus list-price cost. Negative: caching cost more.';
comment on column v_model_rows."assumed_5m_tokens" is 'Cache writes of unknown lifetime. They are priced as 5-minute writes; 1-hour writes cost more.';
