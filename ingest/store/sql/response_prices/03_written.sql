-- Write the prices into the responses whose price is another now.
update responses
set
    cost_list_usd = priced.cost_list_usd,
    price_status = priced.price_status,
    price_note = priced.words,
    price_source = priced.source
from (
    select
        *, case when is_uncounted then null when cost_list_usd is null then 'unpriced' else 'priced' end as price_status
    from priced_responses
) as priced
where
    responses.response_id = priced.response_id
    and (
        responses.cost_list_usd is distinct from priced.cost_list_usd
        or responses.price_status is distinct from priced.price_status
        or responses.price_note is distinct from priced.words
        or responses.price_source is distinct from priced.source
    );
