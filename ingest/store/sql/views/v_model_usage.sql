-- One row per model of a run, with what groups and filters need to know of the run.
create or replace view v_model_usage as
select
    v_model_rows.*,
    runs.agent, runs.session_id, runs.outcome, runs.repo, runs.task, runs.experiment, runs.labels, runs.started_at, runs.ended_at,
    runs.models, runs.result
from v_model_rows
join runs using (run_id);
