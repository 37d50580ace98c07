-- Runs that are the transcript of a session which has result records: their records become those of the run of the last result. One whose
-- session got a later result since then moves on to it. Without a result, that is the run of the last stream that was cut off.
create or replace temp table last_results as
select
    session_id, max_by(run_id, place_in_session(record_kind, time_source, started_at, ended_at, origins, cost_reported_usd, run_id)) as run_id
from runs
where
    has_transcripts(agent) and record_kind not in ('transcript', 'telemetry') and session_id in (select session_id from joined_sessions)
    and run_id not in (select run_id from folding)
group by session_id;
insert into folding
select part.run_id, part.source_id, last_results.run_id as whole_id
from runs as part
join last_results on part.run_id = last_results.session_id
where part.record_kind = 'transcript' and has_transcripts(part.agent) and part.run_id <> last_results.run_id;
insert into moving
select records.run_id, records.source_id, records.ordinal, records.ingest_id, last_results.run_id as whole_id
from run_records as records
join runs on runs.run_id = records.run_id
join last_results on last_results.session_id = runs.session_id
where
    records.record_kind = 'transcript' and not records.is_kept and records.run_id <> last_results.run_id
    and (records.raw ->> '$.run_id') = last_results.session_id;
