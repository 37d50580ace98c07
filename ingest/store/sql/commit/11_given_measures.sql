-- What is said about measurements ($sources, $keys, $values: one of each per saying): `given_measures`, with whether anything of it was not
-- said before (`is_new`).
create or replace temp table given_measures as
with said as (
    select unnest($sources::varchar[]) as source_id, unnest($keys::varchar[]) as key, unnest($values::varchar[]) as value
),
noted as (
    select source_id, entry.key as key, arg_max(entry.value, ingest_id) as value
    from (select source_id, ingest_id, unnest(map_entries(given)) as entry from source_measures)
    group by all
)
select
    source_id, map_from_entries(list({'key': key, 'value': said.value} order by key)) as given,
    bool_or(noted.value is distinct from said.value) as is_new
from said
left join noted using (source_id, key)
where source_id in (select source_id from sources where kind = 'measurement')
group by source_id;
