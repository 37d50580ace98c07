-- What a record added to the one it continues; unknown stays unknown.
create or replace temp macro added(later, former) as
    case when later >= coalesce(former, 0) then later - coalesce(former, 0) when later is not null then 0 end;
