-- What the runs in `merging` have from another record as a whole, where the kept one has none: tool calls, the patch and its files, the text of
-- the summary, and the name of their only model. `lent`: the record that has it, with its place among those of the run.
create or replace temp table nameless as
select run_id
from model_usage
join runs using (run_id)
semi join merging using (run_id)
group by run_id
having count(*) = 1 and (count(model_id) = 0 or bool_or(origins['models'] is not null));
create or replace temp table lent as
with offered as (
    select *, 'tool_calls' as name from telling where is_whole and json_array_length(told -> '$.tool_calls') > 0
    union all
    select *, 'patch_changes' as name from telling where is_whole and json_array_length(told -> '$.patch_changes') > 0
    union all
    select *, 'patch' as name from telling where is_whole and (told ->> '$.patch.text') is not null
    union all
    select *, 'result' as name from telling where is_whole and has_text
    union all
    select *, 'models' as name from telling semi join nameless using (run_id) where model_id is not null
)
select *
from offered
qualify row_number() over (partition by run_id, name order by place) = 1;
-- The exit code of the process of a run, where a record that goes to its end has one.
create or replace temp table exited as
select run_id, arg_min(exit_code, place) as exit_code, min(place) as place
from telling
where is_whole and exit_code is not null
group by run_id;
delete from tool_calls where run_id in (select run_id from merging);
insert into tool_calls by name
select run_id, call ->> '$.tool' as tool, (call ->> '$.calls')::bigint as calls, (call ->> '$.errors')::bigint as errors
from (select run_id, unnest(from_json(told -> '$.tool_calls', '["json"]')) as call from lent where name = 'tool_calls');
delete from patch_files where run_id in (select run_id from merging);
insert into patch_files by name
select
    run_id, changed ->> '$.path' as path, (changed ->> '$.insertions')::bigint as insertions, (changed ->> '$.deletions')::bigint as deletions
from (select run_id, unnest(from_json(told -> '$.patch_changes', '["json"]')) as changed from lent where name = 'patch_changes');
delete from patches where run_id in (select run_id from merging);
insert into patches by name
select
    run_id, told ->> '$.patch.file_name' as file_name, (told ->> '$.patch.bytes')::bigint as bytes,
    (told ->> '$.patch.is_cut')::boolean as is_cut, told ->> '$.patch.text' as text
from lent
where name = 'patch';
-- The runs whose summary is read again: a text, a patch, a name or an exit code comes from another record, or did so before.
create or replace temp table borrowing as
select run_id from lent where place > 1 and name in ('result', 'patch_changes', 'models')
union
select run_id from exited
union
select run_id from findings semi join merging using (run_id) where rule = 'exit_code'
union
select run_id
from runs
semi join merging using (run_id)
where list_has_any(map_keys(origins), ['result', 'patch_changes', 'models']);
