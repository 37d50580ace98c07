-- The order of the runs of a session, whose last one has its transcript. A time counts that the record has itself: what it has from a transcript
-- must not decide whose that is.
create or replace temp macro place_in_session(record_kind, started_at, ended_at, origins, cost_reported_usd, run_id) as {
    'has_result': record_kind <> 'transcript',
    'at': case when origins['times'] is null then coalesce(ended_at, started_at, '-infinity') else '-infinity' end,
    'usd': coalesce(cost_reported_usd, 0),
    'id': run_id
};
