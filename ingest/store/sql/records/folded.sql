-- The records of each stream become records of the run of its session, with their texts; the stream's run goes.
update run_records
set run_id = folding.whole_id, is_kept = false, raw = coalesce(run_records.raw, runs.raw)
from folding
join runs using (run_id)
where run_records.run_id = folding.run_id;
delete from runs where run_id in (select run_id from folding);
