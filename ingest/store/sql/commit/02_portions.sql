-- The number of the first document of each portion of a chosen reading.
create or replace temp table portions as
select
    read_results.reading, read_results.portion,
    coalesce(sum(read_results.documents) over (
        partition by read_results.reading order by read_results.portion rows between unbounded preceding and 1 preceding
    ), 0) as first_ordinal
from read_results
join chosen using (reading);
