-- Runs in `touched` whose final text has more than twice as many words (`final_words`, in pieces of up to 32 letters and digits) as all
-- their output has tokens. No tokenizer puts several words into one token, so responses are missing from the count: gateways that send no
-- usage of streamed responses cause it. What is counted is a lower bound then.
create or replace temp macro too_few_reason() as 'The final text is longer than all output that is counted: responses are missing.';
create or replace temp table too_few as
select run_id, final_words as words, sum(output_tokens)::bigint as output
from touched
join model_usage using (run_id)
where final_words is not null
group by run_id, final_words
having
    final_words > 2 * sum(output_tokens)
    and bool_and(tokens_basis = 'exact' or coalesce(tokens_basis_reason = too_few_reason(), false));
update model_usage
set tokens_basis = 'lower_bound', tokens_basis_reason = too_few_reason()
where tokens_basis = 'exact' and run_id in (select run_id from too_few);
insert into findings by name
select
    run_id, rule, severity,
    format('{:,} output tokens are recorded, and the final text alone has {:,} words: responses are missing from the count. ', output, words)
        || 'Tokens and list-price cost are lower bounds.' as message,
    format('more than {:,} output tokens', words // 2) as expected,
    format('{:,} output tokens', output) as actual
from too_few
join rules on rule = 'output_too_short';
