-- The cause of the difference of the runs in `outside`.
update priced_runs
set cost_cause = case when difference > 0 then 'outside_transcript' when difference < 0 then 'unexplained' else 'same' end
from outside
where priced_runs.run_id = outside.run_id;
