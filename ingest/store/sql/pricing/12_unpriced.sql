-- One finding per unpriced run (`price_status`).
insert into findings by name
select
    run_id, rule, severity,
    'No list price for ' || coalesce(names, 'the run: its record names no model') || '; excluded from list-price totals.'
    || case when named > 0 then ' Add its price with a price file (reprice --prices FILE).' else '' end as message,
    coalesce(usd_text(coalesce(unlisted_usd, touched.cost_own_usd), null) || ' reported', 'no cost reported') as actual
from touched
left join totals using (run_id)
left join (
    select
        run_id, string_agg(coalesce(model_id, 'an unnamed model'), ', ' order by model_id) as names,
        count(model_id) as named, sum(cost_own_usd) as unlisted_usd
    from judged
    where cost_list_usd is null
    group by run_id
) as unlisted using (run_id)
join rules on rule = 'cost_unpriced'
where totals.cost_list_usd is null and not coalesce(totals.is_uncounted, touched.cost_own_usd is null);
