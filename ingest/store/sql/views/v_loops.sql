-- Every loop once: of copies and versions of a log, the one with the most experiments. A loop is a version of another one that holds seven in
-- ten of its experiments (people edit rows of a table afterwards). A file that has grown is read whole again: its last reading counts.
create or replace view v_loops as
with standing as (
    select * from experiments where source_id not in (select goes_on from sources where goes_on is not null)
),
sized as (
    select standing.*, count(*) over (partition by source_id, loop_no) as experiments, sources.name
    from standing
    join sources using (source_id)
),
held as (
    -- for each experiment, the largest loop that has it
    select
        source_id, loop_no,
        first_value(source_id || ' ' || loop_no) over (
            partition by fingerprint order by experiments desc, length(name), name, source_id, loop_no
            rows between unbounded preceding and unbounded following
        ) as holder
    from sized
),
counted as (
    select source_id, loop_no, holder, count(*) as held, sum(count(*)) over (partition by source_id, loop_no) as experiments
    from held
    group by source_id, loop_no, holder
),
versions as (
    select source_id, loop_no
    from counted
    where holder <> source_id || ' ' || loop_no and held >= 0.7 * experiments
),
firsts as (
    select source_id, loop_no, arg_min(fingerprint, experiment_no) as first_try, min("at") as first_at, max("at") as last_at
    from standing
    group by source_id, loop_no
)
select
    loops.*,
    -- of a log that grows or is edited, name and first experiment stay
    md5(concat_ws(' ', sources.name, segment, first_try))[:8] as loop_id,
    first_at, last_at, sources.name as source_name, sources.modified_ns
from loops
join firsts using (source_id, loop_no)
join sources using (source_id)
anti join versions using (source_id, loop_no);
