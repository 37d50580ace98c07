-- Results that follow one another in a stream but are of different sessions, where the later one's totals may go on from the former's.
-- Of the streams that `linked` (process) has results in.
create or replace temp table neighbours as
select run_id, former
from (
    select
        run_id, lag(run_id) over stream as former,
        process_of(session_id, in_stream, source_id) as process,
        lag(process_of(session_id, in_stream, source_id)) over stream as former_process,
        cost_reported_usd - lag(cost_reported_usd) over stream as added_usd
    from runs
    where in_stream and source_id in (
        select source_id from runs where in_stream and process_of(session_id, in_stream, source_id) in (select process from linked)
    )
    window stream as (partition by source_id order by ordinal)
)
where process <> former_process and added_usd >= 0;
