create table sessions (
    id text primary key, parent_session_id text, title text not null, message_count integer not null default 0,
    prompt_tokens integer not null default 0, completion_tokens integer not null default 0,
    cost real not null default 0.0, updated_at integer not null, created_at integer not null,
    summary_message_id text, todos text);
create table files (
    id text primary key, session_id text not null, path text not null, content text not null,
    version integer not null default 0, created_at integer not null, updated_at integer not null);
create table messages (
    id text primary key, session_id text not null, role text not null, parts text not null default '[]', model text,
    created_at integer not null, updated_at integer not null, finished_at integer, provider text,
    is_summary_message integer not null default 0);
insert into sessions values
    ('0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', null, 'Faster tokenizer', 5, 425, 12846, 1.2500000000000002, 1767600300, 1767600000, null, null),
    ('m1$$call_back', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', 'Find the hot loop', 2, 9000, 75, 0.4, 1767600090, 1767600030, null, null),
    ('m2$$call_failed', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', 'Search the issues', 2, 800, 0, 0.05, 1767600120, 1767600100, null, null),
    ('7d2a9e10-4a5b-4f3c-8f21-000000000002', null, 'Two models, stopped', 4, 100, 5, 0.3, 1767700050, 1767700000, null, null),
    ('7d2a9e10-4a5b-4f3c-8f21-000000000003', null, 'Never asked', 0, 0, 0, 0.0, 1767800000, 1767800000, null, null),
    ('7d2a9e10-4a5b-4f3c-8f21-000000000004', null, 'New Session', 2, 100, 5, 0.0, 1767900050, 1767900000, null, null);
insert into messages values
    ('u1', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', 'user', '[{"type":"text","data":{"text":"Make the tokenizer faster."}},{"type":"finish","data":{"reason":"stop","time":0}}]', '', 1767600000, 1767600000, null, null, 0),
    ('m1', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', 'assistant', '[{"type":"reasoning","data":{"thinking":"Hm."}},{"type":"tool_call","data":{"id":"call_back","name":"agent","input":"{}","finished":true}},{"type":"tool_call","data":{"id":"call_failed","name":"agent","input":"{}","finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1767600025}}]', 'claude-sonnet-4-5', 1767600010, 1767600025, 1767600025, 'anthropic', 0),
    ('t1', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"call_back","content":"It is in split()."}},{"type":"tool_result","data":{"tool_call_id":"call_failed","content":"Failed to generate response","is_error":true}}]', '', 1767600120, 1767600120, null, 'anthropic', 0),
    ('m3', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', 'assistant', '[{"type":"text","data":{"text":"The tokenizer is 2x faster."}},{"type":"finish","data":{"reason":"end_turn","time":1767600300}}]', 'claude-sonnet-4-5', 1767600200, 1767600300, 1767600300, 'anthropic', 0),
    ('s1', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', 'assistant', '[{"type":"text","data":{"text":"A summary of it all."}},{"type":"finish","data":{"reason":"end_turn","time":1767600300}}]', 'claude-sonnet-4-5', 1767600300, 1767600300, 1767600300, 'anthropic', 1),
    ('c1', 'm1$$call_back', 'user', '[{"type":"text","data":{"text":"Find the hot loop."}}]', '', 1767600030, 1767600030, null, null, 0),
    ('c2', 'm1$$call_back', 'assistant', '[{"type":"text","data":{"text":"It is in split()."}},{"type":"finish","data":{"reason":"end_turn","time":1767600090}}]', 'claude-haiku-4-5', 1767600031, 1767600090, 1767600090, 'anthropic', 0),
    ('f1', 'm2$$call_failed', 'user', '[{"type":"text","data":{"text":"Search the issues."}}]', '', 1767600100, 1767600100, null, null, 0),
    ('f2', 'm2$$call_failed', 'assistant', '[{"type":"finish","data":{"reason":"error","time":1767600120,"message":"Provider Error","details":"429 Too Many Requests"}}]', 'claude-haiku-4-5', 1767600101, 1767600120, 1767600120, 'anthropic', 0),
    ('x1', '7d2a9e10-4a5b-4f3c-8f21-000000000002', 'user', '[{"type":"text","data":{"text":"Profile it."}}]', '', 1767700000, 1767700000, null, null, 0),
    ('x2', '7d2a9e10-4a5b-4f3c-8f21-000000000002', 'assistant', '[{"type":"text","data":{"text":"Profiling."}},{"type":"finish","data":{"reason":"end_turn","time":1767700020}}]', 'gpt-5-mini', 1767700005, 1767700020, 1767700020, 'openai', 0),
    ('x3', '7d2a9e10-4a5b-4f3c-8f21-000000000002', 'assistant', '[{"type":"finish","data":{"reason":"canceled","time":1767700050}}]', 'claude-opus-4-5', 1767700030, 1767700050, 1767700050, 'anthropic', 0),
    ('x4', '7d2a9e10-4a5b-4f3c-8f21-000000000002', 'tool', 'no JSON', '', 1767700050, 1767700050, null, null, 0),
    ('y1', '7d2a9e10-4a5b-4f3c-8f21-000000000004', 'user', '[{"type":"text","data":{"text":"Hello."}}]', '', 1767900000, 1767900000, null, null, 0),
    ('y2', '7d2a9e10-4a5b-4f3c-8f21-000000000004', 'assistant', '[{"type":"text","data":{"text":"Hello!"}}]', 'qwen3:8b', 1767900001, 1767900050, null, 'ollama', 0);
insert into files values
    ('v0', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', '/work/tokenizer/split.py', 'import re
a = 1
b = 2
', 0, 1767600210, 1767600210),
    ('v1', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', '/work/tokenizer/split.py', 'import re
a = 1
b = 3
', 1, 1767600220, 1767600220),
    ('v2', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', '/work/tokenizer/split.py', 'a = 1
b = 4
c = 5
', 2, 1767600230, 1767600230),
    ('w0', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', '/work/tokenizer/new.py', '', 0, 1767600240, 1767600240),
    ('w1', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', '/work/tokenizer/new.py', 'x = 1
y = 2', 1, 1767600250, 1767600250),
    ('z0', '0b9f1c2e-5a34-4c1e-9d0f-6a7b8c9d0e1f', '/work/tokenizer/same.py', 'z = 1
', 0, 1767600260, 1767600260);
