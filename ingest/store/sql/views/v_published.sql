-- Every published judgement with its `subject`, by which v_measured_runs joins it to a run as it joins measurements. A file that has grown is
-- read whole again: its last reading counts.
create or replace view v_published as
select *, hash(run_id, run_path, patch_sha256, commit_full, task, batch, agent, model, effort) as subject
from published
where source_id not in (select goes_on from sources where goes_on is not null);
