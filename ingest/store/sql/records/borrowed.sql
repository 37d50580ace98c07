-- The records to read again for the runs in `borrowing`: the kept one, with the name that another gives to its model and the figures of all
-- records, and the one with the text, if that is another. `exit_code`: of the process of the run.
create or replace temp table borrowed as
select
    dense_rank() over (order by records.run_id) as number, records.* exclude (raw), coalesce(records.raw, runs.raw) as raw, named.model_id,
    struct_pack(
        outcome := runs.outcome, num_turns := runs.num_turns, patch_files := runs.patch_files,
        patch_insertions := runs.patch_insertions, patch_deletions := runs.patch_deletions
    ) as merged,
    exited.exit_code
from run_records as records
semi join borrowing using (run_id)
join runs using (run_id)
left join lent as named on named.run_id = records.run_id and named.name = 'models'
left join exited on exited.run_id = records.run_id
left join lent as text on text.run_id = records.run_id and text.name = 'result'
where
    is_kept
    or (
        text.place > 1 and text.source_id = records.source_id and text.ordinal = records.ordinal
        and text.ingest_id is not distinct from records.ingest_id
    );
