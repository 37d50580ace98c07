-- For the time of a connection: views of the same names as the tables, without what was said in sessions. `tachograph` is the attached store;
-- `summary_rules` has the meaning of each rule whose findings have words of a summary. `$every`: without the texts of all runs,
-- whatever their records are.
-- The sources whose texts are left out: transcripts, and telemetry. A file of lines of which none could be read as a run may be one.
create or replace temp table session_files as
select source_id from tachograph.run_records where record_kind in ('transcript', 'telemetry')
union
select source_id
from tachograph.sources
where rejected > 0 and contains(name, '.jsonl') and source_id not in (select source_id from tachograph.run_records);
-- The runs whose summary was said in a session.
create or replace temp table said_in_sessions as
select run_id
from tachograph.runs
where $every or record_kind in ('transcript', 'telemetry') or origins['result'] in (select source_id from session_files);
create or replace temp macro is_said(record_kind, origin) as
    $every or record_kind in ('transcript', 'telemetry') or coalesce(origin in (select source_id from session_files), false);
-- A session, and a run without a record, whose title is its command line, are called by their project and start in UTC.
create or replace temp view runs as
select
    * exclude (error_text, error_told) replace (
        case
            when record_kind = 'sidecar' or is_said(record_kind, origins['title']) or is_said(record_kind, origins['prompt']) then coalesce(
                nullif(concat_ws(
                    ' ',
                    project,
                    strftime(coalesce(started_at, ended_at), '%Y-%m-%d %H:%M')
                ), ''),
                session_id, run_id
            )
            else title
        end as title,
        case when is_said(record_kind, origins['prompt']) then null else prompt end as prompt,
        case when is_said(record_kind, origins['outcome']) then $stand_in else errors end as errors,
        case when is_said(record_kind, origins['result']) then null else result end as result,
        case when is_said(record_kind, origins['result']) then null else claimed_quote end as claimed_quote,
        case when is_said(record_kind, origins['result']) then null else claimed_subject end as claimed_subject,
        case
            when record_kind in ('transcript', 'telemetry', 'sidecar') then json_merge_patch(
                raw, '{"title": null, "prompt": null, "final_text": null, "errors": null, "ended_as": null, "resume": null}'
            )::varchar
            else raw
        end as raw
    )
from (select rowid, *, $error_text as error_text, $error_told as error_told from tachograph.runs);
create or replace temp view claims as
select
    * replace (
        case when run_id in (select run_id from said_in_sessions) then '' else quote end as quote,
        case when run_id in (select run_id from said_in_sessions) then null else subject end as subject,
        case when run_id in (select run_id from said_in_sessions) then null else unit end as unit
    )
from tachograph.claims;
create or replace temp view findings as
select
    found.* exclude (meaning) replace (
        coalesce(meaning, message) as message,
        case when meaning is null then expected end as expected,
        case when meaning is null then actual end as actual
    )
from (
    select
        findings.*,
        case when run_id in (select run_id from said_in_sessions) then (select meaning from summary_rules where summary_rules.rule = findings.rule) end
            as meaning
    from tachograph.findings
) as found;
create or replace temp view statements as
select * from tachograph.statements where run_id not in (select run_id from said_in_sessions);
create or replace temp view file_changes as
select * from tachograph.file_changes where run_id not in (select run_id from said_in_sessions);
create or replace temp view patches as
select * from tachograph.patches where run_id not in (select run_id from said_in_sessions);
create or replace temp view run_records as
select
    * replace (
        case
            when record_kind in ('transcript', 'telemetry') then json_merge_patch(context, '{"prompt": null, "patch": null}')::varchar
            else json_merge_patch(context, '{"patch": null}')::varchar
        end as context,
        case
            when record_kind in ('transcript', 'telemetry', 'sidecar') then json_merge_patch(told, '{"title": null, "errors": null, "terminal_reason": null}')::varchar
            else told
        end as told,
        case when record_kind in ('transcript', 'telemetry', 'sidecar') then null else raw end as raw
    )
from tachograph.run_records;
create or replace temp view responses as
select * replace (null::varchar as agent_description, null::varchar as logged) from tachograph.responses;
create or replace temp view response_copies as
select * replace (null::varchar as agent_description, null::varchar as logged) from tachograph.response_copies;
create or replace temp view superseded_response_copies as
select * replace (null::varchar as agent_description, null::varchar as logged) from tachograph.superseded_response_copies;
create or replace temp view superseded_rejects as
select * replace ('not exported (--with-text)' as detail, '' as excerpt) from tachograph.superseded_rejects;
-- The detail of a look-alike is the name of its agent, that of a missing reader the error of its import.
create or replace temp view rejects as
select
    * replace (
        case
            when reason not in ('look_alike', 'reader_missing') and source_id in (select source_id from session_files) then 'not exported (--with-text)' else detail
        end as detail,
        case when source_id in (select source_id from session_files) then '' else excerpt end as excerpt
    )
from tachograph.rejects;
