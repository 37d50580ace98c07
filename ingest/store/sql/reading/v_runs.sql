-- One row per run: the record's figures and those that follow from them, and what people say of it. Never aggregates over runs.
-- Written by `make schema` from schemas/catalogue/figures.py; do not edit.
-- For the time of a read transaction, over what it finds out once: a join by the row number of runs reads none of their ids.
create temp table annotated as
select runs.rowid as place, annotations.* from annotations join runs using (run_id);
create temp table shared as
    -- the folders that all files of runs have in common: those of the first and the last name
    select length(regexp_extract(first[: len(list_filter(range(1, length(first) + 1), lambda n: first[: n] = last[: n]))], '^.*[/!]'))
        as depth
    from (select min(name) as first, max(name) as last from sources where accepted > 0);
create temp view v_runs as
select * exclude (error_told),
    case when failure_cause in ('quota', 'credentials', 'model', 'network', 'machine', 'never_started', 'harness') then 'infrastructure' when failure_cause in ('limit', 'request', 'max_turns', 'max_budget', 'max_structured_output_retries', 'refused', 'error') then 'agent' when failure_cause in ('api', 'interrupted') then 'unattributed' end as failed_by,
    case when failure_cause is not null then left(trim(case when contains(coalesce(errors, case when is_error then result end), 'File "') then coalesce(list_filter(list_filter(string_split(coalesce(errors, case when is_error then result end), chr(10)), lambda line: regexp_matches(line, '[A-Za-z]')), lambda line: regexp_matches(line, '^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Exit)\b'))[-1], list_filter(string_split(coalesce(errors, case when is_error then result end), chr(10)), lambda line: regexp_matches(line, '[A-Za-z]'))[-1]) else list_filter(string_split(coalesce(errors, case when is_error then result end), chr(10)), lambda line: regexp_matches(line, '[A-Za-z]'))[1] end), 300) end as failure_message
