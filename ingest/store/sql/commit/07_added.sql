-- What a record adds to the one it continues: never below 0. An unknown earlier figure counts as 0; an unknown later one stays NULL.
create or replace temp macro added(later, earlier) as
    case when later >= coalesce(earlier, 0) then later - coalesce(earlier, 0) when later is not null then 0 end;
