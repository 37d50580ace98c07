-- Findings on records that count apart, but may continue an earlier one (`doubtful`: run_id, earlier), with the cost of both in either case.
insert into findings by name
select
    doubtful.run_id, $rule as rule, $severity as severity,
    'All totals are larger than those of run ' || earlier || ' in the same session, and may include them. Nothing shows that one process wrote both,'
    || ' and a process that resumes a session starts from zero: so both count in full.' as message,
    '$' || former.cost_reported_usd + later.cost_reported_usd || ' for both as counted' as expected,
    '$' || later.cost_reported_usd || ' for both if the totals continue' as actual
from doubtful
join runs as later using (run_id)
join runs as former on former.run_id = doubtful.earlier
where former.cost_reported_usd > 0;
