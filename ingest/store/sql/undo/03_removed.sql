-- What the ingest brought goes; what it took the place of comes back.
delete from run_records where ingest_id = getvariable('undone');
delete from sightings where ingest_id = getvariable('undone');
delete from found_files where file_no not in (select file_no from sightings);
delete from runs where run_id in (select run_id from unkept);
create or replace temp table brought_back as
select source_id from superseded_sources where superseded_by = getvariable('undone');
delete from rejects
where
    source_id in (select source_id from sources where ingest_id = getvariable('undone'))
    or source_id in (select source_id from brought_back);
delete from response_copies
where
    source_id in (select source_id from sources where ingest_id = getvariable('undone'))
    and source_id not in (select source_id from brought_back);
delete from source_measures where ingest_id = getvariable('undone');
delete from sources where ingest_id = getvariable('undone') or source_id in (select source_id from brought_back);
insert into sources by name select * exclude (superseded_by) from superseded_sources where superseded_by = getvariable('undone');
insert into rejects by name select * exclude (superseded_by) from superseded_rejects where superseded_by = getvariable('undone');
delete from archive_members
where archive_id not in (select source_id from sources) and archive_id not in (select source_id from superseded_sources);
-- its own sources as a later ingest found them
delete from superseded_rejects
where
    superseded_by = getvariable('undone')
    or (source_id, superseded_by) in (select (source_id, superseded_by) from superseded_sources where ingest_id = getvariable('undone'));
delete from superseded_sources where superseded_by = getvariable('undone') or ingest_id = getvariable('undone');
delete from ingests where ingest_id = getvariable('undone');
