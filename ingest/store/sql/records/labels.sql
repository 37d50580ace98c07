-- The labels of all records of a run together, and those given to the files of its records; of two values of one key the first by alphabet,
-- independent of the order of ingest. The labels repo, task and experiment are columns of the run too. Of the runs in `relabelled`.
update runs
set labels = merged.labels, repo = merged.repo, task = merged.task, experiment = merged.experiment
from (
    select
        kept.run_id, coalesce(told.labels, map([]::varchar[], []::varchar[])) as labels,
        coalesce(nullif(told.labels['repo'], ''), kept.repo) as repo,
        coalesce(nullif(told.labels['task'], ''), kept.task) as task,
        coalesce(nullif(told.labels['experiment'], ''), kept.experiment) as experiment
    from run_records as kept
    semi join relabelled using (run_id)
    left join (
        select run_id, map_from_entries(list({'k': key, 'v': value} order by key)) as labels
        from (
            select run_id, label.key, min(label.value) as value
            from (
                select run_id, unnest(map_entries(labels)) as label from run_records semi join relabelled using (run_id)
                union all
                select run_id, unnest(map_entries(source_labels.labels))
                from run_records
                semi join relabelled using (run_id)
                join source_labels using (source_id)
            )
            group by run_id, label.key
        )
        group by run_id
    ) as told using (run_id)
    where kept.is_kept
) as merged
where
    runs.run_id = merged.run_id
    and (
        runs.labels is distinct from merged.labels or runs.repo is distinct from merged.repo
        or runs.task is distinct from merged.task or runs.experiment is distinct from merged.experiment
    );
