-- Of a store that did not note every record: the kept ones, of no known ingest.
insert into run_records by name
select
    run_id, source_id, ordinal, record_kind, true as is_kept, labels, repo, task, experiment, effort, record_rank, context_rank
from runs;
