-- The incoming records that are the only ones of their runs.
insert into run_records by name
select
    run_id, winners.source_id, winners.ordinal, $ingest_id as ingest_id, spooled.record_kind, true as is_kept, labels, repo, task,
    experiment, effort, spooled.record_rank, spooled.context_rank
from spool_runs as spooled
join winners using (run_id, reading, portion, document)
anti join affected using (run_id);
