-- Counts of the sources whose runs changed, as after a commit.
update sources
set
    accepted = counted.accepted,
    duplicates = sources.documents - sources.rejected - sources.ignored - counted.accepted
from (
    select touched.source_id, count(runs.run_id) as accepted
    from (
        select source_id from touched_sources union select source_id from restored union select source_id from brought_back
    ) as touched
    left join runs using (source_id)
    group by touched.source_id
) as counted
where sources.source_id = counted.source_id;
