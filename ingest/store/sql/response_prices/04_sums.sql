-- The responses of each run by model: once by its id as logged, and once by name (`is_by_name`), since a record may call a model by a shorter id
-- than its transcript. A sum is NULL where a response has no price.
create or replace temp table response_sums as
with of_services as (
    select
        run_id, service_no, count(*) as responses, count(*) filter (not output_is_final) as unfinished, count(cost_list_usd) as priced,
        sum(input) as input, sum(output) as output, sum(cache_read) as cache_read, sum(cache_write) as cache_write, sum(write_1h) as write_1h,
        sum(searches) as searches, bool_or(is_assumed_5m) as is_assumed_5m, max(day) as day, max(source) as source,
        sum(cost_list_usd) as cost_list_usd, sum(cost_uncached_usd) as cost_uncached_usd, sum(cost_cache_write_usd) as cost_cache_write_usd
    from priced_responses
    group by run_id, service_no
)
select
    run_id, model, provider, region, model_id, grouping(model) = 0 as is_by_name,
    sum(responses)::bigint as responses, sum(unfinished)::bigint as unfinished, bool_or(is_assumed_5m) as is_assumed_5m,
    coalesce(sum(input), 0)::bigint as input, coalesce(sum(output), 0)::bigint as output,
    coalesce(sum(cache_read), 0)::bigint as cache_read, coalesce(sum(cache_write), 0)::bigint as cache_write,
    coalesce(sum(write_1h), 0)::bigint as write_1h, sum(searches)::bigint as searches,
    max(day) as day, max(source) as source,
    case when sum(priced) = sum(responses) then try_cast(sum(cost_list_usd) as decimal(18, 9)) end as cost_list_usd,
    case when sum(priced) = sum(responses) then try_cast(sum(cost_uncached_usd) as decimal(18, 9)) end as cost_uncached_usd,
    case when sum(priced) = sum(responses) then try_cast(sum(cost_cache_write_usd) as decimal(18, 9)) end as cost_cache_write_usd
from of_services
join services using (service_no)
group by grouping sets ((run_id, model_id), (run_id, model, provider, region));
