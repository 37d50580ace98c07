-- What each response of the runs in `touched` costs at the price of its request. What several expressions read is a column of a materialized table:
-- DuckDB plans each copy of an expression again (0.1 s of a small ingest).
create or replace temp table costed as
with matched as materialized (
    select response_id, run_id, service_no, output_is_final, day, words, source, rates, own, is_assumed_5m from requests
),
exact as (
    select
        matched.* exclude (rates), exact_cost(own, rates) as listed, exact_uncached_cost(own, rates) as uncached,
        own.write_5m * rates.write_5m + own.write_1h * rates.write_1h as written
    from matched
)
select
    exact.* replace (nanodollars(listed) as listed, nanodollars(uncached) as uncached, nanodollars(written) as written),
    listed is not null as is_priced
from exact;
update responses
set
    cost_list_usd = listed,
    price_status = case
        when is_priced then 'priced'
        when tokens_basis <> 'unknown' or input_tokens is not null or output_tokens is not null then 'unpriced'
    end,
    price_note = case when is_priced then nullif(concat_ws(
        ', ', words, case when web_search_requests > 0 then 'web searches' end,
        case when is_assumed_5m then 'cache writes assumed 5-minute' end
    ), '') end,
    price_source = source
from costed
where responses.response_id = costed.response_id;
