-- Counts of the sources whose runs changed: a run counts for the source of its kept copy.
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
