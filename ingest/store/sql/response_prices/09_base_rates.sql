-- Of the rows in `unlike` that cost what their responses cost: those whose reported cost is that of the same tokens at base rates. The agent left out
-- what some requests cost more or less for. The most expensive of these requests names the cause, unless 1-hour cache writes at the 5-minute rate,
-- which the agent may have used too, make the larger difference. Explained rows are removed from `unlike`.
insert into explained
with based as (
    select
        row_no, priced.run_id, priced.model_id, priced.model, priced.cost_list_usd, unlike.cost_own_usd,
        exact_cost(unlike.own, rates) as base_usd, unlike.own.write_1h * (rates.write_1h - rates.write_5m) as longer_usd
    from unlike
    join priced on priced.rowid = row_no
    join prices on prices.price_no = unlike.price_no
    where priced.responses > 0
),
fitting as (
    select *, abs(nanodollars(base_usd) - cost_own_usd) > 0.000001 as is_as_5m
    from based
    where
        abs(cost_list_usd - base_usd) > 0.000001
        and (
            abs(nanodollars(base_usd) - cost_own_usd) <= 0.000001
            or abs(nanodollars(base_usd - longer_usd) - cost_own_usd) <= 0.000001
        )
),
served as (
    select row_no, arg_max(price_note, responses.cost_list_usd) as note
    from fitting
    join responses
        on responses.run_id = fitting.run_id
        and (responses.model_id is not distinct from fitting.model_id or responses.model is not distinct from fitting.model)
    where regexp_matches(price_note, 'long context|fast mode|batch|tier|US inference')
    group by row_no
)
select
    row_no, null as rank,
    case
        when is_as_5m and abs(longer_usd) > abs(cost_list_usd - base_usd) then '1h_cache_writes'
        when contains(note, 'long context') then 'long_context'
        when contains(note, 'fast mode') then 'fast_mode'
        when contains(note, 'batch') or contains(note, 'tier') then 'service_tier'
        else 'regional_endpoint'
    end as cause
from fitting
join served using (row_no);
delete from unlike where row_no in (select row_no from explained);
