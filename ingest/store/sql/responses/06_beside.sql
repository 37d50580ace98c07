-- Runs that are made of a result record and have a transcript beside it: only what the record does not tell comes from the responses.
create or replace temp table beside as
select run_id, count(*) as responses, count(distinct agent_id) as subagents
from responses
semi join changed_owners using (session_id)
semi join (select run_id from runs where not is_of_responses(agent, record_kind)) using (run_id)
group by run_id;
update runs
set responses = beside.responses, subagents = beside.subagents
from beside
where runs.run_id = beside.run_id;
update runs
set responses = null, subagents = null
where
    responses is not null and not is_of_responses(agent, record_kind) and session_id in (select session_id from changed_owners)
    and run_id not in (select run_id from beside);
-- A record that came with its stream has the tool calls of that; of any other those of the responses.
create or replace temp table without_stream as
select run_id
from runs
where not is_of_responses(agent, record_kind) and not in_stream and session_id in (select session_id from changed_owners);
delete from tool_calls where run_id in (select run_id from without_stream);
insert into tool_calls by name
with calls as (
    select run_id, unnest(tools) as tool, 1 as calls, 0 as errors from responses semi join without_stream using (run_id)
    union all
    select run_id, unnest(failed_tools), 0, 1 from responses semi join without_stream using (run_id)
)
select run_id, tool, try_cast(sum(calls) as bigint) as calls, try_cast(sum(errors) as bigint) as errors
from calls
group by run_id, tool;
