-- One row per billed response of the touched ones: `billed`. Copies of one message are one response; without a request id on any of them only if they
-- have the same first line, since some gateways write one constant id.
create or replace temp table keyed as
with copies as (
    select * from response_copies semi join touched_ids using (message_id)
),
told as (
    select message_id, count(*) > 1 as is_shared, count(request_id) > 0 as has_request from copies group by message_id
)
select
    copies.*, is_shared,
    case when has_request or line_id is null then message_id else message_id || ' ' || line_id end as response_id
from copies
join told using (message_id);
-- When each session began: resumed and forked sessions begin with a copy of another, whose lines keep their times.
create or replace temp table session_starts as
select session_id, min("at") as began_at
from response_copies
semi join keyed using (session_id)
group by session_id;
create or replace temp table billed as
select * exclude (is_shared)
from keyed
where not is_shared
union all by name
-- The copy of the main conversation, where a side question sent it again with another request; then the fullest.
select * exclude (is_shared, is_sent_again, owner) replace (owner as session_id)
from (
    select
        keyed.*,
        is_sidechain and coalesce(bool_or(not is_sidechain) over response, false)
        and not coalesce(list_contains(list(request_id) filter (not is_sidechain) over response, request_id), false) as is_sent_again,
        first_value(session_id) over (partition by response_id order by is_copied, began_at nulls last, session_id) as owner
    from keyed
    join session_starts using (session_id)
    where is_shared
    window response as (partition by response_id)
)
qualify row_number() over (
    partition by response_id
    order by
        is_sent_again, coalesce(output_tokens, 0) desc,
        coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) desc,
        len(tools) desc, tokens_basis <> 'exact', session_id, source_id, response_no
) = 1;
