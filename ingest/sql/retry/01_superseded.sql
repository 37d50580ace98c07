-- Sources with rejects under names ($names) of which other bytes were read now: all but those of $source_ids.
create or replace temp table superseded as
select source_id, name
from sources
where rejected > 0 and name in (select unnest($names)) and source_id not in (select unnest($source_ids));
