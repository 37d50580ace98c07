-- What a run cost by its agent, as `ingest.agents.shared.costs.counted` has it: the sum of its models, unless its total is larger;
-- without a total only where each model has a cost (`is_whole`). `model_costs`: that sum by run, of the costs as logged.
create or replace temp macro counted_cost(total, summed, is_whole) as case
    when total is null then case when is_whole then summed end
    when total - summed <= 0.000001 then summed
    else total
end;
create or replace temp view model_costs as
select run_id, try_cast(sum(cost_reported_usd) as decimal(18, 9)) as summed, count(cost_reported_usd) = count(*) as is_whole
from model_usage
group by run_id;
