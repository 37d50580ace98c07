-- The telemetry of the runs in `merging`, whether it is what they are made of or not, with what their other records gave the runs.
-- A file that grew has what its earlier readings had: only the last reading counts.
create or replace temp table parts_of_telemetry as
select
    dense_rank() over (order by records.run_id) as number, records.* exclude (raw), coalesce(records.raw, runs.raw) as raw,
    runs.labels as run_labels, runs.repo as run_repo, runs.task as run_task, runs.experiment as run_experiment,
    runs.effort as run_effort
from run_records as records
semi join merging using (run_id)
join runs using (run_id)
where
    records.record_kind = 'telemetry' and records.told is not null
    and (records.is_kept or (records.run_id, records.source_id) not in (
        select (later.run_id, sources.goes_on)
        from sources
        join run_records as later using (source_id)
        where sources.goes_on is not null
    ));
