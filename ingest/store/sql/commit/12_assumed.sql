-- Findings on records that are assumed to continue an earlier one, but may have started from zero (`assumed`: run_id, earlier), with
-- the cost in either case.
insert into findings by name
select
    run_id, $rule as rule, $severity as severity,
    'Its totals are taken to go on from those of run ' || earlier || ', an earlier one of the session: every figure is at least as large.'
    || ' The record does not say so; an invocation that started from zero could have the same figures, and cost more by itself.' as message,
    'USD ' || cost_own_usd || ' of its own, if they go on' as expected,
    'USD ' || cost_reported_usd || ', if they start from zero' as actual
from assumed
join runs using (run_id)
where cost_own_usd <> cost_reported_usd;
