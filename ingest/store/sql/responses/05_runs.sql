-- The figures of the runs in `summed` from their model rows and their responses. A turn is a request of the main conversation, where the record does
-- not count turns itself; an advisor's part of a request is none.
with of_models as (
    select
        run_id,
        try_cast(sum(input_tokens) as bigint) as input_tokens,
        try_cast(sum(output_tokens) as bigint) as output_tokens,
        try_cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
        try_cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
        coalesce(list_sort(list(distinct model) filter (model is not null)), []) as models,
        list_sort(list(distinct tokens_basis)) as bases
    from model_usage
    semi join summed using (run_id)
    group by run_id
),
of_responses as (
    select
        run_id, count(*) as responses, count(distinct agent_id) as subagents,
        nullif(count(distinct coalesce(request_id, response_id)) filter (not is_sidechain), 0) as turns
    from responses
    semi join summed using (run_id)
    group by run_id
)
update runs
set
    input_tokens = of_models.input_tokens,
    output_tokens = of_models.output_tokens,
    cache_read_tokens = of_models.cache_read_tokens,
    cache_write_tokens = of_models.cache_write_tokens,
    models = of_models.models,
    model_costs_usd = list_transform(of_models.models, lambda model: null::decimal(18, 9)),
    tokens_basis = coalesce(list_filter(bases, lambda basis: basis <> 'exact')[-1], 'exact'),
    num_turns = coalesce(try_cast(raw ->> '$.num_turns' as bigint), turns),
    responses = of_responses.responses,
    subagents = of_responses.subagents
from of_models
join of_responses using (run_id)
where runs.run_id = of_models.run_id;
update runs
set
    input_tokens = null, output_tokens = null, cache_read_tokens = null, cache_write_tokens = null,
    models = [], model_costs_usd = [], tokens_basis = 'unknown', num_turns = try_cast(raw ->> '$.num_turns' as bigint), responses = null,
    subagents = null
where run_id in (select run_id from summed) and run_id not in (select run_id from responses);
