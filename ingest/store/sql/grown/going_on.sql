-- Of the readings in `chosen`, those of a file that has grown: the longest earlier source of it that they begin with (`goes_on`). Of measured
-- results, loops and telemetry the later reading counts (`v_measurements`, `v_loops`, `parts_of_telemetry`); of a transcript each reading has what the earlier ones do not.
create or replace temp table going_on as
select chosen.source_id, max_by(sources.source_id, sources.bytes) as goes_on
from chosen
join (select distinct source_id, unnest(begins_with) as earlier from read_results) as beginnings using (source_id)
join sources on sources.source_id = beginnings.earlier
where
    sources.resume_at is not null or (sources.kind in ('measurement', 'loop') and chosen.kind = sources.kind)
    or (sources.map is not null and sources.map = chosen.map)
    or sources.source_id in (select source_id from run_records where record_kind = 'telemetry')
group by chosen.source_id;
