-- The key of records that may share totals: their session, or, without a session, the stream they are in. Only records of agents whose
-- totals are cumulative (`is_cumulative`) share any.
create or replace temp macro process_of(agent, session_id, in_stream, source_id) as
    case when is_cumulative(agent) then coalesce(session_id, case when in_stream then source_id end) end;
