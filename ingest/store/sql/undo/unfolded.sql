-- Streams, transcripts and telemetry that are records of the run of their session (`records/folding.sql`, `parts.sql`, `joining.sql`, `telemetry.sql`), where that run loses its record:
-- they are runs again, and so are results that followed from another one. A kept run tells its own id; a record of a trial has the trial's.
create or replace temp table unfolded as
select *
from (
    select
        run_id as whole_id, source_id, ordinal, ingest_id,
        case
            when starts_with(raw, '{"tachograph_run":') then raw ->> '$.run_id'
            when record_kind = 'result' and has_transcripts(told ->> '$.agent') then raw ->> '$.uuid'
        end as run_id
    from run_records
    where
        run_id in (select run_id from unkept) and (context ->> '$.trial_id') is null
        and record_kind in ('stream', 'result', 'transcript', 'telemetry')
)
where run_id <> whole_id;
update run_records
set run_id = unfolded.run_id
from unfolded
where
    run_records.run_id = unfolded.whole_id and run_records.source_id = unfolded.source_id and run_records.ordinal = unfolded.ordinal
    and run_records.ingest_id is not distinct from unfolded.ingest_id;
insert into unkept select distinct run_id from unfolded;
insert into touched_runs select distinct run_id from unfolded;
