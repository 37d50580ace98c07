-- The runs whose figures are sums of their responses: those that are made of a transcript, also of a fork whose last one went to its parent.
create or replace temp table summed as
select distinct run_id
from runs
join responses using (run_id)
where is_of_responses(agent, record_kind) and (responses.session_id in (select session_id from changed_owners) or run_id in (select run_id from affected))
union
select run_id
from runs
where
    is_of_responses(agent, record_kind) and coalesce(runs.responses, runs.num_turns) is not null and session_id in (select session_id from changed_owners)
    and run_id not in (select run_id from responses);
delete from model_usage where run_id in (select run_id from summed);
insert into model_usage by name
with of_models as (
    select
        run_id, model_id, min(model) as model, min(provider) as provider, min(region) as region,
        try_cast(sum(input_tokens) as bigint) as input_tokens,
        try_cast(sum(output_tokens) as bigint) as output_tokens,
        try_cast(sum(reasoning_tokens) as bigint) as reasoning_tokens,
        try_cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
        try_cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
        try_cast(sum(cache_write_5m_tokens) as bigint) as cache_write_5m_tokens,
        try_cast(sum(cache_write_1h_tokens) as bigint) as cache_write_1h_tokens,
        bool_and(coalesce(cache_write_tokens, 0) = 0 or coalesce(cache_write_5m_tokens, cache_write_1h_tokens) is not null) as is_split,
        try_cast(sum(web_search_requests) as bigint) as web_search_requests,
        case when count(cost_reported_usd) = count(*) then try_cast(sum(cost_reported_usd) as decimal(18, 9)) end as cost_reported_usd,
        count(*) as responses,
        count(*) filter (not output_is_final) as unfinished,
        list_sort(list(distinct tokens_basis)) as bases
    from responses
    semi join summed using (run_id)
    group by run_id, model_id
)
select
    of_models.* exclude (responses, unfinished, bases, is_split)
    replace (
        case when is_split then cache_write_5m_tokens end as cache_write_5m_tokens,
        case when is_split then cache_write_1h_tokens end as cache_write_1h_tokens
    ),
    input_tokens as own_input_tokens, output_tokens as own_output_tokens,
    cache_read_tokens as own_cache_read_tokens, cache_write_tokens as own_cache_write_tokens,
    cost_reported_usd as cost_own_usd,
    case
        when bases = ['exact'] then case when unfinished > 0 then 'lower_bound' else 'exact' end
        when bases <> ['exact'] then list_filter(bases, lambda basis: basis <> 'exact')[-1]
    end as tokens_basis,
    case
        when unfinished > 0
            then format('{:,} of {:,} responses have only the output count of their start: output and cost are lower bounds.', unfinished, responses)
        when list_contains(bases, 'lower_bound') then 'The stream was cut off: what came behind it is not known.'
        when list_contains(bases, 'upper_bound') then 'Responses copied from another session cannot be told apart.'
    end as tokens_basis_reason
from of_models;
-- Tool calls: of the responses, or of the record where that tells more, as of calls that no response followed.
delete from tool_calls where run_id in (select run_id from summed);
insert into tool_calls by name
with told as (
    select run_id, unnest(tools) as tool, 1 as calls, 0 as errors from responses semi join summed using (run_id)
    union all
    select run_id, unnest(failed_tools), 0, 1 from responses semi join summed using (run_id)
),
of_responses as (
    select run_id, tool, try_cast(sum(calls) as bigint) as calls, try_cast(sum(errors) as bigint) as errors from told group by run_id, tool
),
of_records as (
    select run_id, call[1] as tool, try_cast(call[2] as bigint) as calls, try_cast(call[3] as bigint) as errors
    from (
        select run_id, unnest(from_json(raw -> '$.tool_calls', '[["varchar"]]')) as call from runs semi join summed using (run_id)
    )
)
select
    run_id, tool, greatest(of_responses.calls, of_records.calls) as calls, greatest(of_responses.errors, of_records.errors) as errors
from of_responses
full join of_records using (run_id, tool);
