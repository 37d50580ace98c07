-- Inherited records, with what the path tells under which their heir found them instead of that under which they were read (`paths`).
update run_records
set
    labels = map_from_entries(list_sort(map_entries(map_concat(
        map_from_entries(list_filter(
            map_entries(run_records.labels), lambda entry: paths.labels[entry.key] is distinct from entry.value
        )),
        paths.new_labels
    )))),
    repo = coalesce(new_repo, case when run_records.repo is distinct from paths.repo then run_records.repo end),
    task = coalesce(new_task, case when run_records.task is distinct from paths.task then run_records.task end),
    experiment = coalesce(
        new_experiment, case when run_records.experiment is distinct from paths.experiment then run_records.experiment end
    ),
    effort = coalesce(new_effort, case when run_records.effort is distinct from paths.effort then run_records.effort end),
    context_rank = context_rank + rank_added,
    context = case
        when new_began is not distinct from began or coalesce(context ->> '$.time_source', 'file') not in ('path', 'file', 'trusted_file')
            then context
        else json_merge_patch(context, json_object(
            'time_source', case when new_began is not null then 'path' end,
            'started_at', new_began,
            'ended_at', new_began + coalesce(
                (context ->> '$.ended_at')::bigint - (context ->> '$.started_at')::bigint, 1000 * (told ->> '$.duration_ms')::bigint
            )
        ))
    end
from paths
where run_records.source_id = paths.source_id and run_records.ingest_id = getvariable('undone');
