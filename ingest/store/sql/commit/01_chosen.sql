-- The readings to write: one for each source that is not in the store, with the best known runs, then the first by name.
-- `read_results`: one row per reading and portion, with the counts of its documents and the number of the first.
create or replace temp table chosen as
with readings as (
    select
        reading, source_id, min(name) as name, max(bytes) as bytes, arg_min(kind, portion) as kind,
        arg_min(container, portion) as container, arg_min(map, portion) as map,
        sum(documents) as documents, sum(rejected) as rejected, sum(ignored) as ignored, min(modified_ns) as modified_ns,
        max(resume_at) as resume_at
    from read_results
    group by reading, source_id
),
ranks as (
    select reading, max(context_rank) as context_rank from spool_runs group by reading
)
select readings.*
from readings
left join ranks using (reading)
where source_id not in (select source_id from sources)
qualify row_number() over (partition by source_id order by context_rank desc nulls last, name, reading) = 1;
