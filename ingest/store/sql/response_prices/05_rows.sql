-- A model row whose tokens are those of its responses, in every class, costs what they cost: their days, prompt sizes and services decide it.
update priced
set
    cost_list_usd = matched.cost_list_usd,
    cost_delta_usd = matched.cost_list_usd - priced.cost_own_usd,
    cost_uncached_usd = matched.cost_uncached_usd,
    cost_cache_write_usd = matched.cost_cache_write_usd,
    responses = matched.responses,
    day = matched.day,
    source = coalesce(matched.source, priced.source),
    one_hour = case when not matched.is_assumed_5m then matched.write_1h end,
    is_assumed_5m = matched.is_assumed_5m,
    own = {
        'input': priced.own.input, 'output': priced.own.output, 'cache_read': priced.own.cache_read,
        'write_5m': matched.write_5m, 'write_1h': matched.write_1h, 'searches': priced.own.searches
    }
from (
    select priced.rowid as row_no, response_sums.* exclude (run_id, model_id, model, provider, region)
    from priced
    join response_sums using (run_id)
    where
        case
            when is_by_name
                then priced.model is not distinct from response_sums.model
                    and priced.provider is not distinct from response_sums.provider
                    and priced.region is not distinct from response_sums.region
            else priced.model_id is not distinct from response_sums.model_id
        end
        and coalesce(own.input, 0) = response_sums.input
        and coalesce(own.output, 0) = response_sums.output
        and coalesce(own.cache_read, 0) = response_sums.cache_read
        and coalesce(own.write_5m + own.write_1h, 0) = response_sums.write_5m + response_sums.write_1h
        and own.searches = response_sums.searches
    qualify row_number() over (partition by priced.rowid order by is_by_name) = 1
) as matched
where priced.rowid = matched.row_no;
