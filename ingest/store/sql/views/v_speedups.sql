-- Every measured value of a candidate beside those of the baseline and of the reference: one row each, with a ratio where the two are
-- comparable, and the reason where they are not. A ratio above 1: the candidate is better.
-- The variable `band` is the distance from 1 within which a ratio is called the same; by default 0.05. A ratio is `inside_noise` where two
-- measurements of the same code may differ as much: by the noise floor that was measured with it, else by that of three or more measurements
-- of its baseline on one machine.
create or replace view v_speedups as
with quantiles as (
    -- Student's t, 97.5 %, at 1, 2, … degrees of freedom
    select [
        12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479,
        2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596, 2.07961, 2.07387, 2.06866, 2.0639, 2.05954, 2.05553, 2.05183, 2.04841,
        2.04523, 2.04227
    ] as of_df
),
measured as (
    select
        v_measurements.*, runs.run_id as joined_run_id, joined_by,
        -- rows of one task: of one commit where it names the task, else of one task or instance
        case
            when commit_names_task then left(commit_full, 7)
            else coalesce(task, instance, '')
        end as about,
        coalesce(list_contains(flags, 'zero') or value <= 0, false) as is_zero,
        list_contains(flags, 'quantised') as is_quantised,
        list_contains(flags, 'merged') as is_merged,
        list_contains(flags, 'model_substituted') as is_substituted,
        list_contains(flags, 'errors') as has_errors
    from v_measurements
    left join v_measured_runs as runs using (subject)
    where label is null
),
candidates as (
    select * from measured where variant = 'candidate'
),
-- how far two measurements of a baseline may lie apart: Student's t, 97.5 %, times the standard deviation of the difference
repeats as (
    select
        about, benchmark, metric, statistic, unit, machine, workload_fp,
        exp(of_df[least(30, len(logarithms) - 1)] * sqrt(2) * list_aggregate(logarithms, 'stddev_samp')) - 1 as floor_of_repeats
    from (
        select about, benchmark, metric, statistic, unit, machine, workload_fp, list(distinct ln(value)) as logarithms
        from measured
        where variant = 'baseline' and value > 0 and machine is not null and noise_floor is null
        group by all
    )
    cross join quantiles
    where len(logarithms) > 2
),
bases as (
    select * from measured where variant in ('baseline', 'reference')
),
-- a candidate's value has many pairs and keeps one of them: the reasons against each are counted here, and put into words below.
-- Bit n of `doubts` is reason n there, bit n of `cautions` warning n.
pairs as (
    select
        c.source_id, c.measurement_no, c.about, c.benchmark, c.flags, c.value as candidate_value,
        sides.base, b.source_id as base_source_id, b.measurement_no as base_measurement_no, b.value as base_value,
        case when c.source_id = b.source_id then 1 else 0 end as is_same_file,
        abs(epoch(c.measured_at) - epoch(b.measured_at)) / 3600 as hours_apart,
        case when b.source_id is null then 1 << 0 else 0 end
        + case when b.status <> 'ok' then 1 << 1 else 0 end
        + case when c.workload_fp <> b.workload_fp then 1 << 2 else 0 end
        + case when c.bench_model <> b.bench_model then 1 << 3 else 0 end
        + case when c.machine <> b.machine then 1 << 4 else 0 end
        + case when c.batch <> b.batch then 1 << 5 else 0 end
        -- what is known for one side only may differ
        + case when b.source_id is not null and (c.workload_fp is null) <> (b.workload_fp is null) then 1 << 6 else 0 end
        + case when b.source_id is not null and (c.bench_model is null) <> (b.bench_model is null) then 1 << 7 else 0 end
        + case when b.source_id is not null and (c.machine is null) <> (b.machine is null) then 1 << 8 else 0 end
        + case when b.source_id is not null and (c.batch is null) <> (b.batch is null) then 1 << 9 else 0 end
        + case when c.is_zero or b.is_zero then 1 << 10 else 0 end
        + case when c.is_quantised or b.is_quantised then 1 << 11 else 0 end
        + case when list_contains(c.flags, 'percent_of_two_kinds') then 1 << 12 else 0 end
        + case when list_contains(c.flags, 'same_as_baseline') and sides.base = 'baseline' then 1 << 13 else 0 end
        + case when list_contains(c.flags, 'set_point') then 1 << 14 else 0 end
        + case when c.is_merged or b.is_merged then 1 << 15 else 0 end
        + case when c.patch_applied = 'no' then 1 << 16 else 0 end
        + case when b.source_id is not null and c.better = 'unknown' then 1 << 17 else 0 end
        as doubts,
        case when c.workload_fp is null and b.source_id is not null then 1 << 0 else 0 end
        + case when c.batch is null and b.source_id is not null then 1 << 1 else 0 end
        + case when c.patch_applied = 'partial' then 1 << 2 else 0 end
        + case when c.is_substituted or b.is_substituted then 1 << 3 else 0 end
        + case when c.has_errors or b.has_errors then 1 << 4 else 0 end
        as cautions
    from candidates as c
    cross join (values ('baseline'), ('reference')) as sides(base)
    left join bases as b
        on b.variant = sides.base and b.about = c.about and b.metric = c.metric and b.statistic is not distinct from c.statistic
        and b.unit is not distinct from c.unit and b.benchmark is not distinct from c.benchmark and b.ratio_base is null
    where c.ratio_base is null
),
identical as (
    -- nothing was changed where every value, three at least, is that of the baseline
    select source_id, base_source_id, about, benchmark, count(*) >= 3 and bool_and(candidate_value = base_value) as is_identical
    from pairs
    where base = 'baseline' and candidate_value is not null and base_value is not null
    group by all
),
picked as (
    select
        pairs.source_id, measurement_no, base, pairs.base_source_id, base_measurement_no, is_same_file, cautions,
        doubts + case
            when base = 'baseline' and is_identical and not list_contains(flags, 'same_as_baseline') then 1 << 18 else 0
        end as doubts
    from pairs
    left join identical
        on identical.source_id = pairs.source_id and identical.base_source_id = pairs.base_source_id and identical.about = pairs.about
        and identical.benchmark is not distinct from pairs.benchmark
    -- a key of all columns: DuckDB then keeps the first pair of each value instead of sorting them all
    qualify row_number() over (
        partition by pairs.source_id, measurement_no, base
        order by create_sort_key(
            pairs.base_source_id is null, 'asc nulls last', bit_count(pairs.doubts), 'asc nulls last', is_same_file, 'desc nulls last',
            bit_count(cautions), 'asc nulls last', hours_apart, 'asc nulls last', pairs.base_source_id, 'asc nulls last',
            base_measurement_no, 'asc nulls last'
        )
    ) = 1
),
chosen as (
    select
        c.source_id, c.measurement_no, c.joined_run_id as run_id, c.joined_by, c.format, c.repo, c.task, c.commit_full, c.agent,
        c.agent_version, c.model, c.effort, c.run_path, c.benchmark, c.metric, c.is_primary, c.statistic, c.unit, c.better, c.scope, c.value as candidate_value, c.status, c.failure,
        c.failure_detail, c.n, c.flags, c.patch_applied, c.measured_at, c.about, c.noise_floor, floor_of_repeats,
        base, picked.base_source_id, picked.base_measurement_no, b.value as base_value, b.n as base_n,
        b.status as base_status, b.failure_detail as base_failure_detail, is_same_file,
        list_filter([
            'workload unknown',
            'not known to be measured together',
            'the patch was applied in part',
            'another model than planned',
            'the benchmark reports errors'
        ], lambda warning, number: (cautions >> (number - 1)) & 1 = 1) as warnings,
        case when c.better = 'lower' then b.value / c.value when c.better = 'higher' then c.value / b.value end as quotient,
        sqrt(pow(c.log_error, 2) + pow(b.log_error, 2)) as log_error,
        pow(pow(c.log_error, 2) + pow(b.log_error, 2), 2)
        / nullif(coalesce(pow(c.log_error, 4) / c.log_df, 0) + coalesce(pow(b.log_error, 4) / b.log_df, 0), 0) as df,
        list_filter([
            'no ' || base || ' was measured',
            'the ' || base || ' failed',
            'another workload',
            'another model was served (' || b.bench_model || ', not ' || c.bench_model || ')',
            'another machine',
            'another set-up (' || array_to_string(string_split(b.batch, '/')[-2:], '/') || ')',
            'workload known for one side only',
            'served model known for one side only',
            'machine known for one side only',
            'set-up known for one side only',
            'a value is 0',
            'the values are multiples of one coarse step',
            'the column mixes two kinds of percent',
            'every value is exactly that of the baseline',
            'the rate was set, not measured',
            'the row joins values of several set-ups',
            'the patch was not applied',
            'which way is better is unknown: say it with --measure better=lower',
            'every value is exactly that of the baseline'
        ], lambda reason, number: (doubts >> (number - 1)) & 1 = 1) as reasons
    from picked
    join candidates as c using (source_id, measurement_no)
    left join bases as b on b.source_id = picked.base_source_id and b.measurement_no = picked.base_measurement_no
    left join repeats
        on repeats.about = c.about and repeats.metric = c.metric and repeats.statistic is not distinct from c.statistic
        and repeats.unit is not distinct from c.unit and repeats.benchmark is not distinct from c.benchmark
        and repeats.machine = c.machine and repeats.workload_fp is not distinct from c.workload_fp
),
-- a ratio that the file has instead of values
given_ratios as (
    select
        source_id, measurement_no, joined_run_id as run_id, joined_by, format, repo, task, commit_full, agent, agent_version, model,
        effort, run_path, benchmark, metric, is_primary, statistic, unit, better, scope, null::double as candidate_value, status, failure, failure_detail, n, flags,
        patch_applied, measured_at, about, sides.base, case when sides.base = ratio_base then source_id end as base_source_id,
        case when sides.base = ratio_base then measurement_no end as base_measurement_no, null::double as base_value, n as base_n, status as base_status,
        null::varchar as base_failure_detail, 1 as is_same_file, 0 as hours_apart,
        [reason for reason in [
            case when sides.base <> ratio_base then 'no ' || sides.base || ' was measured' end,
            case when coalesce(value, 1) <= 0 then 'a value is 0' end, case when patch_applied = 'no' then 'the patch was not applied' end
        ] if reason is not null] as reasons,
        ['a ratio without its values'] as warnings, case when sides.base = ratio_base then value end as quotient, log_error, log_df as df
    from candidates
    cross join (values ('baseline'), ('reference')) as sides(base)
    where ratio_base is not null and unit = 'ratio'
),
compared as (
    select * from chosen union all by name select * from given_ratios
),
with_ratios as (
    select
        compared.* exclude (noise_floor), coalesce(compared.noise_floor, floor_of_repeats) as noise_floor,
        compared.noise_floor is not null as is_paired,
        status = 'ok' and base_source_id is not null and len(reasons) = 0 and quotient is not null as is_comparable,
        case when is_comparable then quotient end as ratio,
        coalesce(
            case when better = 'lower' then base_value - candidate_value else candidate_value - base_value end / base_value, quotient - 1
        ) as change,
        -- beyond 30 degrees of freedom: the expansion around the normal quantile (Abramowitz and Stegun 26.7.5)
        log_error * case
            when is_comparable is not true then null
            when df is null then 1.959964
            when df < 31 then of_df[greatest(1, cast(floor(df) as integer))]
            else 1.959964 + 2.37227 / df + 2.8225 / df / df
        end as log_half
    from compared
    cross join quantiles
)
select
    * exclude (quotient, change, log_error, df, hours_apart, floor_of_repeats, is_paired),
    ratio / exp(log_half) as ratio_low,
    ratio * exp(log_half) as ratio_high,
    case
        when status <> 'ok' then case when status = 'not_run' then 'not_measured' else 'failed' end
        when base_source_id is null then 'not_measured'
        when not is_comparable then 'not_comparable'
        when is_paired then
            case
                when ratio > 1 + noise_floor and coalesce(ratio_low > 1, true) then 'faster'
                when ratio < 1 / (1 + noise_floor) and coalesce(ratio_high < 1, true) then 'slower'
                when ratio_low > 1 / (1 + coalesce(getvariable('band'), 0.05)) and ratio_high < 1 + coalesce(getvariable('band'), 0.05) then 'same'
                else 'inside_noise'
            end
        when ratio between 1 - coalesce(getvariable('band'), 0.05) and 1 + coalesce(getvariable('band'), 0.05) then 'same'
        when abs(ln(ratio)) <= ln(1 + noise_floor) or ratio_low <= 1 and ratio_high >= 1 then 'inside_noise'
        when ratio > 1 then 'faster'
        else 'slower'
    end as verdict,
    -- the rule of ISO-Bench: the change in percent of the reference's value, with a band of 5 %; a benchmark that failed by the change is
    -- worse, one that failed by machine, model or memory, or for reasons unknown, says nothing of it
    case
        when base <> 'reference' then null
        when status = 'failed' and failure in ('crash', 'timeout', 'incorrect') and patch_applied <> 'no' then 'worse'
        when status <> 'ok' then null
        when not is_comparable then null
        when change > coalesce(getvariable('band'), 0.05) then 'beats'
        when change < -coalesce(getvariable('band'), 0.05) then 'worse'
        else 'similar'
    end as hard
from with_ratios;
