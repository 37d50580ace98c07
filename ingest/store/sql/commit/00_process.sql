-- What records may have totals in common by: their session, or, where they name none, the stream they stand in.
create or replace temp macro process_of(session_id, in_stream, source_id) as
    coalesce(session_id, case when in_stream then source_id end);
