-- Parts of traces without a session become records of the run of the session that another part of their trace names (`part_ids`).
insert into folding
with parts as (
    select run_id, source_id
    from runs
    where record_kind = 'telemetry' and session_id is null and trial_id is null and run_id not in (select run_id from folding)
),
named as (
    select run_id as whole_id, unnest(part_ids) as run_id from runs where record_kind = 'telemetry'
    union all
    select run_id as whole_id, unnest(from_json(context -> '$.part_ids', '["varchar"]')) as run_id
    from run_records
    where record_kind = 'telemetry' and context is not null
)
select parts.run_id, parts.source_id, max(whole_id) as whole_id
from parts
join named using (run_id)
where whole_id <> parts.run_id
group by parts.run_id, parts.source_id;