from (
select *,
    coalesce(cost_per_turn_usd, case when cost_own_usd is null then cost_list_per_turn_usd end) as cost_best_per_turn_usd,
    case when outcome = 'completed' or outcome = 'unknown' and errors is null then null when outcome in ('max_turns', 'max_budget', 'max_structured_output_retries', 'refused') then outcome when not is_started then case when regexp_matches(error_told, 'quota|usage limit|rate.?limit|too many requests|(error|code|status|http)[^0-9]{0,12}429|credit balance|out of credits|hit your (\w+ )?limit|limit (will )?resets?|reached your .{0,40}limit|resource_exhausted') then 'quota' when regexp_matches(error_told, '(error|code|status|http)[^0-9]{0,12}40[13]|api[ _-]?key|unauthori[sz]ed|authenticat|credential|not logged in|/login\b|\bsso\b|token has expired|config profile|forbidden|access ?denied') then 'credentials' when regexp_matches(error_told, 'model.{0,80}(not found|does not exist|not available|not supported|no access)|model_not_found|unknown model|invalid model') then 'model' when regexp_matches(error_told, 'connection (error|refused|reset|aborted|closed|timed out)|connect(ion)?error|network|timed? ?out|name resolution|getaddrinfo|\b(econnre|etimedout|enotfound|eai_again)|socket hang up|fetch failed|stream disconnected|overloaded|(error|code|status|http)[^0-9]{0,12}5[0-9][0-9]|service.?unavailable|bad gateway|internal server error') then 'network' when regexp_matches(error_told, 'enospc|no space left|disk (is )?full|out of memory|outofmemory|cannot allocate memory|\boom\b|no such file or directory|permission denied|command not found|modulenotfounderror|importerror|no module named|cannot import|docker|sandbox') then 'machine' else 'never_started' end when outcome = 'unknown' then case when regexp_matches(error_told, 'quota|usage limit|rate.?limit|too many requests|(error|code|status|http)[^0-9]{0,12}429|credit balance|out of credits|hit your (\w+ )?limit|limit (will )?resets?|reached your .{0,40}limit|resource_exhausted') then 'quota' when regexp_matches(error_told, '(error|code|status|http)[^0-9]{0,12}40[13]|api[ _-]?key|unauthori[sz]ed|authenticat|credential|not logged in|/login\b|\bsso\b|token has expired|config profile|forbidden|access ?denied') then 'credentials' when regexp_matches(error_told, 'enospc|no space left|disk (is )?full|out of memory|outofmemory|cannot allocate memory|\boom\b|no such file or directory|permission denied|command not found|modulenotfounderror|importerror|no module named|cannot import|docker|sandbox') then 'machine' else 'harness' end when outcome = 'limit_reached' then case when regexp_matches(error_told, 'context.?(length|window)|maximum context|prompt is too long|too many tokens|context_length|max_tokens|output.?length') then 'limit' when regexp_matches(error_told, 'quota|usage limit|rate.?limit|too many requests|(error|code|status|http)[^0-9]{0,12}429|credit balance|out of credits|hit your (\w+ )?limit|limit (will )?resets?|reached your .{0,40}limit|resource_exhausted') then 'quota' else 'limit' end when outcome = 'api_error' then case when regexp_matches(error_told, 'quota|usage limit|rate.?limit|too many requests|(error|code|status|http)[^0-9]{0,12}429|credit balance|out of credits|hit your (\w+ )?limit|limit (will )?resets?|reached your .{0,40}limit|resource_exhausted') then 'quota' when regexp_matches(error_told, '(error|code|status|http)[^0-9]{0,12}40[13]|api[ _-]?key|unauthori[sz]ed|authenticat|credential|not logged in|/login\b|\bsso\b|token has expired|config profile|forbidden|access ?denied') then 'credentials' when regexp_matches(error_told, 'model.{0,80}(not found|does not exist|not available|not supported|no access)|model_not_found|unknown model|invalid model') then 'model' when regexp_matches(error_told, 'context.?(length|window)|maximum context|prompt is too long|too many tokens|context_length|max_tokens|output.?length') then 'limit' when regexp_matches(error_told, '(error|code|status|http)[^0-9]{0,12}(400|413|422)|bad request|invalid_request|validationexception') then 'request' when regexp_matches(error_told, 'connection (error|refused|reset|aborted|closed|timed out)|connect(ion)?error|network|timed? ?out|name resolution|getaddrinfo|\b(econnre|etimedout|enotfound|eai_again)|socket hang up|fetch failed|stream disconnected|overloaded|(error|code|status|http)[^0-9]{0,12}5[0-9][0-9]|service.?unavailable|bad gateway|internal server error') then 'network' else 'api' end when outcome = 'interrupted' then 'interrupted' when regexp_matches(error_told, 'enospc|no space left|disk (is )?full|out of memory|cannot allocate memory') then 'machine' else 'error' end as failure_cause
from (
select *,
    case when is_carried_over then null when num_turns = 1 then cost_own_usd else cast(cost_own_usd / nullif(num_turns, 0) as decimal(18, 9)) end as cost_per_turn_usd,
    case when is_carried_over then null when num_turns = 1 then cost_list_usd else cast(cost_list_usd / nullif(num_turns, 0) as decimal(18, 9)) end as cost_list_per_turn_usd,
    case when cost_reported_usd = 0 or num_turns = 0 or record_kind = 'sidecar' then not coalesce(cost_reported_usd = 0 and duration_api_ms = 0 and len(models) = 0 and coalesce(total_tokens, 0) = 0, false) and not coalesce(cost_reported_usd is null and num_turns = 0 and coalesce(total_tokens, 0) = 0, false) and not (record_kind = 'sidecar' and num_turns is null and first_edit_ms is null and outcome = 'execution_error' and coalesce(task_status = 'error', false)) else true end as is_started
from (
select
    runs.* exclude (raw, result, text_no, title, labels, place, repo, task, experiment),
    result,
    -- a label of an annotation takes the place of an ingested one; an empty one hides it
    case
        when coalesce(cardinality(annotations.labels), 0) = 0 then runs.labels
        else map_from_entries(list_filter(
            map_entries(map_concat(runs.labels, annotations.labels)),
            lambda entry: coalesce(annotations.labels[entry.key], entry.key) <> ''
        ))
    end as labels,
    case when annotations.labels['repo'] is null then runs.repo else nullif(annotations.labels['repo'], '') end as repo,
    case when annotations.labels['task'] is null then runs.task else nullif(annotations.labels['task'], '') end as task,
    case when annotations.labels['experiment'] is null then runs.experiment else nullif(annotations.labels['experiment'], '') end as experiment,
    annotations.note,
    coalesce(annotations.starred, false) as starred,
    coalesce(annotations.excluded, false) as excluded,
    annotations.excluded_reason,
    -- the row number of the run: a short id, valid within one read transaction
    runs.place,
    coalesce(nullif(coalesce(annotations.labels['task'], runs.task), ''), runs.title, regexp_replace(substr(sources.name, (select depth from shared) + 1) || case when sources.accepted > 1 then ' #' || (ordinal + 1) else '' end, '(?s)^.{2,}(.{79})$', '…\1'), runs.run_id) as title,
    case when coalesce(base_commit, head_commit) is not null and nullif(annotations.labels['task'], '') is null and coalesce(head_commit, task_status, case when nullif(coalesce(annotations.labels['task'], runs.task), '') is null then base_commit end) is not null then concat_ws('@', nullif(coalesce(annotations.labels['repo'], runs.repo), ''), left(lower(coalesce(base_commit, head_commit)), 8)) when nullif(coalesce(annotations.labels['task'], runs.task), '') is not null then concat_ws('/', nullif(coalesce(annotations.labels['repo'], runs.repo), ''), nullif(coalesce(annotations.labels['task'], runs.task), '')) end as task_key,
    input_tokens + output_tokens + coalesce(cache_read_tokens, case when tokens_basis <> 'exact' then 0 end) + coalesce(cache_write_tokens, case when tokens_basis <> 'exact' then 0 end) as total_tokens,
    cache_read_tokens / nullif(input_tokens + cache_read_tokens + cache_write_tokens, 0) as cache_read_share,
    cost_uncached_usd - cost_list_usd as cache_saved_usd,
    duration_api_own_ms / nullif(duration_ms, 0) as parallelism,
    coalesce(duration_api_own_ms / 10 > duration_ms, false) as is_carried_over,
    coalesce(cost_own_usd, cost_list_usd) as cost_best_usd,
    case when cost_own_usd is null and cost_list_usd is not null and tokens_basis in ('upper_bound', 'lower_bound', 'estimate') then tokens_basis end as cost_best_bounds,
    duration_ms / nullif(num_turns, 0) as duration_per_turn_ms,
    nullif(outcome, 'unknown') = 'completed' as is_completed,
    case when time_source is distinct from 'file' then coalesce(ended_at, started_at) end as dated_at,
    case when claimed_speedup is not null then nullif(concat_ws(', ', case claimed_scope when 'micro' then 'micro-benchmark only' when 'component' then 'one component only' when 'unspecified' then 'scope not stated' end, case claimed_evidence when 'estimated' then 'projected' end, case when claimed_hedged then 'approximate' end), '') end as claimed_caveat,
    sources.name as source_name,
    sources.received_at,
    sources.ingested_by
from (
    -- what many figures read of one text, worked out once
    select *, runs.rowid as place, lower(coalesce(case when contains(coalesce(errors, case when is_error then result end), 'File "') then coalesce(list_filter(list_filter(string_split(coalesce(errors, case when is_error then result end), chr(10)), lambda line: regexp_matches(line, '[A-Za-z]')), lambda line: regexp_matches(line, '^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Exit)\b'))[-1], '') else coalesce(errors, case when is_error then result end) end, '')) as error_told
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
left join annotated as annotations on annotations.place = runs.place
)
)
);
