-- A newer version may give a record another id: its records and annotations follow it. A run that can no longer be read has no records.
create or replace temp table renamed as
select earlier.run_id as earlier_id, runs.run_id
from previous.runs as earlier
join runs using (source_id, ordinal)
where earlier.run_id <> runs.run_id;
update run_records set run_id = renamed.run_id from renamed where run_records.run_id = renamed.earlier_id;
update annotations set run_id = renamed.run_id from renamed where annotations.run_id = renamed.earlier_id;
delete from run_records where run_id not in (select run_id from runs);
