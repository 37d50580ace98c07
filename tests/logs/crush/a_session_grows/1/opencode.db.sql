create table sessions (
    id text primary key, parent_session_id text, title text not null, message_count integer not null default 0,
    prompt_tokens integer not null default 0, completion_tokens integer not null default 0,
    cost real not null default 0.0, updated_at integer not null, created_at integer not null);
create table messages (
    id text primary key, session_id text not null, role text not null, parts text not null default '[]', model text,
    created_at integer not null, updated_at integer not null, finished_at integer);
insert into sessions values ('5c0e6a52-1111-4222-8333-0123456789ac', null, 'Grows', 2, 0, 0, 0.01, 1745748600, 1745748538);
insert into messages values
    ('a', '5c0e6a52-1111-4222-8333-0123456789ac', 'user', '[{"type":"text","data":{"text":"Grow."}}]', '', 1745748538, 1745748538, null),
    ('b', '5c0e6a52-1111-4222-8333-0123456789ac', 'assistant', '[{"type":"text","data":{"text":"Gro"}}]', 'gpt-4.1', 1745748540, 1745748550, null);
