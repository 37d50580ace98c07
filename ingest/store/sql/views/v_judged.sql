-- One row per run that others judged: `hack` where anyone found one, else `clean`.
create or replace view v_judged as
select
    found.run_id, max(judged) as judged, string_agg(distinct coalesce(judged_by, format), ', ' order by coalesce(judged_by, format)) as judged_by
from v_published
join v_measured_runs as found using (subject)
where judged is not null and found.run_id is not null
group by found.run_id;
