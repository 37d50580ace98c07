-- The difference of a record to the one it continues; NULL stays NULL.
create or replace temp macro added(later, earlier) as
    case when later >= coalesce(earlier, 0) then later - coalesce(earlier, 0) when later is not null then 0 end;
