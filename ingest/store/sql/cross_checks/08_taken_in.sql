-- A result without its stream, which is taken to be that of a stream of its session: another process may have written it.
insert into findings by name
with held as (
    select examined.run_id, sum(streamed.tokens) as tokens
    from examined
    join runs using (run_id)
    join run_records as records using (run_id)
    join (
        select stream_id, max(tokens) as tokens
        from (
            select
                stream_id, source_id, sum(
                    coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)
                ) as tokens
            from response_copies
            where stream_id is not null
            group by stream_id, source_id
        )
        group by stream_id
    ) as streamed on streamed.stream_id = records.raw ->> '$.run_id'
    where runs.record_kind = 'result' and len(part_ids) = 0 and records.record_kind = 'stream' and not is_kept
    group by examined.run_id
)
select
    run_id, 'cut_off' as rule, $severity as severity,
    'A stream of the session that was cut off counts as the beginning of this run, whose totals are larger in every class. If another process'
    || ' wrote it, its tokens come on top.' as message,
    format('{:,} tokens if the stream is of this run', total_tokens) as expected,
    format('{:,} tokens if it is of another one', total_tokens + tokens) as actual
from held
join v_runs using (run_id);
