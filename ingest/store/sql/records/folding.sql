-- Runs that are a stream of one process, and the run of the file of their session, which holds all of it: it reaches from before the stream
-- to its end, and has as many tokens. Only of the sessions in `resumed`; a harness's trial is a run whatever else there is.
create or replace temp table folding as
select part.run_id, part.source_id, whole.run_id as whole_id
from runs as part
semi join resumed using (session_id)
join runs as whole on whole.run_id = part.session_id and whole.agent = part.agent and whole.record_kind = 'transcript'
where
    part.record_kind = 'stream' and part.run_id <> part.session_id and part.trial_id is null
    and part.started_at >= whole.started_at and part.ended_at <= whole.ended_at
    and coalesce(part.output_tokens, 0) <= coalesce(whole.output_tokens, 0);
create or replace temp table moving (run_id varchar, source_id varchar, ordinal bigint, ingest_id bigint, whole_id varchar);
