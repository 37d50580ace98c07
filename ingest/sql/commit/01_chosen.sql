-- The readings that are written: of each source one, the first by name, unless the store has it already.
-- `cards` (one row per reading and portion) is what the readers say of their sources.
create or replace temp table chosen as
with readings as (
    select
        reading, source_id, min(name) as name, max(bytes) as bytes, arg_min(container, portion) as container,
        sum(documents) as documents, sum(rejected) as rejected, sum(ignored) as ignored
    from cards
    group by reading, source_id
)
select *
from readings
where source_id not in (select source_id from sources)
qualify row_number() over (partition by source_id order by name, reading) = 1;
