-- The responses to decide anew: all that the sessions in `changed_sessions` have a copy of.
create or replace temp table touched_ids as
select distinct message_id
from response_copies
semi join changed_sessions using (session_id);
-- `touched_keys`: their ids in `responses`, where that has any rows.
create or replace temp table touched_keys as
select distinct unnest([message_id, message_id || ' ' || line_id, message_id || ' ' || request_id]) as response_id
from response_copies
semi join touched_ids using (message_id)
where exists (from responses);
