-- The copies that become the records of their runs: the fullest, then the best known, then the first by source and place.
create or replace temp table chosen_copies as
select run_id, source_id, ordinal, ingest_id, row_number() over (order by source_id, ordinal, run_id) as number
from (
    select *
    from run_records
    where run_id in (select run_id from unkept) and ingest_id is distinct from getvariable('undone')
    qualify row_number() over (
        partition by run_id order by record_rank desc, context_rank desc, source_id, ordinal, ingest_id nulls first
    ) = 1
);
create or replace temp table restored as
select number, copies.* exclude (raw), coalesce(copies.raw, runs.raw) as raw
from run_records as copies
join chosen_copies as chosen
    on chosen.run_id = copies.run_id and chosen.source_id = copies.source_id and chosen.ordinal = copies.ordinal
    and chosen.ingest_id is not distinct from copies.ingest_id
left join runs on runs.run_id = copies.run_id;
update run_records set is_kept = false where run_id in (select run_id from unkept);
-- The texts of the other copies are compared with the new record, not with the one that goes.
update run_records
set raw = case when sha256(coalesce(run_records.raw, earlier.raw)) <> earlier.hash then coalesce(run_records.raw, earlier.raw) end
from (select run_id, runs.raw, sha256(restored.raw) as hash from restored left join runs using (run_id)) as earlier
where run_records.run_id = earlier.run_id and not is_kept;
update run_records
set is_kept = true, raw = null
from chosen_copies as chosen
where
    chosen.run_id = run_records.run_id and chosen.source_id = run_records.source_id and chosen.ordinal = run_records.ordinal
    and chosen.ingest_id is not distinct from run_records.ingest_id;
