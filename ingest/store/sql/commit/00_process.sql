-- The key of records that may share totals: their session, or, without a session, the stream they are in.
create or replace temp macro process_of(session_id, in_stream, source_id) as
    coalesce(session_id, case when in_stream then source_id end);
