-- Every record of the chosen readings, with its place in its source.
create or replace temp table records as
select
    run_id, process_of(agent, session_id, in_stream, chosen.source_id) as process, record_rank, context_rank, chosen.source_id,
    first_ordinal + document as ordinal, reading, portion, document
from spool_runs
join chosen using (reading)
join read_results using (reading, portion);
