-- What an undo takes back: runs that go, runs that stay because another ingest brought them too, files, rejects, measured values and loops.
with mine as (
    select distinct run_id from run_records where ingest_id = $ingest_id
),
others as (
    select distinct run_id from run_records where ingest_id is distinct from $ingest_id and run_id in (select run_id from mine)
)
select
    count(*) filter (run_id not in (select run_id from others)) as gone,
    count(*) filter (run_id in (select run_id from others)) as staying,
    (select count(*) from sources where ingest_id = $ingest_id) as files,
    (select any_value(sources) from ingests where ingest_id = $ingest_id) as read_files,
    (select count(*) from rejects where source_id in (select source_id from sources where ingest_id = $ingest_id)) as rejects,
    (select count(*) from source_labels where ingest_id = $ingest_id) as labelled_files,
    (select count(*) from measurements where source_id in (select source_id from sources where ingest_id = $ingest_id)) as measurements,
    (select count(*) from loops where source_id in (select source_id from sources where ingest_id = $ingest_id)) as loops
from mine;
