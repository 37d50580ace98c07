-- Rows that no price explains; where the agent says that it guessed, or the model was behind a gateway, that is the cause.
insert into explained
select row_no, null as rank, case when is_guess then 'fallback_price' when gateway is not null then 'gateway' else 'unexplained' end as cause
from unlike;
create or replace temp table judged as
select priced.*, rank, cause, case when cost_delta_usd is not null then coalesce(cause, 'same') end as cost_cause
from priced
left join explained on priced.rowid = explained.row_no;
