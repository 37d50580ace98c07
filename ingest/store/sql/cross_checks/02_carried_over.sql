-- Runs with more API time than fits into their wall time: `carried_over` (`v_runs.is_carried_over`).
insert into findings by name
select
    run_id, 'api_time_beyond_wall' as rule, $severity as severity,
    'Its API time cannot be that of its wall time: cost, tokens and API time seem to include calls of an earlier process. '
    || 'Figures per turn and per hour leave it out.' as message,
    'API time of at most 10 times the wall time' as expected,
    format('{:.1f} times: {:d} ms of API time in {:d} ms', duration_api_own_ms / duration_ms, duration_api_own_ms, duration_ms) as actual
from carried_over;
