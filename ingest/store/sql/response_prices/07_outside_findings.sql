-- One finding per run whose transcript and reported total differ, with both amounts.
insert into findings by name
select
    run_id, rule, severity,
    case
        when difference > 0
            then 'The agent reports more than the responses of the transcript cost at list prices: it made requests that the transcript does not'
                || ' have (titles, summaries, checks), or has other prices.'
        else 'The agent reports less than the responses of the transcript cost at list prices: it wrote its total before the last of them,'
            || ' or has other prices.'
    end
    || case
        when unfinished > 0
            then format(' Of {:,} of {:,} responses only the output count of their start is known.', unfinished, responses)
        else ''
    end as message,
    usd_text(listed, reported) || format(' at list prices over {:,} response{}', responses, case when responses <> 1 then 's' else '' end) as expected,
    usd_text(reported, listed) || ' reported' as actual
from outside
join rules on rule = case when difference > 0 then 'cost_outside_transcript' else 'cost_unexplained' end
where difference is not null;
