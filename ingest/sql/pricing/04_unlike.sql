-- Rows whose reported cost is not the list's. To a millionth of a dollar they are the same: the agent adds floats.
create or replace temp table unlike as
select * from priced where abs(cost_delta_usd) > 0.000001;
create or replace temp table explained (run_id varchar, model_id varchar, cause varchar, words varchar);
