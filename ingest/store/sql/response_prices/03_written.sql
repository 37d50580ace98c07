-- Write the price of its request into each response of the runs in `touched`.
update responses
set
    cost_list_usd = nanodollars(exact_cost(own_tokens(responses), rates)),
    price_status = case
        when exact_cost(own_tokens(responses), rates) is not null then 'priced'
        when tokens_basis <> 'unknown' or input_tokens is not null or output_tokens is not null then 'unpriced'
    end,
    price_note = case when exact_cost(own_tokens(responses), rates) is not null then nullif(concat_ws(
        ', ', words, case when web_search_requests > 0 then 'web searches' end,
        case when is_assumed_5m(responses) then 'cache writes assumed 5-minute' end
    ), '') end,
    price_source = source
from touched, services, request_prices
where is_price_of(request_prices, services, touched, responses);
