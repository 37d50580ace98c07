-- The telemetry of the runs in `merging`, whether it is what they are made of or not, with what their other records gave the runs.
create or replace temp table parts_of_telemetry as
select
    dense_rank() over (order by records.run_id) as number, records.* exclude (raw), coalesce(records.raw, runs.raw) as raw,
    runs.labels as run_labels, runs.repo as run_repo, runs.task as run_task, runs.experiment as run_experiment
from run_records as records
semi join merging using (run_id)
join runs using (run_id)
where records.record_kind = 'telemetry' and records.told is not null;
