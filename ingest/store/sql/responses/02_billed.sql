-- Copies of one message are one response. Without a request id on any of them only those with the same first line are: some gateways write one
-- constant id. Nor are those of requests of the main conversation with other input. Streams tell no request ids, and their lines may have other ids
-- than those of the transcript. `shared`: the messages of which there are several copies.
create or replace temp table shared as
with several as (
    select message_id from counted_copies semi join touched_ids using (message_id) group by message_id having count(*) > 1
)
select
    message_id,
    count(request_id) > 0
    or (
        count(stream_id) > 0 and count(distinct line_id) filter (stream_id is not null) <= 1
        and count(distinct line_id) filter (stream_id is null) <= 1
    ) as has_request,
    count(distinct {'input': input_tokens, 'read': cache_read_tokens, 'written': cache_write_tokens})
        filter (not is_sidechain and request_id is not null) > 1
    and count(distinct request_id) filter (not is_sidechain) > 1 as is_constant
from counted_copies
semi join several using (message_id)
group by message_id;
create or replace temp table keyed as
select
    counted_copies.*,
    message_id || coalesce(' ' || case when is_constant then request_id when not has_request then line_id end, '') as response_id
from counted_copies
join shared using (message_id);
-- When each session began: resumed and forked sessions begin with a copy of another, whose lines keep their times.
create or replace temp table session_starts as
select session_id, min("at") as began_at
from counted_copies
semi join keyed using (session_id)
group by session_id;
-- One row per billed response of these messages: `chosen_copies`.
create or replace temp table chosen_copies as
-- The copy of the main conversation, where a side question sent it again with another request; then the fullest.
select * exclude (is_sent_again, owner, of_stream) replace (owner as session_id, of_stream as stream_run)
from (
    select
        keyed.*,
        is_sidechain and coalesce(bool_or(not is_sidechain) over response, false)
        and not coalesce(list_contains(list(request_id) filter (not is_sidechain) over response, request_id), false) as is_sent_again,
        first_value(session_id) over (partition by response_id order by is_copied, began_at nulls last, session_id) as owner,
        min(stream_run) over response as of_stream
    from keyed
    join session_starts using (session_id)
    window response as (partition by response_id)
)
qualify row_number() over (
    partition by response_id
    order by
        is_sent_again, coalesce(output_tokens, 0) desc,
        coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) desc,
        len(tools) desc, tokens_basis <> 'exact', session_id, source_id, response_no
) = 1;
-- One row per billed response of the touched ones: `billed`. Most messages have one copy, which is the response.
create or replace temp view billed as
select *, message_id || coalesce(' ' || case when request_id is null then line_id end, '') as response_id
from counted_copies
semi join touched_ids using (message_id)
anti join shared using (message_id)
union all by name
from chosen_copies;
