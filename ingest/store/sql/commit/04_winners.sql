-- Of those the ones that are written: new runs, and fuller or better known copies of runs that the store has (`replaces`: their former owner).
create or replace temp table winners as
select
    incoming.*, runs.source_id as replaces, runs.labels as former_labels,
    process_of(runs.session_id, runs.in_stream, runs.source_id) as former_process
from incoming
left join runs using (run_id)
where
    runs.run_id is null
    or (incoming.record_rank, incoming.context_rank) > (runs.record_rank, runs.context_rank)
    or (
        (incoming.record_rank, incoming.context_rank) = (runs.record_rank, runs.context_rank)
        and (incoming.source_id, incoming.ordinal) < (runs.source_id, runs.ordinal)
    );
