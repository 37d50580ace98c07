-- The variable `undone` is the number of the ingest. Its sources that another ingest found, too (`heirs`): the next one is then the one that read
-- them. A source that was read again belongs to its later reading from then on, and one that the ingest read again to its earlier one.
create or replace temp table heirs as
with mine as (
    select source_id, null as until from sources where ingest_id = getvariable('undone')
    union all
    select source_id, superseded_by as until from superseded_sources where ingest_id = getvariable('undone')
)
select source_id, min(ingest_id) as heir, arg_min(name, row(ingest_id, name)) as name
from sightings
join found_files using (file_no)
join (select source_id, case when count(until) = count(*) then min(until) end as until from mine group by source_id) as mine using (source_id)
where
    ingest_id > getvariable('undone') and ingest_id < coalesce(until, ingest_id + 1)
    and source_id not in (select source_id from superseded_sources where superseded_by = getvariable('undone'))
group by source_id;
