-- No stream that the file of its session holds.
create or replace temp table folding (run_id varchar, source_id varchar, whole_id varchar);
create or replace temp table moving (run_id varchar, source_id varchar, ordinal bigint, ingest_id bigint, whole_id varchar);
