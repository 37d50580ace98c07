-- Figures of the runs in `merging`, from all their records: each from the kept record, else from the fullest one that tells it. A benchmark
-- harness tells the score. Time, turns, cost and end of a run come from another record only where both are of one trial: any other may be of
-- an earlier part of the run. How a trial ended, and why, is told by a record that goes to its end, and so is how a process ended that exited
-- with another code than 0, unless the kept record tells a failure. Times come from the best origin. The cost of another record stands in where
-- the kept one has none; `repriced`: the runs whose cost or day changed by that.
create or replace temp table merged as
with named as (
    select
        run_id, source_id, place, record_kind, is_of_trial, (told ->> '$.prompt') is not null as has_prompt,
        unnest([
            'agent', 'session_id', 'title', 'score', 'duration_ms', 'num_turns', 'cost_reported_usd', 'prompt', 'agent_version',
            'requested_model', 'host', 'cwd', 'branch', 'permission_mode', 'base_commit', 'head_commit', 'task_status', 'first_edit_ms',
            'patch_files', 'patch_insertions', 'patch_deletions', 'patch_sha256'
        ]) as name,
        unnest(json_extract_string(told, [
            '$.agent', '$.session_id', '$.title', '$.score', '$.duration_ms', '$.num_turns', '$.cost_reported_usd', '$.prompt',
            '$.agent_version', '$.requested_model', '$.host', '$.cwd', '$.branch', '$.permission_mode', '$.base_commit', '$.head_commit',
            '$.task_status', '$.first_edit_ms', '$.patch_files', '$.patch_insertions', '$.patch_deletions',
            '$.patch_sha256'
        ])) as value
    from telling
    union all
    select
        run_id, source_id, place, record_kind, is_of_trial, false, 'times',
        json_object('time_source', told -> '$.time_source', 'started_at', told -> '$.started_at', 'ended_at', told -> '$.ended_at')::varchar
    from telling
    where (told ->> '$.time_source') is not null
    union all
    select
        run_id, source_id, place, record_kind, is_of_trial, false, 'outcome',
        json_object('outcome', told -> '$.outcome', 'reason', told -> '$.terminal_reason', 'errors', told -> '$.errors')::varchar
    from telling
    union all
    -- columns that `records/labels.sql` merges: here only for where they come from
    select
        run_id, source_id, place, record_kind, is_of_trial, false, unnest(['repo', 'task', 'experiment', 'effort']),
        unnest([repo, task, experiment, effort])
    from telling
),
chosen as (
    select named.*
    from named
    left join (select run_id, place as exit_place from exited) as exited using (run_id)
    where
        value is not null and not (name = 'agent' and value = 'unknown' and place > 1)
        and (
            place = 1 or is_of_trial or name not in ('duration_ms', 'num_turns', 'cost_reported_usd', 'outcome')
            or (name = 'outcome' and place = exit_place)
        )
    qualify row_number() over (
        partition by run_id, name
        order by
            case name
                when 'agent' then (value = 'unknown')::int
                when 'score' then (record_kind <> 'trial')::int
                when 'outcome' then coalesce(
                    list_position(
                        ['interrupted', case when exit_place is not null then 'completed' end, 'unknown'],
                        json_extract_string(value, '$.outcome')
                    ),
                    0
                )
                when 'title' then (not has_prompt)::int
                when 'times' then list_position(
                    ['stream', 'sidecar', 'record', 'path', 'trusted_file', 'file'], json_extract_string(value, '$.time_source')
                )
                else 0
            end,
            place
    ) = 1
)
select
    run_id,
    max(value) filter (name = 'agent') as agent,
    max(value) filter (name = 'session_id') as session_id,
    max(value) filter (name = 'title') as title,
    max(value) filter (name = 'prompt') as prompt,
    max(value) filter (name = 'outcome') as ending,
    try_cast(max(value) filter (name = 'score') as double) as score,
    try_cast(max(value) filter (name = 'duration_ms') as bigint) as duration_ms,
    try_cast(max(value) filter (name = 'num_turns') as bigint) as num_turns,
    try_cast(max(value) filter (name = 'cost_reported_usd') as decimal(18, 9)) as cost_reported_usd,
    max(value) filter (name = 'agent_version') as agent_version,
    max(value) filter (name = 'requested_model') as requested_model,
    max(value) filter (name = 'host') as host,
    max(value) filter (name = 'cwd') as cwd,
    max(value) filter (name = 'branch') as branch,
    max(value) filter (name = 'permission_mode') as permission_mode,
    max(value) filter (name = 'base_commit') as base_commit,
    max(value) filter (name = 'head_commit') as head_commit,
    max(value) filter (name = 'task_status') as task_status,
    try_cast(max(value) filter (name = 'first_edit_ms') as bigint) as first_edit_ms,
    try_cast(max(value) filter (name = 'patch_files') as bigint) as patch_files,
    try_cast(max(value) filter (name = 'patch_insertions') as bigint) as patch_insertions,
    try_cast(max(value) filter (name = 'patch_deletions') as bigint) as patch_deletions,
    max(value) filter (name = 'patch_sha256') as patch_sha256,
    max(value) filter (name = 'times') as times,
    map_from_entries(list({'k': name, 'v': source_id} order by name) filter (place > 1)) as origins
