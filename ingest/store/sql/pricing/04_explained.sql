-- The first alternative price (likely ones first) that gives the reported cost. If 1-hour cache writes at the 5-minute rate are the larger
-- part of the difference, they are the cause. A rough sum selects the prices for an exact sum: there are dozens for each row.
-- Explained rows are removed from `unlike`.
insert into explained
with fitting as (
    select row_no, min(rank) as rank
    from unlike
    join alternatives using (price_no)
    where
        is_likely = $is_likely
        and abs(
            rough.input * rough_rates.input + rough.output * rough_rates.output + rough.cache_read * rough_rates.cache_read
            + rough.write_5m * rough_rates.write_5m + rough.write_1h * rough_rates.write_1h + own.searches * rough_rates.web_search
            - rough.cost
        ) <= 0.00001 + rough.cost * 1e-9
        and abs(costs_at(own, rates) - cost_own_usd) <= 0.000001
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
