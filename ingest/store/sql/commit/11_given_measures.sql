-- What is said about measurements ($ingest_id; `said`: source, key, value) and was not said before: `given_measures`.
create or replace temp table given_measures as
with noted as (
    select source_id, said.key as key, arg_max(said.value, ingest_id) as value
    from (select source_id, ingest_id, unnest(map_entries(given)) as said from source_measures)
    group by all
)
select source_id, map_from_entries(list({'key': key, 'value': value} order by key)) as given
from (from said anti join noted using (source_id, key, value))
where source_id in (select source_id from sources where kind = 'measurement')
group by source_id;
