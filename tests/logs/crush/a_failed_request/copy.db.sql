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
    ('7d2a9e10-4a5b-4f3c-8f21-00000000000a', null, 'Refused', 2, 10, 0, 0.002, 1767990050, 1767990000, null, null);
insert into messages values
    ('r1', '7d2a9e10-4a5b-4f3c-8f21-00000000000a', 'user', '[{"type":"text","data":{"text":"Do it."}}]', '', 1767990000, 1767990000, null, null, 0),
    ('r2', '7d2a9e10-4a5b-4f3c-8f21-00000000000a', 'assistant', '[{"type":"finish","data":{"reason":"content_filter","time":1767990050}}]', 'claude-haiku-4-5', 1767990001, 1767990050, 1767990050, 'anthropic', 0);
