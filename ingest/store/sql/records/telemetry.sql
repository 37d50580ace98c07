-- Telemetry of the sessions in `telemetry_sessions` becomes a record of the run that another record of its session made, of the last one.
-- Parts of one program are one run already; of several that tell the same session, the better signal counts: events before metrics before spans.
create or replace temp macro signal(record_kind, record_rank) as
    case when record_kind = 'telemetry' and record_rank >= -3e12 then floor(record_rank / 1e12) else 0 end;
create or replace temp table homes as
select agent, session_id, max(signal) as signal, max_by(run_id, row(signal, place)) as run_id
from (
    select
        agent, session_id, run_id, signal(record_kind, record_rank) as signal,
        place_in_session(record_kind, time_source, started_at, ended_at, origins, cost_reported_usd, run_id) as place
    from runs
    semi join telemetry_sessions using (agent, session_id)
    where run_id not in (select run_id from folding)
)
group by agent, session_id;
insert into folding
select part.run_id, part.source_id, homes.run_id as whole_id
from runs as part
join homes using (agent, session_id)
where part.trial_id is null and signal(part.record_kind, part.record_rank) < homes.signal;
insert into moving
select records.run_id, records.source_id, records.ordinal, records.ingest_id, homes.run_id as whole_id
from run_records as records
join runs on runs.run_id = records.run_id
join homes using (agent, session_id)
where
    records.record_kind = 'telemetry' and not records.is_kept and records.run_id <> homes.run_id
    and records.run_id not in (select run_id from folding) and (records.raw ->> '$.run_id') <> records.run_id;
