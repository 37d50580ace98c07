-- `copies_now`: what the readings in `going_on` tell, from the response on with which they begin. `earlier_copies`: what the sources that they
-- go on with have from there on (`later_source`: the reading).
create or replace temp table chains as
with recursive chain as (
    select source_id as later_source, goes_on as source_id from going_on
    union
    select chain.later_source, sources.goes_on as source_id
    from chain
    join sources using (source_id)
    where sources.goes_on is not null
)
select * from chain;
create or replace temp table copies_now as
select * from response_copies semi join going_on using (source_id);
create or replace temp table earlier_copies as
select response_copies.*, later_source
from response_copies
join chains using (source_id)
join (select source_id as later_source, min(response_no) as first_no from copies_now group by source_id) as begun using (later_source)
where response_no >= first_no;
