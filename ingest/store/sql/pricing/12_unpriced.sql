-- One finding per unpriced run (`price_status`). A model may have a list price and no cost: a class of its tokens is not known, or the price
-- does not cover its searches or the way in which a request was served.
insert into findings by name
select
    run_id, rule, severity,
    concat_ws(
        '; ',
        case when uncosted is null or unpriced is not null then 'No list price for ' || coalesce(unpriced, 'the run: its record names no model') end,
        'No list-price cost for ' || uncosted,
        'excluded from list-price totals.'
    ) || case when named > 0 then ' Add its price with a price file (reprice --prices FILE).' else '' end as message,
    coalesce(usd_text(coalesce(unlisted_usd, touched.cost_own_usd), null) || ' reported', 'no cost reported') as actual
from touched
left join totals using (run_id)
left join (
    select
        run_id,
        string_agg(coalesce(model_id, 'an unnamed model'), ', ' order by model_id) filter (price_no is null) as unpriced,
        string_agg(model_id || ', ' || lacking, '; ' order by model_id) filter (price_no is not null) as uncosted,
        count(model_id) filter (price_no is null) as named,
        sum(cost_own_usd) as unlisted_usd
    from (
        select
            *,
            coalesce(
                'whose record does not tell its ' || nullif(concat_ws(
                    ' and ',
                    case when own.input is null then 'input' end,
                    case when own.output is null then 'output' end,
                    case when own.cache_read is null then 'cache reads' end,
                    case when own.write_5m is null then 'cache writes' end
                ), ''),
                case when own.searches > 0 then 'whose price does not cover web searches' else 'some of whose requests have no price' end
            ) as lacking
        from judged
        where cost_list_usd is null
    )
    group by run_id
) as without_cost using (run_id)
join rules on rule = 'cost_unpriced'
where totals.cost_list_usd is null and not coalesce(totals.is_uncounted, touched.cost_own_usd is null);
