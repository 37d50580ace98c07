-- Amounts are for people: 2 decimals, 4 below $1, and all 9 where two amounts would look the same.
create or replace temp macro usd_text(amount, other) as '$' || case
    when cast(amount as decimal(18, 4)) = cast(other as decimal(18, 4)) then cast(cast(amount as decimal(18, 9)) as varchar)
    when abs(amount) < 1 then cast(cast(amount as decimal(18, 4)) as varchar)
    else cast(cast(amount as decimal(18, 2)) as varchar)
end;
