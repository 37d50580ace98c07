-- One row per run: the record's figures and those that follow from them, and what people say of it.
-- Written by `make schema` from schemas/catalogue/figures.py; do not edit.
create or replace view v_runs as
with shared as (
    -- the folders that all files of runs have in common: those of the first and the last name
    select length(regexp_extract(first[: len(list_filter(range(1, length(first) + 1), lambda n: first[: n] = last[: n]))], '^.*[/!]'))
        as depth
    from (select min(name) as first, max(name) as last from sources where accepted > 0)
),
only_models as (
    -- of the agents that have one model in the store
    select map_from_entries(list({'key': agent, 'value': model})) as of_agent
    from (
        select agent, min(model) as model
        from (select agent, regexp_replace(model, '(.)[-@](20[0-9]{2}-?(0[1-9]|1[0-2])(-?(0[1-9]|[12][0-9]|3[01]))?|(0[1-9]|1[0-2])-20[0-9]{2}|(0[1-9]|1[0-2])-?(0[1-9]|[12][0-9]|3[01])|2[3-9](0[1-9]|1[0-2])((0[1-9]|[12][0-9]|3[01]))?)$', '\1') as model from (select distinct agent, model from runs))
        group by agent
        having min(model) = max(model)
    )
)
select * exclude (error_text, error_told),
    case when not is_carried_over then cast(cost_all_usd / nullif(num_turns, 0) as decimal(18, 9)) end as cost_all_per_turn_usd,
    map {'max_turns': 'agent', 'max_budget': 'agent', 'no_output': 'agent', 'refused': 'agent', 'limit': 'agent', 'quota': 'account', 'sign_in_expired': 'set-up', 'not_signed_in': 'set-up', 'api_key': 'set-up', 'model': 'set-up', 'conversation': 'agent', 'request': 'agent', 'provider': 'provider', 'machine': 'set-up', 'answer': 'agent', 'interrupted': 'person', 'start_crash': 'set-up', 'harness': 'set-up', 'no_program': 'set-up', 'crash': 'agent', 'none': 'unknown', 'other': 'unknown'}[reason] as whose,
    case when reason is not null then left(trim(case when contains(error_text, 'File "') then coalesce(regexp_extract_all(error_text, '(?m)^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Exit)\b.*$')[-1], regexp_extract_all(error_text, '(?m)^.*[A-Za-z].*$')[-1]) else regexp_extract_all(error_text, '(?m)^.*[A-Za-z].*$')[1] end), 300) end as failure_message
