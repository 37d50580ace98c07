-- The incoming records that are not kept (`copies`), and the runs that have one, or whose record was replaced: `affected`.
create or replace temp table copies as
select run_id, source_id, ordinal, reading, portion, document
from records
anti join winners using (reading, portion, document);
create or replace temp table affected as
select run_id from copies
union
select run_id from winners where replaces is not null;
