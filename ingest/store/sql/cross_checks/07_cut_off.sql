-- Streams that end without their result: the process was killed, or the log was cut. What is known of such a run is what stands in the stream.
insert into findings by name
select
    run_id, 'cut_off' as rule, $severity as severity,
    'The stream ends without its result: the process was killed, or the log is cut off. '
    || case
        when tokens_basis = 'unknown' then 'Its tokens and cost are not known.'
        when tokens_basis = 'exact' and responses > 0 then 'Its tokens are those of the session''s transcript.'
        else 'Tokens and cost are those of the responses in the stream: lower bounds.'
    end as message,
    'a result at the end of the stream' as expected,
    coalesce(responses || ' responses and no result', 'no result') as actual
from runs
join examined using (run_id)
where record_kind = 'stream' and outcome = 'interrupted';