from (
select *,
    coalesce(cost_per_turn_usd, case when cost_own_usd is null then cost_list_per_turn_usd end) as cost_best_per_turn_usd,
    try_cast(cost_best_usd + cost_machine_usd as decimal(18, 9)) as cost_all_usd,
    case when cost_machine_usd is not null then cost_best_bounds end as cost_all_bounds,
    case when outcome = 'completed' or outcome = 'unknown' and error_told is null then null when outcome = 'max_turns' then 'max_turns' when outcome = 'max_budget' then 'max_budget' when outcome = 'max_structured_output_retries' then 'no_output' when outcome = 'refused' then 'refused' when (not is_started or outcome in ('api_error', 'limit_reached')) and regexp_matches(error_told, 'context.?(length|window|limit)|maximum context|(prompt|input) is too long|max_tokens|output.?length|output token maximum|\[limit\]') then 'limit' when (not is_started or outcome in ('api_error', 'limit_reached', 'unknown')) and regexp_matches(error_told, 'quota|usage limit|rate.?limit|too many (requests|tokens)|throttl|(error|code|status|http)[^0-9]{0,12}429|credit balance|out of credits|hit your (\w+ )?limit|limit (will )?resets?|reached your .{0,40}limit|resource_exhausted|\[quota\]') then 'quota' when (not is_started or outcome in ('api_error', 'limit_reached', 'unknown')) and regexp_matches(error_told, '\bsso\b|token (has |is )?expired|expiredtoken|session (has |is )?expired|config profile|\[sign_in_expired\]') then 'sign_in_expired' when (not is_started or outcome in ('api_error', 'limit_reached', 'unknown')) and regexp_matches(error_told, 'not (logged|signed) in|/login\b|\[not_signed_in\]') then 'not_signed_in' when (not is_started or outcome in ('api_error', 'limit_reached', 'unknown')) and regexp_matches(error_told, '(error|code|status|http)[^0-9]{0,12}40[13]|api[ _-]?key|unauthori[sz]ed|authenticat|credential|forbidden|access ?denied|\[api_key\]') then 'api_key' when (not is_started or outcome in ('api_error', 'limit_reached')) and regexp_matches(error_told, 'model.{0,80}(not found|does not exist|not available|not supported|no access)|not_found_error.{0,40}model|model_not_found|unknown model|invalid model|\[model\]') then 'model' when outcome = 'api_error' and regexp_matches(error_told, 'tool.?(results?|use|calls?|output)\b|role .?tool|function.?call|roles must|must alternate|thinking.? blocks?|\[conversation\]') then 'conversation' when outcome = 'api_error' and regexp_matches(error_told, '(error|code|status|http)[^0-9]{0,12}(400|413|422)|bad request|invalid_request|validationexception|\[request\]') then 'request' when (outcome = 'api_error' or not is_started and outcome <> 'limit_reached') and regexp_matches(error_told, 'connection (error|refused|reset|aborted|closed|timed out)|connect(ion)?error|network|timed? ?out|name resolution|getaddrinfo|\b(econnre|etimedout|enotfound|eai_again)|socket hang up|fetch failed|stream disconnected|overloaded|(error|code|status|http)[^0-9]{0,12}5[0-9][0-9]|service.?unavailable|bad gateway|internal server error|\[provider\]') then 'provider' when (not is_started or outcome in ('execution_error', 'unknown')) and regexp_matches(error_told, 'enospc|no space left|disk (is )?full|out.?of.?memory|cannot allocate memory|oom.?kill|\[machine\]') then 'machine' when not (not is_started or record_kind = 'sidecar' and num_turns is null and first_edit_ms is null) and outcome in ('execution_error', 'api_error') and regexp_matches(error_told, 'unterminated string|expecting (value|property name|.,. delimiter|.:. delimiter)|jsondecode|extra data: line|unexpected (end of (json|input)|token .{0,40}json)|invalid (control character|json)|(failed|unable) to parse|\[answer\]') then 'answer' when not is_started and regexp_matches(error_told, 'broken pipe|keyboardinterrupt|\bsig(int|term|hup)\b|cancell?ed by|aborted by|\[interrupted\]') then 'interrupted' when (not is_started or record_kind = 'sidecar' and num_turns is null and first_edit_ms is null) and outcome <> 'unknown' and regexp_matches(error_told, '^traceback: |modulenotfounderror|importerror|no module named|cannot (import|find module)|shared librar|segmentation fault|core dumped|panicked at|\[start_crash\]') then 'start_crash' when not is_started and regexp_matches(error_told, 'docker|sandbox|container|\[harness\]') then 'harness' when not is_started and regexp_matches(error_told, 'no such file or directory|command not found|not recognized as|\benoent\b|permission denied|\[no_program\]') then 'no_program' when outcome = 'execution_error' and regexp_matches(error_told, '^traceback: |segmentation fault|core dumped|panicked at|\[crash\]') then 'crash' when outcome = 'limit_reached' then 'limit' when outcome = 'interrupted' then 'interrupted' when outcome = 'unknown' then 'harness' when error_told is null then 'none' else 'other' end as reason
from (
select *,
    case when is_carried_over then null when num_turns = 1 then cost_own_usd else cast(cost_own_usd / nullif(num_turns, 0) as decimal(18, 9)) end as cost_per_turn_usd,
    case when is_carried_over then null when num_turns = 1 then cost_list_usd else cast(cost_list_usd / nullif(num_turns, 0) as decimal(18, 9)) end as cost_list_per_turn_usd,
    try_cast(machine_rate_usd * duration_ms / 3600000 as decimal(18, 9)) as cost_machine_usd,
    case when not is_answered then false when cost_reported_usd = 0 or num_turns = 0 or record_kind = 'sidecar' then not coalesce(cost_reported_usd = 0 and duration_api_ms = 0 and len(models) = 0 and coalesce(total_tokens, 0) = 0, false) and not coalesce(cost_reported_usd is null and num_turns = 0 and coalesce(total_tokens, 0) = 0, false) and not (record_kind = 'sidecar' and num_turns is null and first_edit_ms is null and outcome = 'execution_error' and coalesce(task_status = 'error', false)) else true end as is_started
from (
select
    runs.* exclude (raw, result, title, labels, place, machine_rates, project, repo_source, repo, task, experiment, effort) replace (
        -- a log may be wrong, a file a copy: the date that somebody gave takes their place
        case when annotations.given_at is not null then given_at else started_at end as started_at,
        case when annotations.given_at is not null then null else ended_at end as ended_at,
        case when annotations.given_at is not null then 'label' else time_source end as time_source,
        nullif(coalesce(annotations.labels['branch'], runs.labels['branch'], runs.branch), '') as branch
    ),
    result,
    -- a label of an annotation takes the place of an ingested one; an empty one hides it
    case
        when coalesce(cardinality(annotations.labels), 0) = 0 then runs.labels
        else map_from_entries(list_filter(
            map_entries(map_concat(runs.labels, annotations.labels)),
            lambda entry: coalesce(annotations.labels[entry.key], entry.key) <> ''
        ))
    end as labels,
    case when coalesce(annotations.labels['project'], annotations.labels['repo']) is null then runs.project else nullif(coalesce(annotations.labels['project'], annotations.labels['repo']), '') end as repo,
    case when annotations.labels['task'] is null then runs.task else nullif(annotations.labels['task'], '') end as task,
    case when annotations.labels['experiment'] is null then runs.experiment else nullif(annotations.labels['experiment'], '') end as experiment,
    case when annotations.labels['effort'] is null then runs.effort else nullif(annotations.labels['effort'], '') end as effort,
    case when coalesce(annotations.labels['project'], annotations.labels['repo']) is null then runs.repo_source when coalesce(annotations.labels['project'], annotations.labels['repo']) <> '' then 'label' end as repo_source,
    annotations.note,
    coalesce(annotations.starred, false) as starred,
    coalesce(annotations.excluded, false) as excluded,
    annotations.excluded_reason,
    -- the row number of the run: a short id, valid within one read transaction
    runs.place,
    nullif(coalesce(annotations.labels['pull-request'], runs.labels['pull-request'], landings.pull_request, opened.pull_requests), '') as pull_request,
    nullif(coalesce(annotations.labels['ticket'], runs.labels['ticket'], landings.ticket), '') as ticket,
    landings.state as landed,
    landings.why as landed_reason,
    landings.changes as landed_changes,
    coalesce(nullif(coalesce(annotations.labels['task'], runs.task), ''), runs.title, regexp_replace(substr(sources.name, (select depth from shared) + 1) || case when sources.accepted > 1 then ' #' || (ordinal + 1) else '' end, '(?s)^.{2,}(.{79})$', '…\1'), runs.run_id) as title,
    case when coalesce(base_commit, head_commit) is not null and nullif(annotations.labels['task'], '') is null and coalesce(head_commit, task_status, case when nullif(coalesce(annotations.labels['task'], runs.task), '') is null then base_commit end) is not null then concat_ws('@', nullif(coalesce(coalesce(annotations.labels['project'], annotations.labels['repo']), case when runs.repo_source not in ('folder', 'archive') then runs.project end), ''), left(lower(coalesce(base_commit, head_commit)), 8)) when nullif(coalesce(annotations.labels['task'], runs.task), '') is not null then concat_ws('/', nullif(coalesce(coalesce(annotations.labels['project'], annotations.labels['repo']), case when runs.repo_source not in ('folder', 'archive') then runs.project end), ''), nullif(coalesce(annotations.labels['task'], runs.task), '')) end as task_key,
    case when runs.model is null and requested_model not ilike 'auto%' then nullif(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_extract(requested_model, '^(?:.*/)?(?:(?:us-gov|us|eu|apac|jp|au|ca|sa|global)[.-])?(?:(?:anthropic|openai)[.-]|[a-z0-9]+\.)?([A-Za-z].*?)(?:-v\d+[:-]\d+(?::\d+k)?)?(?:\[[^\]]*\])?$', 1), '^(claude.*)-v\d+$', '\1'), '^(claude.*\d)\.(\d)', '\1-\2'), '(?:-(x?high)| \((minimal|low|medium|high|xhigh|max)\))$', ''), '^claude-([4-9](?:-[0-9]{1,2})?)-([a-z]+)', 'claude-\2-\1'), '(.)[-@](20[0-9]{2}-?(0[1-9]|1[0-2])(-?(0[1-9]|[12][0-9]|3[01]))?|(0[1-9]|1[0-2])-20[0-9]{2}|(0[1-9]|1[0-2])-?(0[1-9]|[12][0-9]|3[01])|2[3-9](0[1-9]|1[0-2])((0[1-9]|[12][0-9]|3[01]))?)$', '\1'), '') end as asked_model,
    coalesce(regexp_replace(runs.model, '(.)[-@](20[0-9]{2}-?(0[1-9]|1[0-2])(-?(0[1-9]|[12][0-9]|3[01]))?|(0[1-9]|1[0-2])-20[0-9]{2}|(0[1-9]|1[0-2])-?(0[1-9]|[12][0-9]|3[01])|2[3-9](0[1-9]|1[0-2])((0[1-9]|[12][0-9]|3[01]))?)$', '\1'), case when runs.model is null and requested_model not ilike 'auto%' then nullif(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_extract(requested_model, '^(?:.*/)?(?:(?:us-gov|us|eu|apac|jp|au|ca|sa|global)[.-])?(?:(?:anthropic|openai)[.-]|[a-z0-9]+\.)?([A-Za-z].*?)(?:-v\d+[:-]\d+(?::\d+k)?)?(?:\[[^\]]*\])?$', 1), '^(claude.*)-v\d+$', '\1'), '^(claude.*\d)\.(\d)', '\1-\2'), '(?:-(x?high)| \((minimal|low|medium|high|xhigh|max)\))$', ''), '^claude-([4-9](?:-[0-9]{1,2})?)-([a-z]+)', 'claude-\2-\1'), '(.)[-@](20[0-9]{2}-?(0[1-9]|1[0-2])(-?(0[1-9]|[12][0-9]|3[01]))?|(0[1-9]|1[0-2])-20[0-9]{2}|(0[1-9]|1[0-2])-?(0[1-9]|[12][0-9]|3[01])|2[3-9](0[1-9]|1[0-2])((0[1-9]|[12][0-9]|3[01]))?)$', '\1'), '') end, (select of_agent from only_models)[runs.agent]) as model_group,
    input_tokens + output_tokens + coalesce(cache_read_tokens, case when tokens_basis <> 'exact' then 0 end) + coalesce(cache_write_tokens, case when tokens_basis <> 'exact' then 0 end) as total_tokens,
    cache_read_tokens / nullif(input_tokens + cache_read_tokens + cache_write_tokens, 0) as cache_read_share,
    cost_uncached_usd - cost_list_usd as cache_saved_usd,
    duration_api_own_ms / nullif(duration_ms, 0) as parallelism,
    coalesce(duration_api_own_ms / 10 > duration_ms, false) as is_carried_over,
    coalesce(cost_own_usd, cost_list_usd) as cost_best_usd,
    case when cost_own_usd is null and cost_list_usd is not null and tokens_basis in ('upper_bound', 'lower_bound', 'estimate') then tokens_basis end as cost_best_bounds,
    coalesce(try_cast(regexp_extract(coalesce(annotations.labels['machine-rate'], runs.labels['machine-rate']), '^[0-9]+([.][0-9]+)?$') as decimal(18, 9)), case when cardinality(machine_rates) > 0 then list_max(list_transform(list_transform(list_append(map_entries(map_concat(runs.labels, annotations.labels)), {'key': 'host', 'value': host}), lambda one: machine_rates[one.key || '=' || one.value]), lambda listed: try_cast(regexp_extract(listed, '^[0-9]+([.][0-9]+)?$') as decimal(18, 9)))) end, try_cast(regexp_extract(machine_rates[''], '^[0-9]+([.][0-9]+)?$') as decimal(18, 9))) as machine_rate_usd,
    duration_ms / nullif(num_turns, 0) as duration_per_turn_ms,
    nullif(outcome, 'unknown') = 'completed' as is_completed,
    case when annotations.given_at is not null then annotations.given_at when time_source is distinct from 'file' then coalesce(ended_at, started_at) end as dated_at,
    case when annotations.given_at is not null and coalesce(runs.time_source not in ('file', 'trusted_file'), false) then coalesce(runs.ended_at, runs.started_at) end as logged_at,
    case when claimed_speedup is not null then nullif(concat_ws(', ', case claimed_scope when 'micro' then 'micro-benchmark only' when 'component' then 'one component only' when 'unspecified' then 'scope not stated' end, case claimed_evidence when 'estimated' then 'projected' end, case when claimed_hedged then 'approximate' end), '') end as claimed_caveat,
    sources.name as source_name,
    sources.received_at,
    sources.ingested_by
