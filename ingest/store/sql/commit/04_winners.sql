-- The incoming records to write: new runs, and fuller or better known copies of runs in the store (`replaces`: the source they had before).
create or replace temp table winners as
select
    incoming.*, runs.source_id as replaces,
    process_of(runs.agent, runs.session_id, runs.in_stream, runs.source_id) as earlier_process
from incoming
left join runs using (run_id)
where
    runs.run_id is null
    or (incoming.record_rank, incoming.context_rank) > (runs.record_rank, runs.context_rank)
    or (
        (incoming.record_rank, incoming.context_rank) = (runs.record_rank, runs.context_rank)
        and (incoming.source_id, incoming.ordinal) < (runs.source_id, runs.ordinal)
    );
