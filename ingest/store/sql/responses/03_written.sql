-- Write what is billed. `changed_owners`: the sessions that own any of it now, or did before.
create or replace temp table changed_owners as
select session_id from responses semi join touched_keys using (response_id)
union
select session_id from billed
union
select session_id from changed_sessions;
-- The run of a session: that of its last result record, else of its transcript.
create or replace temp table run_of_session as
select
    session_id, max_by(run_id, place_in_session(record_kind, started_at, ended_at, origins, cost_reported_usd, run_id)) as run_id
from runs
semi join changed_owners using (session_id)
group by session_id;
delete from responses where response_id in (select response_id from touched_keys);
insert into responses by name
select
    coalesce(run_of_session.run_id, billed.session_id) as run_id,
    billed.* exclude (source_id, response_no, message_id, line_id, is_copied)
from billed
left join run_of_session using (session_id);
