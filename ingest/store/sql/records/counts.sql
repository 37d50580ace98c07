-- Counts of the sources in `recounted`, whose runs changed: a run counts for the source of its kept copy.
update sources
set
    accepted = counted.accepted,
    duplicates = sources.documents - sources.rejected - sources.ignored - counted.accepted
from (
    select recounted.source_id, count(runs.run_id) as accepted
    from recounted
    left join runs using (source_id)
    group by recounted.source_id
) as counted
where sources.source_id = counted.source_id;
