-- The labels given to the files of a run's records, by any ingest that found them (`seen_files`: by the current one), and the labels of all its
-- records; of two values of one key one that was given, then the first by alphabet, independent of the order of ingest. The labels repo, task,
-- experiment and effort are columns of the run too; without such a label they come from the kept record, else from the fullest one that has them. Of
-- the runs in `relabelled`.
with recorded as (
    select
        run_id, source_id, labels, repo, task, experiment, effort,
        row_number() over (
            partition by run_id order by is_kept desc, record_rank desc, context_rank desc, source_id, ordinal, ingest_id nulls first
        ) as place
    from run_records
    semi join relabelled using (run_id)
),
found as (
    select run_id, files.labels, copy_labels
    from recorded
    join (select source_id, labels, copy_labels from found_files union select source_id, labels, copy_labels from seen_files) as files
        using (source_id)
),
given as (
    select run_id, unnest(map_entries(labels)) as label, 1 as place from found
    union all
    select run_id, unnest(map_entries(labels)), 2 from recorded
    union all
    select run_id, unnest(map_entries(copy_labels)), 2 from found
),
firsts as (
    select run_id, label.key, arg_min(label.value, row(place, label.value)) as value from given group by run_id, label.key
),
by_run as (
    select run_id, map_from_entries(list({'k': key, 'v': value} order by key)) as labels from firsts group by run_id
),
told as (
    select
        run_id,
        arg_min(repo, place) filter (repo is not null) as repo,
        arg_min(task, place) filter (task is not null) as task,
        arg_min(experiment, place) filter (experiment is not null) as experiment,
        arg_min(effort, place) filter (effort is not null) as effort
    from recorded
    group by run_id
),
merged as (
    select
        told.run_id, coalesce(by_run.labels, map([]::varchar[], []::varchar[])) as labels,
        coalesce(nullif(by_run.labels['repo'], ''), told.repo) as repo,
        coalesce(nullif(by_run.labels['task'], ''), told.task) as task,
        coalesce(nullif(by_run.labels['experiment'], ''), told.experiment) as experiment,
        coalesce(nullif(by_run.labels['effort'], ''), told.effort) as effort
    from told
    left join by_run using (run_id)
)
update runs
set labels = merged.labels, repo = merged.repo, task = merged.task, experiment = merged.experiment, effort = merged.effort
from merged
where
    runs.run_id = merged.run_id
    and (
        runs.labels is distinct from merged.labels or runs.repo is distinct from merged.repo
        or runs.task is distinct from merged.task or runs.experiment is distinct from merged.experiment
        or runs.effort is distinct from merged.effort
    );
