-- Runs with result records and a transcript: tokens of each model by both. All results of the session count, each with what it added.
-- Calls for titles, recaps and compaction are in no transcript, and some versions write only the first output count of a response there.
insert into findings by name
with sessions as (
    select distinct run_id, session_id
    from responses
    semi join examined using (run_id)
    semi join (
        select run_id
        from runs
        where record_kind <> 'transcript' and (record_kind <> 'stream' or len(part_ids) = 0) and not has_whole_files(agent)
    ) using (run_id)
),
recorded as (
    select
        sessions.run_id, coalesce(model_usage.model, model_usage.model_id) as model, sum(own_input_tokens) as input,
        sum(own_output_tokens) as output, sum(own_cache_read_tokens) as cache_read, sum(own_cache_write_tokens) as cache_write
    from sessions
    join runs using (session_id)
    join model_usage on model_usage.run_id = runs.run_id
    where runs.record_kind <> 'transcript' and (runs.record_kind <> 'stream' or len(runs.part_ids) = 0)
    group by all
),
transcribed as (
    select
        run_id, coalesce(model, model_id) as model, sum(input_tokens) as input, sum(output_tokens) as output,
        sum(cache_read_tokens) as cache_read, sum(cache_write_tokens) as cache_write, count(*) filter (not output_is_final) as unfinished
    from responses
    semi join sessions using (run_id)
    group by all
),
classes as (
    select
        run_id, model, unfinished,
        unnest(['uncached input', 'output', 'cache read', 'cache write']) as class,
        unnest([recorded.input, recorded.output, recorded.cache_read, recorded.cache_write]) as by_record,
        unnest([transcribed.input, transcribed.output, transcribed.cache_read, transcribed.cache_write]) as by_transcript
    from recorded
    full join transcribed using (run_id, model)
),
differing as (
    select
        run_id, model, max(coalesce(unfinished, 0)) as unfinished,
        bool_or(coalesce(by_transcript, 0) > coalesce(by_record, 0)) as is_short,
        string_agg(format('{:,} {}', coalesce(by_record, 0), class), ', ' order by class) as by_record,
        string_agg(format('{:,} {}', coalesce(by_transcript, 0), class), ', ' order by class) as by_transcript,
        string_agg(format('{:,} {}', abs(coalesce(by_record, 0) - coalesce(by_transcript, 0)), class), ', ' order by class) as difference
    from classes
    where coalesce(by_record, 0) <> coalesce(by_transcript, 0)
    group by run_id, model
)
select
    run_id, 'transcript_differs' as rule, case when is_short then $warning else $info end as severity,
    coalesce(model, 'a model without a name') || case
        when is_short then ': the transcript has other tokens than the result record: the record may not be the last of the session.'
        else ': outside the transcript: ' || difference || ' tokens.'
    end
    || case when unfinished > 0 then format(' {:,} of its responses have only the output count of their start.', unfinished) else '' end as message,
    by_record || ' tokens by the result record' as expected,
    by_transcript || ' tokens by the transcript' as actual
from differing;
