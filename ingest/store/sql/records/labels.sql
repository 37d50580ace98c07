-- The labels of all records of a run together, and those given to the files of its records; of two values of one key the first by alphabet,
-- independent of the order of ingest. The labels repo, task and experiment are columns of the run too. Of the runs in `relabelled`.
with recorded as (
    select run_id, source_id, is_kept, labels, repo, task, experiment from run_records semi join relabelled using (run_id)
),
given as (
    select run_id, unnest(map_entries(labels)) as label from recorded
    union all
    select run_id, unnest(map_entries(source_labels.labels)) from recorded join source_labels using (source_id)
),
firsts as (
    select run_id, label.key, min(label.value) as value from given group by run_id, label.key
),
by_run as (
    select run_id, map_from_entries(list({'k': key, 'v': value} order by key)) as labels from firsts group by run_id
),
merged as (
    select
        kept.run_id, coalesce(by_run.labels, map([]::varchar[], []::varchar[])) as labels,
        coalesce(nullif(by_run.labels['repo'], ''), kept.repo) as repo,
        coalesce(nullif(by_run.labels['task'], ''), kept.task) as task,
        coalesce(nullif(by_run.labels['experiment'], ''), kept.experiment) as experiment
    from recorded as kept
    left join by_run using (run_id)
    where kept.is_kept
)
update runs
set labels = merged.labels, repo = merged.repo, task = merged.task, experiment = merged.experiment
from merged
where
    runs.run_id = merged.run_id
    and (
        runs.labels is distinct from merged.labels or runs.repo is distinct from merged.repo
        or runs.task is distinct from merged.task or runs.experiment is distinct from merged.experiment
    );
