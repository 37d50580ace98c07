-- Write what is billed. `changed_owners`: the sessions that own any of it now, or did before.
create or replace temp table changed_owners as
select session_id from responses semi join touched_keys using (response_id)
union
select session_id from billed
union
select session_id from changed_sessions;
-- The run of a session: that of its last result record, else of its last stream without one, else of its transcript. A file that holds the whole
-- session comes first: a process that is not in it is a run of its own.
create or replace temp table run_of_session as
select
    session_id, max_by(run_id, {
        'is_whole': record_kind = 'transcript' and has_whole_files(agent),
        'place': place_in_session(record_kind, time_source, started_at, ended_at, origins, cost_reported_usd, run_id)
    }) as run_id
from runs
semi join changed_owners using (session_id)
group by session_id;
-- What a sub-agent is, by its own file: a copy in that of its parent does not say.
create or replace temp table subagent_names as
select session_id, agent_id, max(agent_type) as agent_type, max(agent_description) as agent_description
from response_copies
semi join changed_owners using (session_id)
where agent_id is not null and coalesce(agent_type, agent_description) is not null
group by session_id, agent_id;
delete from responses where response_id in (select response_id from touched_keys);
insert into responses by name
select
    coalesce(billed.stream_run, run_of_session.run_id, billed.session_id) as run_id,
    billed.* exclude (source_id, response_no, message_id, line_id, is_copied, stream_id, stream_run) replace (
        coalesce(billed.agent_type, subagent_names.agent_type) as agent_type,
        coalesce(billed.agent_description, subagent_names.agent_description) as agent_description
    )
from billed
left join subagent_names using (session_id, agent_id)
left join run_of_session using (session_id);
