-- Consecutive results of a stream with different sessions, where the later one may continue the totals of the earlier one.
-- Only of streams with results of the processes in `linked`.
create or replace temp table neighbours as
select run_id, earlier
from (
    select
        run_id, lag(run_id) over stream as earlier,
        process_of(agent, session_id, in_stream, source_id) as process,
        lag(process_of(agent, session_id, in_stream, source_id)) over stream as earlier_process,
        cost_reported_usd - lag(cost_reported_usd) over stream as added_usd
    from runs
    where in_stream and record_kind = 'result' and source_id in (
        select source_id from runs where in_stream and process_of(agent, session_id, in_stream, source_id) in (select process from linked)
    )
    window stream as (partition by source_id order by ordinal)
)
where process <> earlier_process and added_usd >= 0;
