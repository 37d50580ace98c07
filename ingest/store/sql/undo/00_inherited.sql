-- What another ingest found, too, is now its own.
update sources
set
    name = heirs.name, ingest_id = heir, received_at = ingests.finished_at, ingested_by = ingests.who, tool_version = ingests.tool_version,
    modified_ns = case when sources.name = heirs.name then modified_ns end
from heirs
join ingests on ingests.ingest_id = heir
where sources.source_id = heirs.source_id and sources.ingest_id = getvariable('undone');
update superseded_sources
set
    name = heirs.name, ingest_id = heir, received_at = ingests.finished_at, ingested_by = ingests.who, tool_version = ingests.tool_version,
    modified_ns = case when superseded_sources.name = heirs.name then modified_ns end
from heirs
join ingests on ingests.ingest_id = heir
where
    superseded_sources.source_id = heirs.source_id and superseded_sources.ingest_id = getvariable('undone') and heir < superseded_by;
update run_records
set ingest_id = heir
from heirs
where run_records.source_id = heirs.source_id and run_records.ingest_id = getvariable('undone');
