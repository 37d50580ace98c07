-- One finding per run and cause, with both figures; one per run for tokens without a price. `rules` has the severity of each.
delete from findings where rule in (select rule from rules) and run_id in (select run_id from touched);
insert into findings by name
with differing as (
    select
        run_id, 'cost_' || cost_cause as rule, sum(cost_list_usd) as listed, sum(cost_own_usd) as reported,
        string_agg(coalesce(model, model_id), ', ' order by model_id) as models, min(explanation) as explanation
    from judged
    where cost_cause <> 'same'
    group by run_id, cost_cause
),
found as (
    select
        run_id, rule,
        models || ': '
        || case
            when reported > 0 then
                'list prices give ' || printf('%.1f', abs(listed / reported - 1) * 100)
                || case when listed < reported then ' % less' else ' % more' end || ' than reported.'
            else 'list prices give a cost, the record reports none.'
        end
        || ' The reported cost is ' || explanation || '.' as message,
        'USD ' || listed || ' at list prices' as expected,
        'USD ' || reported || ' reported' as actual
    from differing
    union all
    select
        run_id, 'cost_helper_model_missing',
        'The record''s total is more than its models cost: a model is missing from its list.',
        'USD ' || (cost_own_usd - unlisted) || ' over the models',
        'USD ' || cost_own_usd || ' in total'
    from totals
    where unlisted > 0.000001
    union all
    select
        run_id, 'cost_unpriced',
        'No list price for ' || string_agg(coalesce(model_id, 'a model that the record does not name'), ', ' order by model_id)
        || '; its cost is left out of list costs. A price file can name one: tachograph reprice --prices FILE.',
        null,
        coalesce('USD ' || sum(cost_own_usd) || ' reported', 'no cost reported')
    from judged
    where cost_list_usd is null
    group by run_id
)
select run_id, rule, severity, message, expected, actual
from found
join rules using (rule);
