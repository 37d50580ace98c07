-- The project of the runs in `named_again`, from what all their records give.
update runs
set project = found.named.name, repo_source = found.named.origin
from (
    select run_id, project_of(labels, repo, cwd, sources.name) as named
    from runs
    semi join named_again using (run_id)
    join sources using (source_id)
) as found
where
    runs.run_id = found.run_id
    and (runs.project is distinct from found.named.name or runs.repo_source is distinct from found.named.origin);
