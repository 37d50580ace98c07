-- What the record of each run in the store tells by itself. The figures of a transcript with responses are sums of those, which all files of its
-- session decide: its own are in the kept record (`schemas.rows.kept_run`).
create or replace temp view summed_by_responses as
select run_id, raw from runs where record_kind = 'transcript' and responses is not null;
create or replace temp view own_models as
select run_id, unnest(
    from_json(
        raw -> '$.models',
        '[{"model_id": "varchar", "input_tokens": "bigint", "output_tokens": "bigint", "cache_read_tokens": "bigint",
        "cache_write_tokens": "bigint", "basis": "varchar"}]'
    ),
    recursive := true
)
from summed_by_responses;
create or replace temp view own_model_usage as
select run_id, model_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens
from model_usage
anti join summed_by_responses using (run_id)
union all
select * exclude (basis) from own_models;
create or replace temp view own_runs as
select
    runs.* replace (
        case when sums.run_id is null then num_turns else try_cast(runs.raw ->> '$.num_turns' as bigint) end as num_turns,
        case when sums.run_id is null then tokens_basis else coalesce(basis, 'unknown') end as tokens_basis
    )
from runs
left join summed_by_responses as sums on sums.run_id = runs.run_id
left join (
    select run_id, arg_min(known, list_position(['unknown', 'estimate', 'lower_bound', 'upper_bound', 'exact'], known)) as basis
    from (select run_id, coalesce(basis, 'exact') as known from own_models)
    group by run_id
) as bases on bases.run_id = runs.run_id;
create or replace temp view own_tool_calls as
select run_id, tool, calls, errors from tool_calls anti join summed_by_responses using (run_id)
union all
select run_id, call[1] as tool, call[2]::bigint as calls, call[3]::bigint as errors
from (select run_id, unnest(from_json(raw -> '$.tool_calls', '[["varchar"]]')) as call from summed_by_responses);
create or replace temp view own_patch_files as
select * from patch_files;
create or replace temp view own_patches as
select * from patches;
