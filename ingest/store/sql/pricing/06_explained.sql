-- The first alternative price that gives the reported cost. If 1-hour cache writes at the 5-minute rate are the larger part of the difference,
-- they are the cause. Explained rows are removed from `unlike`.
insert into explained
with sums as (
    select row_no, rank, exact_cost(own, rates) as exact
    from near
    join unlike using (row_no)
    join alternatives using (price_no, rank)
),
fitting as (
    select row_no, min(rank) as rank
    from sums
    join unlike using (row_no)
    where abs(nanodollars(exact) - cost_own_usd) <= 0.000001
    group by row_no
)
select
    row_no, rank,
    case
        when abs(own.write_1h * (one_hour_from - rates.write_1h))
            > abs(cost_delta_usd - own.write_1h * (one_hour_from - rates.write_1h)) then '1h_cache_writes'
        else cause
    end as cause
from fitting
join unlike using (row_no)
join alternatives using (price_no, rank);
delete from unlike where row_no in (select row_no from explained);
