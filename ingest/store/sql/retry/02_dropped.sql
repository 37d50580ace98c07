-- What was rejected of a former content goes; the runs that it gave stay, and a source of which nothing is left goes too.
delete from rejects where source_id in (select source_id from superseded);
update sources set documents = documents - rejected, rejected = 0 where source_id in (select source_id from superseded);
delete from sources where documents = 0 and source_id in (select source_id from superseded);
