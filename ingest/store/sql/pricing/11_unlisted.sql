-- One finding per run whose record has a higher total than its models.
insert into findings by name
select
    run_id, rule, severity,
    'The reported total is higher than the sum of its models: the usage of a model is missing.' as message,
    usd_text(cost_own_usd - unlisted, cost_own_usd) || ' over the models' as expected,
    usd_text(cost_own_usd, cost_own_usd - unlisted) || ' in total' as actual
from totals
join rules on rule = 'cost_helper_model_missing'
where unlisted > 0.000001;
