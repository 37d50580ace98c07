-- The responses of each run by model: once by its id as logged, and once by name (`is_by_name`), since a record may call a model by a shorter id
-- than its transcript. A sum is NULL where a response has no price.
create or replace temp table response_sums as
with of_services as (
    select
        run_id, service_no, count(*) as responses, count(*) filter (not output_is_final) as unfinished, count(listed) as priced,
        bool_or(is_assumed_5m) as is_assumed_5m, max(day) as day, max(source) as source,
        sum(own.input) as input, sum(own.output) as output, sum(own.cache_read) as cache_read,
        sum(own.write_5m) as write_5m, sum(own.write_1h) as write_1h, sum(own.searches) as searches,
        sum(listed) as listed, sum(uncached) as uncached, sum(written) as written
    from costed
    group by run_id, service_no
),
of_models as (
    select
        run_id, model, provider, region, model_id, grouping(model) = 0 as is_by_name,
        try_cast(sum(responses) as bigint) as responses, try_cast(sum(unfinished) as bigint) as unfinished, sum(priced) = sum(responses) as is_priced,
        bool_or(is_assumed_5m) as is_assumed_5m, max(day) as day, max(source) as source,
        try_cast(coalesce(sum(input), 0) as bigint) as input, try_cast(coalesce(sum(output), 0) as bigint) as output,
        try_cast(coalesce(sum(cache_read), 0) as bigint) as cache_read, try_cast(coalesce(sum(write_5m), 0) as bigint) as write_5m,
        try_cast(coalesce(sum(write_1h), 0) as bigint) as write_1h, try_cast(sum(searches) as bigint) as searches,
        sum(listed) as listed, sum(uncached) as uncached, sum(written) as written
    from of_services
    join services using (service_no)
    group by grouping sets ((run_id, model_id), (run_id, model, provider, region))
)
select
    of_models.* exclude (is_priced, listed, uncached, written),
    case when is_priced then try_cast(listed as decimal(18, 9)) end as cost_list_usd,
    case when is_priced then try_cast(uncached as decimal(18, 9)) end as cost_uncached_usd,
    case when is_priced then try_cast(written as decimal(18, 9)) end as cost_cache_write_usd
from of_models;
