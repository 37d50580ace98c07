-- The variable `undone` is the number of the ingest.
-- `touched_runs`: runs with a record of the ingest, with one that another ingest inherits, or with labels that it gave. `unkept`: of them, those
-- that lose the record they are made of, which is all of their telemetry, or have one of a file whose path tells something else now; with their
-- sessions, their agents and the sources they count for.
create or replace temp table touched_runs as
select run_id from run_records where ingest_id = getvariable('undone')
union
select run_id from run_records semi join heirs using (source_id)
union
select run_id
from run_records
where source_id in (
    select source_id
    from found_files
    join sightings using (file_no)
    where ingest_id = getvariable('undone') and cardinality(labels) + cardinality(copy_labels) > 0
);
create or replace temp table unkept as
select run_id
from run_records
where
    ingest_id = getvariable('undone')
    and (is_kept or (record_kind = 'telemetry' and run_id in (select run_id from runs where record_kind = 'telemetry')))
union
select run_id from run_records semi join paths using (source_id);
create or replace temp table touched_sessions as
select distinct session_id from runs where session_id is not null and run_id in (select run_id from unkept);
create or replace temp table touched_sources as
select distinct source_id from runs where run_id in (select run_id from unkept);
create or replace temp table touched_agents as
select distinct agent from runs where run_id in (select run_id from unkept);