from (select run_id, name, value, source_id, place from chosen union all select run_id, name, null, source_id, place from lent)
group by run_id;
create or replace temp table repriced as
select run_id
from runs
join merged using (run_id)
where
    runs.cost_reported_usd is distinct from merged.cost_reported_usd
    or cast(coalesce(runs.started_at, runs.ended_at) as date) is distinct from cast(
        make_timestamptz(coalesce(
            json_extract_string(merged.times, '$.started_at')::bigint, json_extract_string(merged.times, '$.ended_at')::bigint
        )) as date
    );
update runs
set
    agent = merged.agent,
    session_id = merged.session_id,
    title = merged.title,
    prompt = merged.prompt,
    outcome = json_extract_string(merged.ending, '$.outcome'),
    terminal_reason = json_extract_string(merged.ending, '$.reason'),
    errors = json_extract_string(merged.ending, '$.errors'),
    score = merged.score,
    duration_ms = merged.duration_ms,
    num_turns = merged.num_turns,
    cost_own_usd = case
        when runs.cost_reported_usd is distinct from merged.cost_reported_usd then merged.counted_usd else runs.cost_own_usd
    end,
    cost_beyond_total_usd = case
        when runs.cost_reported_usd is not distinct from merged.cost_reported_usd then runs.cost_beyond_total_usd
        when merged.counted_usd - merged.cost_reported_usd > 0.000001 then merged.counted_usd - merged.cost_reported_usd
    end,
    cost_reported_usd = merged.cost_reported_usd,
    agent_version = merged.agent_version,
    requested_model = merged.requested_model,
    host = merged.host,
    cwd = merged.cwd,
    branch = merged.branch,
    permission_mode = merged.permission_mode,
    base_commit = merged.base_commit,
    head_commit = merged.head_commit,
    task_status = merged.task_status,
    first_edit_ms = merged.first_edit_ms,
    patch_files = merged.patch_files,
    patch_insertions = merged.patch_insertions,
    patch_deletions = merged.patch_deletions,
    patch_sha256 = merged.patch_sha256,
    time_source = json_extract_string(merged.times, '$.time_source'),
    started_at = make_timestamptz(json_extract_string(merged.times, '$.started_at')::bigint),
    ended_at = make_timestamptz(json_extract_string(merged.times, '$.ended_at')::bigint),
    origins = coalesce(merged.origins, map([]::varchar[], []::varchar[]))
from (
    select merged.*, counted_cost(merged.cost_reported_usd, summed, is_whole) as counted_usd
    from merged
    left join (from model_costs semi join merging using (run_id)) as model_costs using (run_id)
) as merged
where runs.run_id = merged.run_id;
