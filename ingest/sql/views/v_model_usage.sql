-- One row per model of a run, with what groups and filters need to know of the run.
create or replace view v_model_usage as
select
    model_usage.*,
    own_input_tokens + own_output_tokens + own_cache_read_tokens + own_cache_write_tokens as total_tokens,
    runs.agent, runs.session_id, runs.outcome, runs.repo, runs.task, runs.experiment, runs.labels, runs.started_at, runs.ended_at,
    runs.models, runs.result
from model_usage
join runs using (run_id);
