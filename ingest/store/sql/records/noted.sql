-- The runs that get another record (`affected`), and their incoming records: `noted`.
create or replace temp table affected as
select run_id
from records
anti join winners using (reading, portion, document)
union
select run_id from winners where replaces is not null;
create or replace temp table noted as
select
    run_id, source_id, ordinal, reading, portion, document,
    (reading, portion, document) in (select (reading, portion, document) from winners) as is_kept
from records
semi join affected using (run_id);
