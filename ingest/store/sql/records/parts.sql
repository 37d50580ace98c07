-- Runs in `parts` that are a part of another run: streams that were cut off, and copies of results that follow from another one. That run says
-- so: the result of the stream, or a later reading that knows it by a better id. A result without its stream is that of a stream of its session
-- if it has all its tokens and more; of several the smallest.
insert into folding
with part as (
    select run_id, source_id, session_id, record_kind from runs semi join parts using (run_id) where trial_id is null
),
streamed as (
    select
        run_id, max(input) as input, max(output) as output, max(cache_read) as cache_read, max(cache_write) as cache_write
    from (
        select
            stream_id as run_id, sum(input_tokens) as input, sum(output_tokens) as output, sum(cache_read_tokens) as cache_read,
            sum(cache_write_tokens) as cache_write
        from response_copies
        where stream_id in (select run_id from part)
        group by stream_id, source_id
    )
    group by run_id
),
bare as (
    select
        run_id, runs.session_id, sum(model_usage.input_tokens) as input, sum(model_usage.output_tokens) as output,
        sum(model_usage.cache_read_tokens) as cache_read, sum(model_usage.cache_write_tokens) as cache_write
    from runs
    join model_usage using (run_id)
    where
        has_transcripts(agent) and record_kind = 'result' and len(part_ids) = 0 and trial_id is null
        and runs.session_id in (select session_id from part where record_kind = 'stream')
    group by run_id, runs.session_id
),
found as (
    select part.run_id, part.source_id, whole.run_id as whole_id, row(1, whole.record_kind <> 'stream', 0, whole.run_id) as place
    from part
    join (select run_id, record_kind, unnest(part_ids) as stream_id from runs where len(part_ids) > 0) as whole
        on whole.stream_id = part.run_id and whole.run_id <> part.run_id
    union all
    select part.run_id, part.source_id, bare.run_id, row(0, true, -(bare.input + bare.cache_read + bare.cache_write), bare.run_id)
    from part
    join bare using (session_id)
    left join streamed on streamed.run_id = part.run_id
    where
        part.record_kind = 'stream' and bare.input >= coalesce(streamed.input, 0) and bare.output >= coalesce(streamed.output, 0)
        and bare.cache_read >= coalesce(streamed.cache_read, 0) and bare.cache_write >= coalesce(streamed.cache_write, 0)
)
select run_id, source_id, max_by(whole_id, place) as whole_id from found group by run_id, source_id;
-- A stream that is with a result without its stream moves on to the run that says that it is its own.
insert into moving
select held.run_id, held.source_id, held.ordinal, held.ingest_id, whole.run_id as whole_id
from held
join (select run_id, unnest(part_ids) as part_id from runs where record_kind <> 'stream' and len(part_ids) > 0) as whole using (part_id)
where whole.run_id <> held.run_id;
