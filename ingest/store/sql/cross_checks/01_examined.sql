-- The runs whose findings on figures may have changed: those in `changed` (run_id), and all others of their sessions. Where an agent's
-- logs of a session may have different ids: all its runs.
create or replace temp table examined as
select run_id, session_id
from runs
where
    run_id in (select run_id from changed)
    or session_id in (select session_id from runs where run_id in (select run_id from changed))
    or (has_other_ids(agent) and agent in (select agent from runs where run_id in (select run_id from changed)));
delete from findings where rule in (select unnest($rules)) and run_id in (select run_id from examined);
