-- Sources with rejects of which other bytes were read now, but for those that were read now themselves ($source_ids): under names that are
-- retried ($names), or because they were the beginning of a file that has grown ($grown).
create or replace temp table superseded as
select source_id, name, source_id in (select unnest($grown::varchar[])) as has_grown
from sources
where
    rejected > 0
    and source_id not in (select unnest($source_ids::varchar[]))
    and (name in (select unnest($names::varchar[])) or source_id in (select unnest($grown::varchar[])));
