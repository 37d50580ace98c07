-- A run with one record needs neither context nor figures of the record.
update run_records
set context = null, told = null
where
    told is not null
    and run_id in (select run_id from run_records semi join merging using (run_id) group by run_id having count(*) = 1);
