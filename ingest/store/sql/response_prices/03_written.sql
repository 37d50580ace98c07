-- Write the price of its request into each response of the runs in `touched`. The cost is an expression of a page: it stands here once, since
-- DuckDB plans each copy of a macro again (0.1 s of a small ingest).
update responses
set
    cost_list_usd = nanodollars(exact),
    price_status = case
        when exact is not null then 'priced'
        when tokens_basis <> 'unknown' or input_tokens is not null or output_tokens is not null then 'unpriced'
    end,
    price_note = case when exact is not null then nullif(concat_ws(
        ', ', words, case when web_search_requests > 0 then 'web searches' end,
        case when is_assumed then 'cache writes assumed 5-minute' end
    ), '') end,
    price_source = source
from (
    select response_id, exact_cost(own, rates) as exact, words, source, is_assumed
    from (
        select responses.response_id, own_tokens(responses) as own, rates, words, source, is_assumed_5m(responses) as is_assumed
        from responses, touched, services, request_prices
        where is_price_of(request_prices, services, touched, responses)
    )
) as costed
where responses.response_id = costed.response_id;
