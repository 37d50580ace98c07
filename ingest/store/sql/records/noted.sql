-- The incoming records of the runs that get another record (`affected`): `noted`.
create or replace temp table noted as
select
    run_id, source_id, ordinal, reading, portion, document,
    (reading, portion, document) in (select (reading, portion, document) from winners) as is_kept
from records
semi join affected using (run_id);
