-- Sources of earlier ingests, or of other readings, whose runs get labels that they do not have: `given_labels`.
create or replace temp table given_labels as
with said as (
    select source_id, unnest(map_entries(labels)) as label from seen_files where source_id not in (select source_id from chosen)
    union
    select source_id, unnest(map_entries(copy_labels)) as label from seen_files
),
noted as (
    select source_id, unnest(map_entries(labels)) as label from run_records semi join seen_files using (source_id)
    union all
    select source_id, unnest(map_entries(labels)) as label from found_files
    union all
    select source_id, unnest(map_entries(copy_labels)) as label from found_files
)
select distinct source_id from said anti join noted using (source_id, label) where source_id in (select source_id from run_records);
