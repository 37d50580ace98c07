-- What the ingest found, new or known (`results`), with the labels that it gives ($keys and $values); of readings that were not chosen, since
-- another one of the same bytes was, those of their paths.
create or replace temp table seen_files as
select
    results.source_id, results.name, map($keys::varchar[], $values::varchar[]) as labels,
    coalesce(copies.labels, map([]::varchar[], []::varchar[])) as copy_labels, max(modified_ns) as modified_ns
from results
left join (
    select distinct reading, labels from spool_runs where reading not in (select reading from chosen)
) as copies using (reading)
group by all;
