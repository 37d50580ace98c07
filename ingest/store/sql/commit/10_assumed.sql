-- Findings on records that are assumed to continue an earlier one, but may have started from zero (`assumed`: run_id, earlier), with
-- the cost in either case.
insert into findings by name
select
    run_id, $rule as rule, $severity as severity,
    'The totals are assumed to continue those of run ' || earlier || ' in the same session, because all of them are at least as large.'
    || ' The record does not say so. If they start from zero, this run cost more.' as message,
    '$' || cost_own_usd || ' if they continue' as expected,
    '$' || cost_reported_usd || ' if they start from zero' as actual
from assumed
join runs using (run_id)
where cost_own_usd <> cost_reported_usd;
