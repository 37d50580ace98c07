-- What a row's own tokens cost at some rates (USD per token), exactly, rounded once to nanodollars. NULL where a count is not known,
-- where there are searches without a price, or beyond DECIMAL(18,9).
create or replace temp macro costs_at(own, rates) as try_cast(
    own.input * rates.input + own.output * rates.output + own.cache_read * rates.cache_read
    + own.write_5m * rates.write_5m + own.write_1h * rates.write_1h
    + case when own.searches > 0 then own.searches * rates.web_search else 0 end
    as decimal(18, 9)
);
-- The rates had nothing been cached: what was read or written costs as any input.
create or replace temp macro uncached(rates) as {
    'input': rates.input, 'output': rates.output, 'cache_read': rates.input,
    'write_5m': rates.input, 'write_1h': rates.input, 'web_search': rates.web_search
};
