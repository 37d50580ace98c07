-- Prices into the runs, and the number of findings anew. A total that its models do not add up to is the cause where it weighs more
-- than any difference among them.
update runs
set
    cost_list_usd = totals.cost_list_usd,
    cost_delta_usd = totals.cost_list_usd - totals.cost_own_usd,
    cost_cause = case
        when totals.cost_list_usd - totals.cost_own_usd is null then null
        when abs(unlisted) > 0.000001 and abs(unlisted) > coalesce(largest.size, 0)
            then case when unlisted > 0 then 'helper_model_missing' else 'unexplained' end
        else coalesce(largest.cause, 'same')
    end,
    cost_uncached_usd = totals.cost_uncached_usd,
    cost_cache_write_usd = totals.cost_cache_write_usd,
    price_status = case when totals.cost_list_usd is null then 'unpriced' else 'priced' end,
    unpriced_tokens = totals.unpriced_tokens,
    findings = noticed.findings,
    alarms = noticed.alarms
from
    (
        select touched.run_id, count(rule) as findings, count(rule) filter (severity = 'alarm') as alarms
        from touched
        left join findings using (run_id)
        group by touched.run_id
    ) as noticed
    left join totals using (run_id)
where runs.run_id = noticed.run_id;
