-- The records of runs that have several, to be read again.
create or replace temp table several as
select row_number() over (order by records.source_id, records.ordinal, records.ingest_id) as number, records.* exclude (raw), coalesce(records.raw, runs.raw) as raw
from run_records as records
join runs using (run_id)
where records.context is not null;
