-- The numbers of findings of the runs whose findings changed. Few do: an update of all rows takes longer than writing them.
update runs
set findings = counted.findings, alarms = counted.alarms
from (
    select examined.run_id, count(noticed.run_id) as findings, count(noticed.run_id) filter (noticed.severity = 'alarm') as alarms
    from examined
    left join findings as noticed using (run_id)
    group by examined.run_id
) as counted
where
    runs.run_id = counted.run_id
    and (runs.findings is distinct from counted.findings or runs.alarms is distinct from counted.alarms);
