-- One row per run: the record's figures and the ratios between them. Never aggregates over runs.
create or replace view v_runs as
select
    runs.* exclude (raw, result),
    result,
    -- where the run stands in this store, as it is now: a short name for it within one look at the store
    runs.rowid as place,
    input_tokens + output_tokens + cache_read_tokens + cache_write_tokens as total_tokens,
    -- share of the input that came from the cache
    cache_read_tokens / nullif(input_tokens + cache_read_tokens + cache_write_tokens, 0) as cache_read_share,
    cost_uncached_usd - cost_list_usd as cache_saved_usd,
    duration_api_own_ms / nullif(duration_ms, 0) as parallelism,
    -- a quotient is a float: one turn costs what the run costs, to the last digit
    case when num_turns = 1 then cost_own_usd else cast(cost_own_usd / nullif(num_turns, 0) as decimal(18, 9)) end as cost_per_turn_usd,
    duration_ms / nullif(num_turns, 0) as duration_per_turn_ms,
    outcome = 'completed' as is_completed,
    sources.name as source_name,
    sources.received_at
from runs
left join sources using (source_id);
