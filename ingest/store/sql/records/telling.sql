-- The records of the runs in `merging`, the kept one first (`place`), and what each tells; of telemetry, what all of it tells together
-- (`joined`). `is_of_trial`: it is of the same trial.
-- `is_whole`: it is no earlier part of the run, being the kept record, of its trial, or of the same tokens.
-- `exit_code`: of the process that wrote it, where it is not 0. `has_text`: it has a summary of its own; `model_id`: the only model that it names.
create or replace temp table telling as
with noted as (
    select run_records.* replace (json_merge_patch(context, told, coalesce(together, '{}')) as told)
    from run_records
    semi join merging using (run_id)
    left join joined on joined.run_id = run_records.run_id and record_kind = 'telemetry'
    where told is not null
),
records as (
    select
        run_id, source_id, ordinal, ingest_id, record_kind, repo, task, experiment, effort, told,
        nullif(regexp_extract(labels['exit-code'], '^[1-9][0-9]{0,2}$'), '') as exit_code,
        record_kind = 'trial' or (context ->> '$.trial_id') is not null as is_of_trial,
        case when (told ->> '$.output_tokens') is not null then [
            (told ->> '$.output_tokens')::bigint,
            list_sum(json_extract_string(told, ['$.input_tokens', '$.cache_read_tokens', '$.cache_write_tokens'])::bigint[])
        ] end as tokens,
        row_number() over (
            partition by run_id order by is_kept desc, record_rank desc, context_rank desc, source_id, ordinal, ingest_id nulls first
        ) as place
    from noted
)
select
    records.*,
    place = 1 or is_of_trial or coalesce(tokens = first_value(tokens) over of_run, false) as is_whole,
    case
        when place > 1 then coalesce((told ->> '$.has_text')::boolean, false)
        else coalesce(runs.result, '') <> '' and runs.origins['result'] is null
    end as has_text,
    told ->> '$.model_id' as model_id
from records
join runs using (run_id)
window of_run as (partition by run_id order by place);
