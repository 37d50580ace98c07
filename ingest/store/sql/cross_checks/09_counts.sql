-- What the runs whose findings changed say of them: their numbers, and that a run is a copy. Few do: an update of all rows takes longer
-- than writing them.
update runs
set findings = counted.findings, error_findings = counted.error_findings, is_copy = counted.is_copy
from (
    select
        examined.run_id, count(noticed.run_id) as findings, count(noticed.run_id) filter (noticed.severity = 'error') as error_findings,
        coalesce(bool_or(noticed.rule = 'probable_copy'), false) as is_copy
    from examined
    left join findings as noticed using (run_id)
    group by examined.run_id
) as counted
where
    runs.run_id = counted.run_id
    and (
        runs.findings is distinct from counted.findings or runs.error_findings is distinct from counted.error_findings
        or runs.is_copy <> counted.is_copy
    );
