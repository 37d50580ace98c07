-- The copy of each record to keep: the fullest, then the best known, then the first by source and place.
create or replace temp table incoming as
select *
from records
qualify row_number() over (partition by run_id order by record_rank desc, context_rank desc, source_id, ordinal) = 1;
