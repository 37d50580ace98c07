-- The place of each run in its chain, and its difference in cost, tokens and API time (cumulative within one process).
update runs
set
    chain_id = linked.chain_id,
    chain_position = linked.position,
    cost_own_usd = linked.counted_usd,
    cost_beyond_total_usd = case
        when linked.counted_usd - added(linked.cost_reported_usd, linked.earlier_cost_reported_usd) > 0.000001
            then linked.counted_usd - added(linked.cost_reported_usd, linked.earlier_cost_reported_usd)
    end,
    duration_api_own_ms = added(linked.duration_api_ms, linked.earlier_duration_api_ms),
    input_tokens = linked.own_input_tokens,
    output_tokens = linked.own_output_tokens,
    cache_read_tokens = linked.own_cache_read_tokens,
    cache_write_tokens = linked.own_cache_write_tokens,
    model_costs_usd = coalesce(linked.model_costs_usd, [])
from (
    select
        places.*, later.cost_reported_usd, earlier.cost_reported_usd as earlier_cost_reported_usd, later.duration_api_ms,
        added(
            counted_cost(later.cost_reported_usd, later_costs.summed, later_costs.is_whole),
            counted_cost(earlier.cost_reported_usd, earlier_costs.summed, earlier_costs.is_whole)
        ) as counted_usd,
        case when earlier.source_id = later.source_id and later.in_stream then earlier.duration_api_ms end as earlier_duration_api_ms,
        own.* exclude (run_id), of_models.model_costs_usd
    from places
    join runs as later using (run_id)
    left join runs as earlier on earlier.run_id = places.earlier
    left join model_costs as later_costs on later_costs.run_id = places.run_id
    left join model_costs as earlier_costs on earlier_costs.run_id = places.earlier
    left join (
        select
            run_id,
            try_cast(sum(own_input_tokens) as bigint) as own_input_tokens,
            try_cast(sum(own_output_tokens) as bigint) as own_output_tokens,
            try_cast(sum(own_cache_read_tokens) as bigint) as own_cache_read_tokens,
            try_cast(sum(own_cache_write_tokens) as bigint) as own_cache_write_tokens
        from model_usage
        group by run_id
    ) as own using (run_id)
    left join (
        select run_id, list(cost_usd order by model) as model_costs_usd
        from (
            select run_id, model, try_cast(sum(cost_own_usd) as decimal(18, 9)) as cost_usd
            from model_usage
            where model is not null
            group by run_id, model
        )
        group by run_id
    ) as of_models using (run_id)
) as linked
where runs.run_id = linked.run_id;
