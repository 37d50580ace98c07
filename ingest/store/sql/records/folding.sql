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
-- Runs that are the beginning of another one: its stream, read before the id of the run was in it. Such a run has a hash as its id, which
-- differs with what was told by then. What it tells is the same in the whole run; of several, that with an id, a start and the longest text.
insert into folding
with matching as (
    select
        part.run_id, part.source_id, whole.run_id as whole_id,
        row(position('-' in part.run_id) > 0, part.started_at is not null, length(coalesce(part.result, '')), part.run_id) as part_knows,
        row(position('-' in whole.run_id) > 0, whole.started_at is not null, length(coalesce(whole.result, '')), whole.run_id) as whole_knows
    from runs as part
    semi join resumed using (session_id)
    join runs as whole on whole.agent = part.agent and whole.session_id = part.session_id and whole.run_id <> part.run_id
    where
        has_late_ids(part.agent) and part.record_kind = 'stream' and part.outcome = 'interrupted' and part.trial_id is null
        and position('-' in part.run_id) = 0
        and (part.prompt is null or part.prompt = whole.prompt)
        and (part.started_at is null or part.started_at = whole.started_at)
)
select run_id, source_id, arg_max(whole_id, whole_knows) as whole_id
from matching
where whole_knows > part_knows
group by run_id, source_id;
create or replace temp table moving (run_id varchar, source_id varchar, ordinal bigint, ingest_id bigint, whole_id varchar);
