-- What earlier sources have otherwise, and is put aside, goes from them; what they have too goes from the new readings.
delete from response_copies
where
    (source_id, response_no) in (select (source_id, response_no) from earlier_copies)
    and (source_id, response_no) not in (select (earlier_source, earlier_no) from repeated);
delete from response_copies where (source_id, response_no) in (select (source_id, response_no) from repeated);
