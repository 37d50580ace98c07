-- Sources whose runs came or went are counted anew: a run counts for the source it is kept from.
update sources
set
    accepted = counted.accepted,
    duplicates = sources.documents - sources.rejected - sources.ignored - counted.accepted
from (
    select touched.source_id, count(runs.run_id) as accepted
    from (select source_id from chosen union select replaces from winners where replaces is not null) as touched
    left join runs using (source_id)
    group by touched.source_id
) as counted
where sources.source_id = counted.source_id;
