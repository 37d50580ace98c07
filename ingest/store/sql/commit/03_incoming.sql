-- Every record of the chosen readings, with its place in its source.
create or replace temp table records as
select
    run_id, process_of(agent, session_id, in_stream, chosen.source_id) as process, record_rank, context_rank, chosen.source_id, first_ordinal + document as ordinal, reading, portion, document
from spool_runs
join chosen using (reading)
join portions using (reading, portion);
-- The copy of each record to keep: the fullest, then the best known, then the first by source and place.
create or replace temp table incoming as
select *
from records
qualify row_number() over (partition by run_id order by record_rank desc, context_rank desc, source_id, ordinal) = 1;
