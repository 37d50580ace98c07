-- Records that move on do so before the run goes that they were with.
update run_records
set run_id = moving.whole_id
from moving
where
    run_records.run_id = moving.run_id and run_records.source_id = moving.source_id and run_records.ordinal = moving.ordinal
    and run_records.ingest_id is not distinct from moving.ingest_id;
-- The records of each run that goes become records of the run that it belongs to, with their texts.
update run_records
set run_id = folding.whole_id, is_kept = false, raw = coalesce(run_records.raw, runs.raw)
from folding
join runs using (run_id)
where run_records.run_id = folding.run_id;
delete from runs where run_id in (select run_id from folding);
