-- The rows to be explained. To a millionth of a dollar two costs are the same: the agent adds floats. The costs of responses are rounded one by
-- one, each by half a nanodollar at most.
create or replace temp table unlike as
select
    rowid as row_no, price_no, own, cost_own_usd, cost_delta_usd, is_guess, gateway,
    {
        'input': own.input::double, 'output': own.output::double, 'cache_read': own.cache_read::double,
        'write_5m': own.write_5m::double, 'write_1h': own.write_1h::double, 'cost': cost_own_usd::double
    } as rough
from priced
where abs(cost_delta_usd) > 0.000001 + responses * 0.0000000005;
create or replace temp table explained (row_no bigint, rank bigint, cause varchar);
