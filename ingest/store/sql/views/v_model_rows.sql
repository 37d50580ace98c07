-- One row per model of a run, with the figures that follow from its own, and one without a model for what the run cost beyond its models:
-- what sums over models are made of, so that they are the sums over runs.
-- Written by `make schema` from schemas/catalogue/figures.py; do not edit.
create or replace view v_model_rows as
select
    model_usage.*,
    own_input_tokens + own_output_tokens + coalesce(own_cache_read_tokens, case when tokens_basis <> 'exact' then 0 end) + coalesce(own_cache_write_tokens, case when tokens_basis <> 'exact' then 0 end) as total_tokens,
    cost_uncached_usd - cost_list_usd as cache_saved_usd,
    case when own_cache_write_tokens > 0 and own_cache_write_1h_tokens is null then own_cache_write_tokens else 0 end as assumed_5m_tokens
from model_usage
union all by name
select run_id, rest_usd as cost_own_usd, case when cost_delta_usd is not null then -rest_usd end as cost_delta_usd
from (
    select
        run_id, cost_delta_usd, cost_own_usd - coalesce(list_sum(model_costs_usd), 0) - coalesce(nameless_usd, 0) as rest_usd
    from runs
    left join (
        select run_id, sum(cost_own_usd) as nameless_usd from model_usage where model is null group by run_id
    ) as nameless using (run_id)
    where cost_own_usd is not null
)
where abs(rest_usd) > 0.000001;
