-- Runs of one process of a session, and the run of the file of their session, if that holds them: the process began within its time and
-- ended at most 10 s after it, and its record is no fuller. A result without times of its own is taken to be in the file. A fuller record of
-- a process that lasted as long as the file takes the file in: it counts calls that no file tells. Only of the sessions in `resumed`; a
-- harness's trial is a run whatever else there is.
create or replace temp table folding as
with pairs as (
    select
        part.run_id as part_id, part.source_id as part_source, whole.run_id as file_id, whole.source_id as file_source,
        part.record_rank > whole.record_rank or coalesce(part.output_tokens, 0) > coalesce(whole.output_tokens, 0) as is_fuller,
        part.record_rank,
        coalesce(part.time_source in ('stream', 'record'), false) as is_timed,
        part.started_at between whole.started_at - slack and whole.ended_at and part.ended_at <= whole.ended_at + slack as is_within,
        part.started_at <= whole.started_at + slack and part.ended_at >= whole.ended_at - slack as is_as_long
    from runs as part
    semi join resumed using (session_id)
    join runs as whole on whole.run_id = part.session_id and whole.agent = part.agent and whole.record_kind = 'transcript'
    cross join (select interval 10 second as slack)
    where
        has_whole_files(part.agent) and part.record_kind in ('stream', 'result') and part.run_id <> part.session_id
        and part.trial_id is null and whole.trial_id is null
)
select part_id as run_id, part_source as source_id, file_id as whole_id
from pairs
where
    not is_fuller and (is_within or not is_timed)
    and file_id not in (select file_id from pairs where is_fuller and (is_as_long or not is_timed))
union all
select file_id, file_source, max_by(part_id, row(record_rank, part_id))
from pairs
where is_fuller and (is_as_long or not is_timed)
group by file_id, file_source;
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
