-- Every measurement with what people say about its file (--measure, measure.toml): the last that was said counts. A file that has grown is
-- read whole again: its last reading counts.
create or replace view v_measurements as
with said as (
    select source_id, said.key as key, arg_max(said.value, ingest_id) as value
    from (select source_id, ingest_id, unnest(map_entries(given)) as said from source_measures)
    group by all
),
given as (
    select source_id, map_from_entries(list({'key': key, 'value': value} order by key)) as given from said group by source_id
),
named as (
    -- `said_variant`: of a file that measures several variants, as the name of the benchmark tells them apart
    select
        measurements.*, given,
        case
            when benchmark = given['baseline'] then 'baseline'
            when benchmark = given['reference'] then 'reference'
            when benchmark = given['candidate'] then 'candidate'
        end as said_variant,
        -- a unit that is said has its stored unit, its factor and its better direction beside it
        case when unit is null then coalesce(cast(given['unit_factor'] as double), 1) else 1 end as factor
    from measurements
    left join given using (source_id)
    where source_id not in (select goes_on from sources where goes_on is not null)
),
overlaid as (
    select
        source_id, measurement_no, format, measured_by,
        coalesce(given['repo'], repo) as repo,
        coalesce(given['task'], task) as task,
        lower(coalesce(given['commit'], commit_full)) as commit_full,
        commit_names_task, parent_full, instance,
        coalesce(said_variant, given['variant'], variant) as variant,
        coalesce(given['agent'], agent) as agent,
        agent_version,
        coalesce(given['model'], model) as model,
        effort,
        coalesce(given['run'], run_path) as run_path,
        coalesce(given['run'], run_id) as run_id,
        patch_sha256, patch_applied,
        coalesce(given['benchmark'], case when said_variant is null then benchmark end) as benchmark,
        params, command,
        case when said_variant is null then workload_fp end as workload_fp,
        coalesce(given['bench_model'], bench_model) as bench_model,
        coalesce(given['machine'], machine) as machine,
        coalesce(given['batch'], batch) as batch,
        coalesce(given['scope'], scope) as scope,
        coalesce(given['metric'], metric) as metric,
        is_primary, statistic,
        coalesce(unit, given['unit']) as unit,
        unit_raw,
        coalesce(given['better'], case when better = 'unknown' and unit is null then given['unit_better'] end, better) as better,
        value * factor as value,
        value_raw, label, ratio_base, n, spread_kind,
        spread_lo * factor as spread_lo,
        spread_hi * factor as spread_hi,
        samples, log_error, log_df, noise_floor, status, failure, failure_detail, measured_at, tz_known, flags
    from named
)
-- `subject`: what was measured, as far as it is named: the same for all rows that name the same
select *, hash(run_id, run_path, patch_sha256, commit_full, task, batch, agent, model, effort) as subject
from overlaid;
