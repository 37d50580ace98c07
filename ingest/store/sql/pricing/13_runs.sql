-- The columns of each run, and its number of findings. A total that differs from the sum of its models is the cause where that difference
-- is larger than that of any model.
create or replace temp table priced_runs as
select
    touched.run_id,
    main.model,
    main.provider,
    main.region,
    totals.cost_list_usd,
    totals.cost_list_usd - totals.cost_own_usd as cost_delta_usd,
    case
        when totals.cost_list_usd - totals.cost_own_usd is null then null
        when abs(unlisted) > 0.000001 and abs(unlisted) > coalesce(largest.size, 0)
            then case when unlisted > 0 then 'helper_model_missing' else 'unexplained' end
        else coalesce(largest.cause, 'same')
    end as cost_cause,
    totals.cost_uncached_usd,
    totals.cost_cache_write_usd,
    case
        when coalesce(totals.is_uncounted, touched.cost_own_usd is null) then null
        when totals.cost_list_usd is null then 'unpriced'
        else 'priced'
    end as price_status,
    totals.unpriced_tokens,
    case when run_basis = 'exact' and too_few.run_id is not null then 'lower_bound' else run_basis end as tokens_basis,
    coalesce(noticed.findings, 0) as findings,
    coalesce(noticed.error_findings, 0) as error_findings
from touched
left join totals on totals.run_id = touched.run_id
left join too_few on too_few.run_id = touched.run_id
left join (
    select run_id, count(*) as findings, count(*) filter (severity = 'error') as error_findings
    from findings
    where run_id in (select run_id from touched)
    group by run_id
) as noticed on noticed.run_id = touched.run_id;
