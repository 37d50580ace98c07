create table sessions (
    id text primary key, parent_session_id text, title text not null, message_count integer not null default 0,
    prompt_tokens integer not null default 0, completion_tokens integer not null default 0,
    cost real not null default 0.0, updated_at integer not null, created_at integer not null);
create table messages (
    id text primary key, session_id text not null, role text not null, parts text not null default '[]', model text,
    created_at integer not null, updated_at integer not null, finished_at integer);
insert into sessions values
    ('5c0e6a52-1111-4222-8333-0123456789ab', null, 'New Session', 3, 2584955, 19041, 0.0333045, 1745748600, 1745748538);
insert into messages values
    ('a', '5c0e6a52-1111-4222-8333-0123456789ab', 'user', '[{"type":"text","data":{"text":"Run the tests."}},{"type":"finish","data":{"reason":"stop","time":0}}]', '', 1745748538, 1745748538, null),
    ('b', '5c0e6a52-1111-4222-8333-0123456789ab', 'assistant', '[{"type":"tool_call","data":{"id":"call_1","name":"bash","input":"{}","type":"","finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1745748550}}]', 'copilot.gpt-4.1', 1745748540, 1745748550, 1745748550),
    ('c', '5c0e6a52-1111-4222-8333-0123456789ab', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"call_1","name":"","content":"ok","metadata":"","is_error":false}}]', '', 1745748600, 1745748600, null);
