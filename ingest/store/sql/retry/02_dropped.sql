-- Remove the rejects of the old content. Its runs stay; a source without documents is removed too.
delete from rejects where source_id in (select source_id from superseded);
update sources set documents = documents - rejected, rejected = 0 where source_id in (select source_id from superseded);
delete from sources where documents = 0 and source_id in (select source_id from superseded);
