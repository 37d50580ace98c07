-- For each subject of v_measurements that a candidate has, and of v_published: the run whose change was measured or judged, or why there is
-- none.
-- The first of these that matches any run decides: the id of the run, its folder, the hash of its patch, its commit, its task; the last
-- two with agent, model and effort, where both sides know them. A run that changed nothing or began after the measurement is not what was
-- measured, unless it is named; several others are ambiguous.
create or replace view v_measured_runs as
with runs_known as materialized (
    -- of the tables: v_runs takes long to plan, and is needed for none of this; labels as there
    select
        runs.run_id, agent, patch_sha256, lower(nullif(coalesce(annotations.labels['effort'], runs.effort), '')) as effort, coalesce(patch_files, 1) > 0 as has_changes,
        case when annotations.labels['task'] is null then task else nullif(annotations.labels['task'], '') end as task,
        case
            when given_at is not null then given_at
            when time_source <> 'file' then coalesce(started_at, ended_at)
        end as began_at,
        lower(coalesce(
            case when annotations.labels['commit'] is null then runs.labels['commit'] else nullif(annotations.labels['commit'], '') end,
            head_commit
        )) as commit,
        [lower(replace(name, '.', '-')) for name in list_append(models, requested_model) if name is not null] as model_names
    from runs
    left join annotations on annotations.run_id = runs.run_id
    where not coalesce(excluded, false) and not is_copy
        and (exists (from measurements) or exists (from published))  -- else no run is read
),
folders as (
    -- of all records of a run: a copy may lie in the folder that a measurement names
    select distinct run_id, folder, regexp_extract(folder, '[^/]+$') as last_folder
    from (
        select run_id, replace(regexp_extract(name, '^(.*)[/!][^/!]*$', 1), '!', '/') as folder
        from run_records
        join sources using (source_id)
        where run_id in (select run_id from runs_known)
    )
),
candidates as (
    select
        subject, max(measured_at) as measured_at, run_id, run_path, patch_sha256, commit_full as commit,
        left(commit_full, 7) as short, task, batch, agent, lower(effort) as effort,
        -- a date or a version behind the name is no other model
        '(^|[^a-z0-9])' || regexp_escape(regexp_replace(lower(replace(model, '.', '-')), '[-@]20[0-9]{2}-?[0-9]{2}-?[0-9]{2}$', ''))
        || '([-@:](20[0-9]{2}|v[0-9]).*)?$' as model
    from (
        select subject, measured_at, run_id, run_path, patch_sha256, commit_full, task, batch, agent, model, effort
        from v_measurements
        where variant = 'candidate'
        union all
        select subject, judged_at, run_id, run_path, patch_sha256, commit_full, task, batch, agent, model, effort
        from v_published
    )
    group by all
),
batches as (
    -- measurements of one batch are of the same runs: what one of them says about a task holds for the others
    select batch, short, agent, min(run_path) as run_path
    from candidates
    where batch is not null and run_path is not null
    group by all
    having count(distinct run_path) = 1
),
wanted as (
    select candidates.* exclude (run_path), coalesce(candidates.run_path, batches.run_path) as run_path
    from candidates
    left join batches
        on batches.batch = candidates.batch and batches.short = candidates.short and batches.agent is not distinct from candidates.agent
),
models_alike as (
    -- a pair of a measured model and the models of a run that may be the same, each judged once
    select model, model_names
    from (select distinct model from wanted) as measured
    cross join (select distinct model_names from runs_known) as of_runs
    where model is null or model_names = [] or len([name for name in model_names if regexp_matches(name, model)]) > 0
),
matches as (
    select subject, 1 as level, 'run id' as joined_by, runs_known.run_id
    from wanted
    join runs_known on starts_with(runs_known.run_id, wanted.run_id)
    where wanted.run_id is not null -- few are named by it, and each is compared with every run
    union all
    select subject, 2, 'run folder', folders.run_id
    from wanted
    join folders on last_folder = regexp_extract(run_path, '[^/]+$') and ends_with('/' || folder, '/' || run_path)
    union all
    select subject, 3, 'patch', runs_known.run_id
    from wanted
    join runs_known on runs_known.patch_sha256 = wanted.patch_sha256
    union all
    select subject, 4, 'commit', runs_known.run_id
    from wanted
    join runs_known
        on short = left(runs_known.commit, 7)
        and (starts_with(runs_known.commit, wanted.commit) or starts_with(wanted.commit, runs_known.commit))
    join models_alike on models_alike.model is not distinct from wanted.model and models_alike.model_names = runs_known.model_names
    where coalesce(wanted.agent = runs_known.agent, true) and coalesce(wanted.effort = runs_known.effort, true)
    union all
    select subject, 5, 'task', runs_known.run_id
    from wanted
    join runs_known on runs_known.task = wanted.task
    join models_alike on models_alike.model is not distinct from wanted.model and models_alike.model_names = runs_known.model_names
    where wanted.commit is null and coalesce(wanted.agent = runs_known.agent, true) and coalesce(wanted.effort = runs_known.effort, true)
),
several_commits as (
    select distinct hashes.commit
    from (select distinct commit from wanted where length(commit) < 40) as hashes
    join runs_known on starts_with(runs_known.commit, hashes.commit) and length(runs_known.commit) = 40
    group by hashes.commit
    having count(distinct runs_known.commit) > 1
),
found as (
    -- most times of measurements and of folders have no zone: a day is left for it
    select
        subject, level, joined_by,
        count(distinct matches.run_id) as matching,
        coalesce(
            list(distinct matches.run_id order by matches.run_id)
                filter (level <= 2 or (has_changes and coalesce(began_at < measured_at + interval 1 day, true))),
            []
        ) as run_ids
    from matches
    join runs_known on runs_known.run_id = matches.run_id
    join wanted using (subject)
    group by subject, level, joined_by
    qualify row_number() over (partition by subject order by level) = 1
),
judged as (
    select wanted.*, found.* exclude (subject), joined_by = 'commit' and several_commits.commit is not null as is_short
    from wanted
    left join found using (subject)
    left join several_commits on several_commits.commit = wanted.commit
)
select
    subject,
    case when len(run_ids) = 1 and not is_short then run_ids[1] end as run_id,
    joined_by,
    case
        when is_short then 'the hash ' || commit || ' is short and that of several commits'
        when len(run_ids) > 1
            then len(run_ids) || ' runs match by ' || joined_by || ': ' || array_to_string([left(id, 8) for id in run_ids[:4]], ', ')
        when len(run_ids) = 1 then null
        when matching > 0
            then case when matching = 1 then 'the run that matches' else matching || ' runs that match' end || ' by ' || joined_by
                || ' left no patch, or began after the measurement'
        when coalesce(run_id, run_path, patch_sha256, commit, task) is null then 'it names no run, patch, commit or task'
        else
            'no run has its ' || concat_ws(
                ' or ', case when run_id is not null then 'id' end, case when run_path is not null then 'folder' end,
                case when patch_sha256 is not null then 'patch' end, case when commit is not null then 'commit' end,
                case when task is not null and commit is null then 'task' end
            ) || coalesce(' and agent ' || agent, '')
    end as unjoined
from judged;
