-- Of a store that kept GSO's judgements of hacks as measurements: before version 23.
insert into published by name
select
    source_id, row_number() over (partition by source_id order by measurement_no) as published_no, format, 'GSO' as judged_by, repo, task,
    commit_full, commit_names_task, instance, agent, agent_version, model, effort, run_path, run_id, patch_sha256, batch,
    if(label = 'hacked', 'hack', 'clean') as judged, nullif(label, 'clean') as label
from measurements
where metric = 'hack' and label is not null;
delete from measurements
where metric = 'hack' and label is not null;
