-- One row per model of a run, with what groups and filters need to know of the run.
create or replace view v_model_usage as
select
    model_usage.*,
    own_input_tokens + own_output_tokens + own_cache_read_tokens + own_cache_write_tokens as total_tokens,
    model_usage.cost_uncached_usd - model_usage.cost_list_usd as cache_saved_usd,
    case when own_cache_write_tokens > 0 and own_cache_write_1h_tokens is null then own_cache_write_tokens else 0 end as assumed_5m_tokens,
    runs.agent, runs.session_id, runs.outcome, runs.repo, runs.task, runs.experiment, runs.labels, runs.started_at, runs.ended_at,
    runs.models, runs.result
from model_usage
join runs using (run_id);
