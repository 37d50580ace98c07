-- The order of the runs of a session, whose last one has its transcript: a result before a stream that was cut off. Only a time counts that the log of the record itself tells: that
-- of a file is no date, and what it has from a transcript must not decide whose that is.
-- `is_of_responses`: whether the figures of a run are sums of its responses. Of the agents with transcripts, only streams without a result are runs
-- of that kind. A file that holds the whole session tells its figures itself.
create or replace temp macro is_of_responses(agent, record_kind) as
    case record_kind when 'transcript' then not has_whole_files(agent) when 'stream' then has_transcripts(agent) else false end;
create or replace temp macro place_in_session(record_kind, time_source, started_at, ended_at, origins, cost_reported_usd, run_id) as {
    'has_result': case record_kind when 'telemetry' then -1 when 'transcript' then 0 when 'stream' then 1 else 2 end,
    'at': case when time_source = 'stream' and origins['times'] is null then coalesce(ended_at, started_at, '-infinity') else '-infinity' end,
    'usd': coalesce(cost_reported_usd, 0),
    'id': run_id
};
