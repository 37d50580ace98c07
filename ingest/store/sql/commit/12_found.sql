-- Write what the ingest found (`seen_files`). The variable `ingest` is its number.
insert into found_files by name
select coalesce((select max(file_no) from found_files), 0) + row_number() over () as file_no, *
from (
    select * from seen_files semi join sources using (source_id) anti join found_files using (source_id, name, labels, copy_labels)
);
insert into sightings by name
select getvariable('ingest') as ingest_id, file_no
from found_files
semi join seen_files using (source_id, name, labels, copy_labels);
