-- The hash of the kept record of each run in `affected`: a copy that has the same is not stored twice.
create or replace temp table kept_hashes as
select run_id, sha256(raw) as hash
from spool_runs
join winners using (run_id, reading, portion, document)
where run_id in (select run_id from affected)
union all
select run_id, sha256(raw)
from runs
where rowid in (select runs.rowid from runs semi join affected using (run_id) anti join winners using (run_id));
