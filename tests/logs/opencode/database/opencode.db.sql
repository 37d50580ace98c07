create table session (
    id text primary key, project_id text not null, parent_id text, slug text not null, directory text not null,
    title text not null, version text not null, time_created integer not null, time_updated integer not null,
    cost real default 0 not null);
create table message (
    id text primary key, session_id text not null, time_created integer not null, time_updated integer not null,
    data text not null);
create table part (
    id text primary key, message_id text not null, session_id text not null, time_created integer not null,
    time_updated integer not null, data text not null,
    constraint fk_part_message_id_message_id_fk foreign key (message_id) references message (id));
insert into session values
    ('ses_04ca851f7ffeAAAAAAAAAAAAA1', 'p', null, 'curious-forest', '/workspace/tokenizer', 'Faster tokenizer', '1.16.0', 1785420295689, 1785420364454, 0.05),
    ('ses_04ca85000ffeAAAAAAAAAAAAA2', 'p', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 'quiet-river', '/workspace/tokenizer', 'Find the hot loop', '1.16.0', 1785420300000, 1785420310000, 0.01),
    ('ses_04ca84000ffeAAAAAAAAAAAAA3', 'p', null, 'no-words', '/workspace/tokenizer', 'Never asked', '1.16.0', 1785420400000, 1785420400000, 0);
insert into message values
    ('msg_fb357ae0a001700000000000A', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 1785420296000, 1785420296000, '{"role":"user","time":{"created":1785420296000},"summary":{"diffs":[]}}'),
    ('msg_fb357ae0b001700000000000B', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 1785420297000, 1785420320000, '{"role":"assistant","cost":0.03,"tokens":{"total":20577,"input":27,"output":70,"reasoning":0,"cache":{"write":0,"read":20480}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1785420297000,"completed":1785420320000},"finish":"tool-calls"}'),
    ('msg_fb357ae0c001700000000000C', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 1785420321000, 1785420364000, '{"role":"assistant","cost":0.02,"tokens":{"total":20649,"input":114,"output":55,"reasoning":0,"cache":{"write":0,"read":20480}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1785420321000,"completed":1785420364000},"finish":"stop"}'),
    ('msg_fb357ae0d001700000000000D', 'ses_04ca85000ffeAAAAAAAAAAAAA2', 1785420301000, 1785420309000, '{"role":"assistant","cost":0.01,"tokens":{"total":110,"input":100,"output":10,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"claude-haiku-4-5","providerID":"anthropic","time":{"created":1785420301000,"completed":1785420309000},"finish":"stop"}');
insert into part values
    ('prt_1', 'msg_fb357ae0a001700000000000A', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 1785420296000, 1785420296000, '{"type":"text","text":"Make the tokenizer faster."}'),
    ('prt_2', 'msg_fb357ae0b001700000000000B', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 1785420298000, 1785420299000, '{"type":"tool","tool":"task","callID":"call_1","state":{"status":"error","input":{"prompt":"Find"},"error":"no","time":{"start":1785420298000,"end":1785420299000}}}'),
    ('prt_3', 'msg_fb357ae0b001700000000000B', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 1785420319000, 1785420319000, '{"reason":"tool-calls","type":"step-finish","tokens":{"total":20577,"input":27,"output":70,"reasoning":0,"cache":{"write":0,"read":20480}},"cost":0.03}'),
    ('prt_4', 'msg_fb357ae0c001700000000000C', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 1785420363000, 1785420363000, '{"type":"text","text":"The tokenizer is 2x faster."}'),
    ('prt_5', 'msg_fb357ae0c001700000000000C', 'ses_04ca851f7ffeAAAAAAAAAAAAA1', 1785420364000, 1785420364000, '{"reason":"stop","type":"step-finish","tokens":{"total":20649,"input":114,"output":55,"reasoning":0,"cache":{"write":0,"read":20480}},"cost":0.02}'),
    ('prt_6', 'msg_fb357ae0d001700000000000D', 'ses_04ca85000ffeAAAAAAAAAAAAA2', 1785420309000, 1785420309000, 'no JSON');
