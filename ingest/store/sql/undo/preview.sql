-- The variable `undone` is the number of the ingest.
-- What an undo takes back: runs that go, runs that stay because another ingest brought them too, files, rejects, measured values and loops.
with mine as (
    select distinct run_id from run_records where ingest_id = getvariable('undone')
),
others as (
    select distinct run_id
    from run_records
    where
        run_id in (select run_id from mine)
        and (ingest_id is distinct from getvariable('undone') or source_id in (select source_id from heirs))
),
removed as (
    select source_id from sources anti join heirs using (source_id) where ingest_id = getvariable('undone')
)
select
    count(*) filter (run_id not in (select run_id from others)) as gone,
    count(*) filter (run_id in (select run_id from others)) as staying,
    (select count(*) from removed) as files,
    (select any_value(sources) from ingests where ingest_id = getvariable('undone')) as read_files,
    (select count(*) from rejects semi join removed using (source_id)) as rejects,
    (
        select count(distinct source_id)
        from found_files
        join sightings using (file_no)
        where
            ingest_id = getvariable('undone') and cardinality(labels) + cardinality(copy_labels) > 0
            and source_id not in (select source_id from removed) and source_id in (select source_id from run_records)
    ) as labelled_files,
    (select count(*) from measurements semi join removed using (source_id)) as measurements,
    (select count(*) from loops semi join removed using (source_id)) as loops
from mine;
