-- The alternative prices that nearly give the reported cost. A rough sum selects those that are worth an exact one: there are dozens for each row.
create or replace temp table near as
select row_no, rank
from unlike
join alternatives using (price_no)
where
    is_likely = $is_likely
    and abs(
        rough.input * rough_rates.input + rough.output * rough_rates.output + rough.cache_read * rough_rates.cache_read
        + rough.write_5m * rough_rates.write_5m + rough.write_1h * rough_rates.write_1h + own.searches * rough_rates.web_search
        - rough.cost
    ) <= 0.00001 + rough.cost * 1e-9;
