-- A work tree of git belongs to the folder before it.
create or replace temp macro worked_in(cwd) as regexp_replace(
    rtrim(replace(trim(cwd), '\', '/'), '/'), '/[.](?:claude/)?worktrees(?:/.*)?$', ''
);
-- The last folder, but none of temporary folders and nobody's home.
create or replace temp macro folder_of_project(path) as case
    when not regexp_matches(
        path,
        '(?i)^(?:/private)?/(?:tmp|var/folders)(?:/|$)|/AppData/Local/Temp(?:/|$)'
        || '|^(?:[a-z]:)?/(?:root|(?:home|users)/[^/]+)$'
    ) then regexp_extract(path, '[^/]+$')
end;
-- The project as {origin, name}, by the first origin that names one: label, record, git remote, working directory, folder OWNER+REPO. A folder of ids
-- or times is there for one run, and a shared one for any project. Each pattern stands here once: DuckDB compiles it anew wherever it stands.
create or replace temp macro project_of(labels, repo, cwd, path) as list_filter([
    {'origin': 'label', 'name': coalesce(nullif(labels['project'], ''), nullif(labels['repo'], ''))},
    {'origin': 'record', 'name': case when not regexp_matches(repo, '[/\\:]') then nullif(repo, '') end},
    {'origin': 'remote', 'name': regexp_extract(repo, '([^/\\:]+?)(?:\.git)?[/\\]*$', 1)},
    {'origin': 'folder', 'name': folder_of_project(worked_in(cwd))},
    {
        'origin': 'archive',
        'name': regexp_extract(
            path, '(?:^|[/\\!])[A-Za-z0-9][A-Za-z0-9-]*\+([\w.-]*?[A-Za-z][\w.-]*?)(?:\.zip|\.tgz|\.tar(?:\.\w+)?)?[/\\!]', 1
        )
    }
], lambda one:
    one.name is not null
    and (one.origin in ('label', 'record') or not regexp_matches(one.name, '(?:[0-9][^0-9]*){6}|^[.~ ]*$'))
    and (
        one.origin not in ('folder', 'archive')
        or not regexp_matches(one.name, '(?i)^(?:[a-z]:|workspace|tmp|app|api|testbed|project)$')
    )
)[1];
