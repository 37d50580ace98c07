-- One row per run: what it claimed beside what was measured. The measured value that speaks for the run is one with a comparable baseline,
-- then one with a comparable reference; of these, end to end before a part, the metric that the benchmark judges by, one of the kind
-- that the run claims, then time to first token, throughput, latency; the latest of several.
-- The variable `band`: see v_speedups.
create or replace view v_verdicts as
with joined as (
    select v_speedups.*, claimed_metric
    from v_speedups
    join runs using (run_id)
),
sides as (
    select
        baseline.* exclude (hard),
        reference.base_value as reference_value, reference.ratio as reference_ratio, reference.ratio_low as reference_low,
        reference.ratio_high as reference_high, reference.verdict as reference_verdict, reference.hard,
        reference.is_comparable as is_reference_comparable
    from joined as baseline
    join joined as reference using (source_id, measurement_no)
    where baseline.base = 'baseline' and reference.base = 'reference'
),
counted as (
    -- several files may hold copies of one value, such as a benchmark's own file and tables made of it
    select run_id, count(*) as values_measured, count(*) filter (is_comparable) as values_comparable
    from (
        select run_id, bool_or(is_comparable) as is_comparable
        from sides
        group by run_id, benchmark, metric, statistic, unit, candidate_value, base_value, reference_value
    )
    group by run_id
),
headline as (
    select
        sides.*, values_measured, values_comparable
    from sides
    join counted using (run_id)
    -- a key of all columns: DuckDB then keeps the first row of a run instead of sorting them all
    qualify row_number() over (
        partition by run_id
        order by create_sort_key(
            coalesce(is_comparable, false), 'desc nulls last', coalesce(is_reference_comparable, false), 'desc nulls last',
            status = 'ok', 'desc nulls last',
            -- measured in turns, with the noise of both sides
            noise_floor is not null, 'desc nulls last',
            list_position(['end_to_end', 'component', 'micro', 'unspecified'], scope), 'asc nulls last',
            is_primary, 'desc nulls last',
            case claimed_metric when 'time' then unit = 'ms' when 'throughput' then contains(unit, '/s') when 'memory' then unit = 'B' end,
            'desc nulls last',
            list_position(
                ['ttft', 'output_throughput', 'throughput', 'total_throughput', 'request_throughput', 'latency', 'e2el', 'time'], metric
            ), 'asc nulls last',
            list_position(['mean', 'total', 'rate', 'median', 'p90', 'p95', 'p99', 'min', 'max'], statistic), 'asc nulls first',
            len(warnings), 'asc nulls last', measured_at, 'desc nulls last', source_id, 'asc nulls last', measurement_no, 'asc nulls last'
        )
    ) = 1
),
-- the other values of the headline's measurement that give another verdict: the statistics of its metric, then other metrics by name.
-- No row where nothing else can be compared
others as (
    select run_id, coalesce(list(name order by is_other_metric, name) filter (is_disagreeing), []) as disagreeing
    from (
        select distinct
            run_id, sides.metric is distinct from headline.metric as is_other_metric,
            case when is_other_metric or sides.statistic is null then sides.metric else sides.statistic end as name,
            case when sides.verdict in ('faster', 'slower') then sides.verdict end
            is distinct from case when headline.verdict in ('faster', 'slower') then headline.verdict end as is_disagreeing
        from headline
        join sides using (run_id, source_id)
        where headline.is_comparable and sides.is_comparable and sides.measurement_no <> headline.measurement_no
            and sides.benchmark is not distinct from headline.benchmark
    )
    group by run_id
),
labels as (
    select
        v_measured_runs.run_id,
        max(label) filter (metric = 'hard') as hard,
        max(label) filter (metric = 'target') as target,
        max(label) filter (metric = 'quadrant') as quadrant
    from v_measurements
    join v_measured_runs using (subject)
    where label is not null and v_measured_runs.run_id is not null
    group by v_measured_runs.run_id
),
beside as (
    select
        v_runs.run_id, v_runs.agent, v_runs.model, v_runs.repo, v_runs.task, v_runs.title, v_runs.cost_own_usd, v_runs.cost_list_usd,
        v_runs.excluded, v_runs.is_copy,
        v_runs.claimed_speedup, v_runs.claimed_metric, v_runs.claimed_evidence, v_runs.claimed_scope, v_runs.claimed_quote,
        headline.source_id as measurement_source_id, headline.measurement_no, headline.format, headline.benchmark, headline.metric,
        headline.statistic, headline.unit, headline.scope as measured_scope,
        headline.base_value as measured_baseline, headline.reference_value as measured_reference,
        headline.candidate_value as measured_candidate,
        headline.ratio as measured_speedup, headline.ratio_low as measured_low, headline.ratio_high as measured_high, headline.noise_floor as measured_noise_floor,
        coalesce(headline.verdict, 'not_measured') as verdict,
        -- what became of the run's measurement, each run once: of several obstacles the first
        case
            when headline.run_id is null then 'not_measured'
            when headline.verdict in ('faster', 'same', 'inside_noise', 'slower') then headline.verdict
            when headline.status = 'failed' and headline.failure in ('crash', 'timeout', 'incorrect') and headline.patch_applied <> 'no'
                then 'breaks'
            when headline.status = 'failed' and headline.failure = 'infra' then 'machine'
            when headline.status = 'failed' then 'failed_unknown'
            -- also where the candidate was not run, since its baseline had failed
            when headline.base_source_id is null or headline.base_status <> 'ok' then 'no_baseline'
            when headline.status = 'not_run' then 'not_measured'
            else 'other_setup'
        end as measured_class,
        headline.reference_ratio as measured_vs_reference, headline.reference_low as measured_vs_reference_low,
        headline.reference_high as measured_vs_reference_high,
        coalesce(headline.reference_verdict, 'not_measured') as reference_verdict,
        coalesce(labels.hard, headline.hard) as hard, labels.hard as hard_published, labels.target, labels.quadrant as quadrant_published,
        v_judged.judged, v_judged.judged_by,
        case when headline.verdict = 'failed' then headline.failure end as failure,
        case when headline.verdict = 'failed' then headline.failure_detail end as failure_detail,
        case when headline.verdict in ('not_comparable', 'not_measured') then array_to_string(headline.reasons, '; ') end as not_comparable,
        coalesce(headline.warnings, []) as warnings,
        headline.ratio is not null and headline.ratio_low is null as is_single_run,
        others.disagreeing,
        coalesce(headline.values_measured, 0) as values_measured, coalesce(headline.values_comparable, 0) as values_comparable,
        -- a claim about a part of the software says nothing about the whole
        coalesce(v_runs.claimed_scope <> headline.scope and v_runs.claimed_scope <> 'unspecified' and headline.scope <> 'unspecified', false)
            as scope_differs
    from v_runs
    left join headline on headline.run_id = v_runs.run_id
    left join others on others.run_id = v_runs.run_id
    left join labels on labels.run_id = v_runs.run_id
    left join v_judged on v_judged.run_id = v_runs.run_id
)
select
    beside.*,
    case
        when claimed_speedup is null then 'no_claim'
        when measured_speedup is null then null
        when claimed_speedup > 1 and verdict = 'slower' then 'wrong_sign'
        -- the interval does not exclude what was claimed
        when claimed_speedup between measured_low and measured_high then 'kept'
        when claimed_speedup / measured_speedup > 1 + coalesce(getvariable('band'), 0.05) then 'over_claimed'
        when measured_speedup / claimed_speedup > 1 + coalesce(getvariable('band'), 0.05) then 'under_claimed'
        else 'kept'
    end as claim_verdict,
    case when not scope_differs then claimed_speedup / measured_speedup end as overclaim_factor,
    coalesce(quadrant_published, v_quadrants.quadrant) as quadrant
from beside
left join v_quadrants on v_quadrants.hard = beside.hard and v_quadrants.target = beside.target;
