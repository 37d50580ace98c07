create table "all runs" (id text, harness text, "total cost" real, status text, elapsed_ms int, log blob);
insert into "all runs" values ('run-0001', 'codex', 0.5, 'passed', 1500, x'00ff');
insert into "all runs" values ('run-0002', 'codex', 'much', 'failed', 900, null);
insert into "all runs" values ('run-0003', 'codex', null, 'skipped', null, null);
