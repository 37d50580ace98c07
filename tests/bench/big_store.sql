-- A large store for benchmarks of reading: runs of every outcome, of known and unknown time, task and cost.
-- Run once for each batch of run numbers ($first to $last); $lines are those that summaries are made of.
create or replace temp table made as
with numbers as (
    select i, (hash(i) >> 2)::bigint as h, (hash(i + 7919) >> 2)::bigint as g, (hash(i + 104729) >> 2)::bigint as k
    from range($first, $last) t(i)
), timed as (
    select *, case when h % 5 > 0 then timestamptz '2026-01-01' + to_seconds(i * 25 + h % 900) end as started_at,
           20000 + g % 900000 as duration_ms,
           ['claude-opus-4-6', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'glm-5.1', 'claude-opus-4-5'][1 + h % 5] as model,
           if(model = 'glm-5.1', 'zhipuai', 'anthropic') as provider,
           map {'claude-opus-4-6': 5, 'claude-sonnet-4-5': 3, 'claude-haiku-4-5': 1, 'glm-5.1': 1, 'claude-opus-4-5': 5} as rates
    from numbers
)
select
    md5(i::varchar) as run_id,
    's' || (i // 1000) as source_id,
    i % 1000 as ordinal,
    'claude-code' as agent,
    '2.' || (h % 40) as agent_version,
    md5((i // 3)::varchar) as session_id,
    started_at,
    started_at + to_milliseconds(duration_ms) as ended_at,
    case when started_at is not null then 'stream' end as time_source,
    'success' as subtype,
    g % 20 = 0 as is_error,
    ['completed', 'completed', 'completed', 'completed', 'completed', 'limit_reached', 'api_error', 'max_turns'][1 + g % 8] as outcome,
    duration_ms,
    case when h % 50 > 0 then (duration_ms * (0.3 + (k % 1700) / 1000.0))::bigint end as duration_api_ms,
    duration_api_ms as duration_api_own_ms,
    case when h % 3 = 0 then 300 + k % 4000 end as ttft_ms,
    1 + k % 120 as num_turns,
    k % 9000 as input_tokens,
    g % 30000 as output_tokens,
    h % 4000000 as cache_read_tokens,
    g % 200000 as cache_write_tokens,
    model,
    provider,
    case when h % 2 = 0 then list_sort(list_distinct(['claude-haiku-4-5', model])) else [model] end as models,
    -- seven in ten runs cost what the list says, one half as much again, two something else; one in forty does not know
    case when h % 40 > 0 then (
        (case when g % 10 < 7 then 1 when g % 10 = 7 then 1.5 else 0.5 + (k % 100) / 50.0 end)
        * (input_tokens + 5 * output_tokens + cache_read_tokens / 10 + cache_write_tokens * 1.25) / 1e6
        * list_sum([rates[used] for used in models])
    )::decimal(18, 9) end as cost_reported_usd,
    cost_reported_usd as cost_own_usd,
    [(cost_reported_usd * rates[used] / list_sum([rates[one] for one in models]))::decimal(18, 9) for used in models] as model_costs_usd,
    run_id as chain_id,
    1 as chain_position,
    ['vllm', 'sglang', 'llama.cpp'][1 + g % 3] as repo,
    'task-' || (k % 200) as task,
    case when h % 4 > 0 then 'exp-' || (i // 100000) end as experiment,
    map {'branch': ['main', 'next', 'old'][1 + h % 3], 'night': (i // 5000)::varchar} as labels,
    g % 4 as permission_denials,
    array_to_string([
        lines[1 + (hash(i * 31 + line) % len(lines))::bigint] for line in range(12 + h % 24)
    ], chr(10)) || printf(chr(10) || 'Changed `%s_%d`: %.2f ms → %.2f ms, commit %s, run %d.', substr(md5((k % 100000)::varchar), 1, 6), h % 997,
        k % 9973 / 7.0, g % 9973 / 13.0, substr(md5(i::varchar || 'c'), 1, 8), i) as result,
    if(g % 3 = 0, 0, 1 + k % 4) as claims,
    if(claims > 0, exp((g % 1000) / 400.0 - 0.2), null) as claimed_speedup,
    if(claims > 0, false, null) as claimed_hedged,
    if(claims > 0, 'decoding', null) as claimed_subject,
    if(claims > 0, '12 ms to 9 ms', null) as claimed_quote,
    if(claims > 0, ['time', 'throughput'][1 + h % 2], null) as claimed_metric,
    if(claims > 0, ['benchmarked', 'figures', 'stated', 'estimated'][1 + k % 4], null) as claimed_evidence,
    if(claims > 0, ['end_to_end', 'component', 'micro', 'unspecified'][1 + h % 4], null) as claimed_scope,
    if(claims > 0, 0.5 + (g % 50) / 100.0, null) as claimed_confidence,
    '{"type": "result", "uuid": "' || run_id || '"}' as raw
from timed, (select $lines as lines);
