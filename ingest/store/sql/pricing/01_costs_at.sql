-- An exact amount with 15 decimals, rounded once to nanodollars; NULL beyond DECIMAL(18,9). Below 1,000 USD in 64-bit arithmetic, which
-- is ten times as fast. `exact` should be a column: a macro repeats its arguments, and to plan a long one twice takes its time.
create or replace temp macro nanodollars(exact) as coalesce(
    cast(try_cast(exact as decimal(18, 15)) as decimal(18, 9)), try_cast(exact as decimal(18, 9))
);
-- The exact cost of the tokens of a row at some rates (USD per token). NULL where a count is unknown or searches have no price.
create or replace temp macro exact_cost(own, rates) as
    own.input * rates.input + own.output * rates.output + own.cache_read * rates.cache_read
    + own.write_5m * rates.write_5m + own.write_1h * rates.write_1h
    + case when own.searches > 0 then own.searches * rates.web_search else 0 end;
create or replace temp macro costs_at(own, rates) as nanodollars(exact_cost(own, rates));
-- The exact cost without caching: cache reads and writes cost as much as input.
create or replace temp macro exact_uncached_cost(own, rates) as
    own.input * rates.input + own.output * rates.output + own.cache_read * rates.input
    + own.write_5m * rates.input + own.write_1h * rates.input
    + case when own.searches > 0 then own.searches * rates.web_search else 0 end;
