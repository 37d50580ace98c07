-- Labels for all runs of a file that no record of it brought: those given to known files (`known`, $keys and $values), and those of other
-- readings of one file. Labels that the file has already are not noted again: `given_labels`.
create or replace temp table given_labels as
with given as (
    select source_id, map($keys, $values) as labels from known
    union
    select readings.source_id, spool_runs.labels
    from spool_runs
    join (select distinct reading, source_id from read_results) as readings using (reading)
    where reading not in (select reading from chosen)
),
noted as (
    select source_id, unnest(map_entries(labels)) as label from run_records where source_id in (select source_id from given)
    union all
    select source_id, unnest(map_entries(labels)) as label from source_labels
)
select distinct source_id, labels
from (select source_id, labels, unnest(map_entries(labels)) as label from given) as labelled
anti join noted using (source_id, label)
where source_id in (select source_id from run_records);
