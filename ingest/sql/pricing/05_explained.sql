-- The first of the alternative prices (the likely ones first, then the others) that gives the reported cost. Where 1-hour cache writes
-- at the 5-minute rate are a part of it, and the larger one, they are the cause; the words name both.
insert into explained
with fitting as (
    select run_id, model_id, rank, words, cause, cost_delta_usd, own.write_1h * (one_hour_from - rates.write_1h) as one_hour_part
    from unlike
    join alternatives using (price_no)
    anti join explained using (run_id, model_id)
    where is_likely = $is_likely and abs(costs_at(own, rates) - cost_own_usd) <= 0.000001
    qualify row_number() over (partition by run_id, model_id order by rank) = 1
)
select
    run_id, model_id, case when abs(one_hour_part) > abs(cost_delta_usd - one_hour_part) then '1h_cache_writes' else cause end as cause, words
from fitting;
