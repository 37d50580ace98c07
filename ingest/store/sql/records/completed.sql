-- Write the runs in `borrowing` as they are with what they have from other records (`completed_runs`: columns of `runs`).
update runs
set
    result = completed.result,
    result_repaired = completed.result_repaired,
    claims = completed.claims,
    claimed_speedup = completed.claimed_speedup,
    claimed_metric = completed.claimed_metric,
    claimed_evidence = completed.claimed_evidence,
    claimed_scope = completed.claimed_scope,
    claimed_low = completed.claimed_low,
    claimed_high = completed.claimed_high,
    claimed_hedged = completed.claimed_hedged,
    claimed_subject = completed.claimed_subject,
    claimed_quote = completed.claimed_quote,
    claimed_confidence = completed.claimed_confidence
from completed_runs as completed
where runs.run_id = completed.run_id;
update runs
set
    models = completed.models,
    model_costs_usd = completed.model_costs_usd
from completed_runs as completed
where runs.run_id = completed.run_id and runs.run_id in (select run_id from nameless);
delete from claims where run_id in (select run_id from completed_runs);
delete from statements where run_id in (select run_id from completed_runs);
delete from file_changes where run_id in (select run_id from completed_runs);
delete from findings where run_id in (select run_id from completed_runs) and rule in (select rule from summary_rules);
delete from model_usage where run_id in (select run_id from completed_runs semi join nameless using (run_id));
insert into repriced select run_id from completed_runs;
