-- Who ingested each source: a store of version 10 has it only of the ingest.
update sources
set ingested_by = ingests.who, tool_version = ingests.tool_version
from ingests
where sources.ingest_id = ingests.ingest_id and sources.ingested_by is null;
