-- The labels of all copies of a record, and those for known sources ($keys and $values); only of runs with more than one copy.
create or replace temp table copies as
select run_id, unnest(map_entries(labels)) as label
from spool_runs
where cardinality(labels) > 0 and run_id not in (select run_id from winners where replaces is null)
union
select spool_runs.run_id, unnest(map_entries(spool_runs.labels))
from spool_runs
join winners using (run_id)
where
    cardinality(spool_runs.labels) > 0
    and (spool_runs.reading, spool_runs.portion, spool_runs.document) <> (winners.reading, winners.portion, winners.document)
union
select run_id, unnest(map_entries(earlier_labels))
from winners
where replaces is not null
union
select run_id, unnest(map_entries(map($keys, $values)))
from runs
semi join known using (source_id);