from (
    -- what many figures read of one text, worked out once
    select *, runs.rowid as place, case when outcome <> 'completed' then nullif(trim(coalesce(errors, case when is_error then result end)), '') end as error_text, case when contains(error_text, 'File "') then 'traceback: ' || lower(coalesce(regexp_extract_all(error_text, '(?m)^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Exit)\b.*$')[-1], '')) else lower(error_text) end as error_told,
        (select machines from price_files) as machine_rates
    from runs
) as runs
left join (
    -- one row per source as it is: grouped, so that DuckDB knows, and leaves the join out of queries that need nothing of it
    select
        source_id, any_value(name) as name, any_value(accepted) as accepted, any_value(received_at) as received_at,
        any_value(ingested_by) as ingested_by
    from sources
    group by source_id
) as sources using (source_id)
-- grouped, too
left join (
    select
        run_id, any_value(state) as state, any_value(reason) as why, any_value(changes) as changes,
        any_value(pull_request) as pull_request, any_value(ticket) as ticket
    from landings
    group by run_id
) as landings on landings.run_id = runs.run_id
left join (
    select run_id, string_agg(distinct pull_request, ', ' order by pull_request) as pull_requests
    from (select run_id, unnest(pull_requests) as pull_request from responses)
    group by run_id
) as opened on opened.run_id = runs.run_id
left join annotations on annotations.run_id = runs.run_id
)
)
);
