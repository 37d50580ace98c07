-- The sums of the rows of each run; a run without models and without cost has the cost 0.
-- `unlisted`: the part of the record's total that its models do not have.
-- `main`: the model that cost most, as the agent reports it, else at list price. Where a model that was used has neither, costs say nothing
-- about the others, and the one with most output is the main model. Ties go to more output, then to the first by id.
create or replace temp table totals as
with of_models as (
    select
        run_id,
        count(*) as used,
        count(cost_list_usd) as priced,
        bool_and(is_uncounted) as is_uncounted,
        try_cast(sum(cost_list_usd) as decimal(18, 9)) as cost_list_usd,
        try_cast(sum(cost_uncached_usd) as decimal(18, 9)) as cost_uncached_usd,
        try_cast(sum(cost_cache_write_usd) as decimal(18, 9)) as cost_cache_write_usd,
        case when count(cost_own_usd) = count(*) then sum(cost_own_usd) end as cost_own_usd,
        max({'size': abs(cost_delta_usd), 'cause': cause}) filter (cause is not null) as largest,
        bool_and(
            coalesce(cost_own_usd, cost_list_usd) is not null
            or not is_uncounted and greatest(own.input, own.output, own.cache_read, own.write_5m, own.write_1h) = 0
        ) as is_costed,
        first(
            {'model': model, 'provider': provider, 'region': region}
            order by coalesce(cost_own_usd, cost_list_usd) desc nulls last, own.output desc nulls last, model_id
        ) as dearest,
        first(
            {'model': model, 'provider': provider, 'region': region} order by own.output desc nulls last, model_id
        ) as most_output,
        try_cast(
            sum(own.input::hugeint + own.output + own.cache_read + own.write_5m + own.write_1h) filter (cost_list_usd is null) as bigint
        ) as unpriced_tokens
    from judged
    group by run_id
)
select
    touched.run_id,
    touched.cost_own_usd,
    case when used is null then 0 when priced = used then of_models.cost_list_usd end as cost_list_usd,
    case when used is null then 0 when priced = used then of_models.cost_uncached_usd end as cost_uncached_usd,
    case when used is null then 0 when priced = used then of_models.cost_cache_write_usd end as cost_cache_write_usd,
    coalesce(of_models.unpriced_tokens, 0) as unpriced_tokens,
    coalesce(is_uncounted, false) as is_uncounted,
    touched.cost_own_usd - of_models.cost_own_usd as unlisted,
    largest,
    case when is_costed then dearest else most_output end as main
from touched
left join of_models on of_models.run_id = touched.run_id
where used is not null or touched.cost_own_usd = 0;
