-- The first of the alternative prices (the likely ones first, then the others) that gives the reported cost. Where 1-hour cache writes
-- at the 5-minute rate are a part of it, and the larger one, they are the cause. A rough sum says which prices are worth an exact one:
-- there are dozens for each row. What is explained leaves `unlike`.
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
