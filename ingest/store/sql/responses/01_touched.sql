-- The copies that count: those of transcripts, and of streams that were cut off and are runs. Where the result of such a stream is known, that
-- counts.
create or replace temp view counted_copies as
select response_copies.*, streams.run_id as stream_run
from response_copies
left join (
    select run_id, unnest(part_ids) as stream_id from runs where record_kind = 'stream' and len(part_ids) > 0
) as streams using (stream_id)
where stream_id is null or streams.run_id is not null;
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
