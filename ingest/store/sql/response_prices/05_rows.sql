-- A model row whose tokens are those of its responses, in every class, costs what they cost: their days, prompt sizes and services decide it.
update priced
set
    cost_list_usd = costs.cost_list_usd,
    cost_delta_usd = costs.cost_list_usd - priced.cost_own_usd,
    cost_uncached_usd = costs.cost_uncached_usd,
    cost_cache_write_usd = costs.cost_cache_write_usd,
    responses = costs.responses,
    day = costs.day,
    source = coalesce(costs.source, priced.source),
    one_hour = case when not costs.is_assumed_5m then costs.write_1h end,
    is_assumed_5m = costs.is_assumed_5m,
    own = struct_update(priced.own, write_5m := costs.write_5m, write_1h := costs.write_1h)
from (
    select priced.rowid as row_no, arg_min(response_sums, is_by_name) as costs
    from priced
    join response_sums
        on priced.run_id = response_sums.run_id
        and case
            when is_by_name
                then (priced.model, priced.provider, priced.region)
                    is not distinct from (response_sums.model, response_sums.provider, response_sums.region)
            else priced.model_id is not distinct from response_sums.model_id
        end
    where
        coalesce(own.input, 0) = response_sums.input
        and coalesce(own.output, 0) = response_sums.output
        and coalesce(own.cache_read, 0) = response_sums.cache_read
        and coalesce(own.write_5m + own.write_1h, 0) = response_sums.write_5m + response_sums.write_1h
        and own.searches = response_sums.searches
    group by priced.rowid
) as matched
where priced.rowid = matched.row_no;
