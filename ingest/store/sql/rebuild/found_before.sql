-- Of an older store: the files that each ingest read, and those that it labelled later (`labelled`). Labels that were given are no longer
-- among those of the records.
create or replace temp table seen_before as
select source_id, name, ingest_id, coalesce(ingests.labels, map([]::varchar[], []::varchar[])) as labels
from (select source_id, name, ingest_id from sources union select source_id, name, ingest_id from superseded_sources)
join ingests using (ingest_id)
union
select source_id, sources.name, labelled.ingest_id, labelled.labels from labelled join sources using (source_id);
insert into found_files by name
select row_number() over () as file_no, source_id, name, labels, map([]::varchar[], []::varchar[]) as copy_labels
from (select distinct source_id, name, labels from seen_before);
insert into sightings by name
select distinct ingest_id, file_no from seen_before join found_files using (source_id, name, labels);
insert into archive_members by name
select archives.source_id as archive_id, inside.source_id, inside.name[length(archives.name) + 1 :] as name
from sources as archives
join sources as inside on inside.ingest_id = archives.ingest_id and starts_with(inside.name, archives.name || '!')
where archives.kind = 'archive';
update run_records
set
    labels = map_from_entries(list_filter(
        map_entries(run_records.labels), lambda entry: ingests.labels[entry.key] is distinct from entry.value
    )),
    repo = case when repo is distinct from ingests.labels['repo'] then repo end,
    task = case when task is distinct from ingests.labels['task'] then task end,
    experiment = case when experiment is distinct from ingests.labels['experiment'] then experiment end
from ingests
where run_records.ingest_id = ingests.ingest_id and cardinality(ingests.labels) > 0;
-- Labels counted as what is known of a record.
update run_records set context_rank = context_rank - context_rank % 2 where context_rank % 2 = 1;
update runs set context_rank = context_rank - context_rank % 2 where context_rank % 2 = 1;
