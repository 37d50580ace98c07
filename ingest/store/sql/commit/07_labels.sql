-- The labels of all copies together; of two values of one key the first by alphabet, independent of the order of ingest.
-- The labels repo, task and experiment are columns of the run too.
update runs
set
    labels = merged.labels,
    repo = coalesce(merged.labels['repo'], runs.repo),
    task = coalesce(merged.labels['task'], runs.task),
    experiment = coalesce(merged.labels['experiment'], runs.experiment)
from (
    select run_id, map_from_entries(list({'k': key, 'v': value} order by key)) as labels
    from (
        select run_id, label.key, min(label.value) as value
        from (
            select run_id, label from copies
            union all
            select run_id, unnest(map_entries(labels)) as label from runs where run_id in (select run_id from copies)
        )
        group by run_id, label.key
    )
    group by run_id
) as merged
where runs.run_id = merged.run_id;
