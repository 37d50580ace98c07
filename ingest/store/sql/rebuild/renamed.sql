-- A newer version may give a record another id: what is kept of it follows it. A run that can no longer be read has none of that.
create or replace temp table renamed as
select earlier.run_id as earlier_id, runs.run_id
from previous.runs as earlier
join runs using (source_id, ordinal)
where earlier.run_id <> runs.run_id;
update run_records set run_id = renamed.run_id from renamed where run_records.run_id = renamed.earlier_id;
update annotations set run_id = renamed.run_id from renamed where annotations.run_id = renamed.earlier_id;
update landings set run_id = renamed.run_id from renamed where landings.run_id = renamed.earlier_id;
update tool_calls set run_id = renamed.run_id from renamed where tool_calls.run_id = renamed.earlier_id;
update patch_files set run_id = renamed.run_id from renamed where patch_files.run_id = renamed.earlier_id;
update patches set run_id = renamed.run_id from renamed where patches.run_id = renamed.earlier_id;
delete from tool_calls where run_id not in (select run_id from runs);
delete from patch_files where run_id not in (select run_id from runs);
delete from patches where run_id not in (select run_id from runs);
delete from run_records where run_id not in (select run_id from runs);
