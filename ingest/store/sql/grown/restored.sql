-- The variable `undone` is the number of the ingest. What it put aside comes back.
create or replace temp table restored_copies as
select * exclude (superseded_by) from superseded_response_copies where superseded_by = getvariable('undone');
insert into response_copies by name select * from restored_copies;
delete from superseded_response_copies
where
    superseded_by = getvariable('undone')
    or source_id in (select source_id from sources where ingest_id = getvariable('undone'));
