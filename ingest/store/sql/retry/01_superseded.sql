-- Sources with rejects that were not read now themselves ($source_ids), but replaced: by other bytes under a retried name ($names), or by
-- a file that has grown and begins with them ($grown).
create or replace temp table superseded as
select source_id, name, source_id in (select unnest($grown::varchar[])) as has_grown
from sources
where
    rejected > 0
    and source_id not in (select unnest($source_ids::varchar[]))
    and (name in (select unnest($names::varchar[])) or source_id in (select unnest($grown::varchar[])));
