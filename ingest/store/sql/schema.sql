-- The tables of the store, version 5. Written by `make schema` from the row models in schemas/; do not edit.
-- No keys, constraints, sequences or indexes: the store is whatever DuckDB can attach.

create table store_meta (
    "schema_version" bigint not null,
    "created_by" varchar not null,
    "created_at" timestamptz not null
);
comment on table store_meta is 'The store''s own card: one row.';
comment on column store_meta."schema_version" is 'Version of the tables (schemas.rows.tables.SCHEMA_VERSION).';
comment on column store_meta."created_by" is 'Version of Tachograph that made the store.';
comment on column store_meta."created_at" is 'When the store was made (UTC).';

create table sources (
    "source_id" varchar not null,
    "name" varchar not null,
    "bytes" bigint not null,
    "kind" varchar not null,
    "container" varchar not null,
    "received_at" timestamptz not null,
    "documents" bigint not null,
    "accepted" bigint not null,
    "duplicates" bigint not null,
    "rejected" bigint not null,
    "ignored" bigint not null
);
comment on table sources is 'One file, upload or stream that was read. documents = accepted + duplicates + rejected + ignored.';
comment on column sources."source_id" is 'sha256 of the bytes.';
comment on column sources."name" is 'Path or file name it was read under.';
comment on column sources."bytes" is 'Size in bytes.';
comment on column sources."kind" is 'What it is: log, archive, sidecar; or no log and ignored: text, source, patch, json, csv, picture, binary or empty.';
comment on column sources."container" is 'How the documents lay in it: object, array, jsonl, concatenated, mixed or none.';
comment on column sources."received_at" is 'When it was first read (UTC).';
comment on column sources."documents" is 'Documents found in it.';
comment on column sources."accepted" is 'Documents that became runs.';
comment on column sources."duplicates" is 'Documents whose run was known already.';
comment on column sources."rejected" is 'Documents that could not be read; see rejects.';
comment on column sources."ignored" is 'Events that are no result record; 1 for a file that is no log.';

create table runs (
    "run_id" varchar not null,
    "source_id" varchar not null,
    "ordinal" bigint not null,
    "agent" varchar not null,
    "agent_version" varchar,
    "session_id" varchar,
    "started_at" timestamptz,
    "ended_at" timestamptz,
    "time_source" varchar,
    "subtype" varchar,
    "is_error" boolean,
    "api_error_status" bigint,
    "stop_reason" varchar,
    "terminal_reason" varchar,
    "outcome" varchar not null,
    "duration_ms" bigint,
    "duration_api_ms" bigint,
    "duration_api_own_ms" bigint,
    "ttft_ms" bigint,
    "num_turns" bigint,
    "cost_reported_usd" decimal(18, 9),
    "cost_own_usd" decimal(18, 9),
    "cost_list_usd" decimal(18, 9),
    "cost_delta_usd" decimal(18, 9),
    "cost_cause" varchar,
    "cost_uncached_usd" decimal(18, 9),
    "cost_cache_write_usd" decimal(18, 9),
    "price_status" varchar,
    "unpriced_tokens" bigint,
    "model" varchar,
    "provider" varchar,
    "region" varchar,
    "models" varchar[] not null,
    "model_costs_usd" decimal(18, 9)[] not null,
    "input_tokens" bigint,
    "output_tokens" bigint,
    "cache_read_tokens" bigint,
    "cache_write_tokens" bigint,
    "usage_input_tokens" bigint,
    "usage_output_tokens" bigint,
    "usage_cache_read_tokens" bigint,
    "usage_cache_write_tokens" bigint,
    "chain_id" varchar not null,
    "chain_position" bigint not null,
    "repo" varchar,
    "task" varchar,
    "experiment" varchar,
    "labels" map(varchar, varchar) not null,
    "requested_model" varchar,
    "cwd" varchar,
    "permission_mode" varchar,
    "tools" varchar[] not null,
    "base_commit" varchar,
    "head_commit" varchar,
    "task_status" varchar,
    "first_edit_ms" bigint,
    "patch_files" bigint,
    "patch_insertions" bigint,
    "patch_deletions" bigint,
    "in_stream" boolean not null,
    "record_rank" bigint not null,
    "context_rank" bigint not null,
    "permission_denials" bigint,
    "errors" varchar using compression zstd,
    "result" varchar using compression zstd,
    "result_repaired" boolean not null,
    "claims" bigint,
    "claimed_speedup" double,
    "claimed_metric" varchar,
    "claimed_evidence" varchar,
    "claimed_scope" varchar,
    "claimed_low" double,
    "claimed_high" double,
    "claimed_hedged" boolean,
    "claimed_subject" varchar,
    "claimed_quote" varchar,
    "findings" bigint,
    "error_findings" bigint,
    "raw" varchar not null using compression zstd
);
comment on table runs is 'One run: one result record of an agent.';
comment on column runs."run_id" is 'uuid of the record, else a hash of the canonical record.';
comment on column runs."source_id" is 'The source the record was read from (sources.source_id).';
comment on column runs."ordinal" is 'Number of the document within its source, from 0.';
comment on column runs."agent" is 'The agent that wrote the record, e.g. claude-code.';
comment on column runs."agent_version" is 'Version of the agent, where the surrounding stream says it.';
comment on column runs."session_id" is 'Session of the agent; resumed runs share one.';
comment on column runs."started_at" is 'When the run began (UTC).';
comment on column runs."ended_at" is 'When the run ended (UTC).';
comment on column runs."time_source" is 'Who says started_at and ended_at: stream, sidecar, path or file. NULL: nobody.';
comment on column runs."subtype" is '`subtype` as logged.';
comment on column runs."is_error" is '`is_error` as logged.';
comment on column runs."api_error_status" is 'HTTP status of the API error that ended the run.';
comment on column runs."stop_reason" is '`stop_reason` of the last model message, as logged.';
comment on column runs."terminal_reason" is '`terminal_reason`, why the loop ended, as logged.';
comment on column runs."outcome" is 'How the run ended, derived (schemas.rows.run.Outcome).';
comment on column runs."duration_ms" is 'Time from start to end of the run. In ms.';
comment on column runs."duration_api_ms" is '`duration_api_ms` as logged: in one process it is cumulative. In ms.';
comment on column runs."duration_api_own_ms" is 'API time this record added: in one process `duration_api_ms` is cumulative. Above the wall time where calls ran in parallel. In ms.';
comment on column runs."ttft_ms" is 'Time until the first token, where the record has it. In ms.';
comment on column runs."num_turns" is 'Round trips to the model, as the agent counts them.';
comment on column runs."cost_reported_usd" is '`total_cost_usd` as logged: the agent''s own estimate. In USD.';
comment on column runs."cost_own_usd" is 'What the agent says the run cost: its own estimate, without what earlier records of its chain cost already, so that a sum counts each dollar once. In USD.';
comment on column runs."cost_list_usd" is 'What this record added to its chain, at list prices (base tier). NULL where any of its models has no price. In USD.';
comment on column runs."cost_delta_usd" is 'cost_list_usd less cost_own_usd: above 0 where the list is dearer. In USD.';
comment on column runs."cost_cause" is 'Why the two differ (schemas.rows.cost.CostCause): the cause of the largest difference among the models. NULL where one of them is not known.';
comment on column runs."cost_uncached_usd" is 'List cost of the same tokens had nothing been cached. NULL as cost_list_usd. In USD.';
comment on column runs."cost_cache_write_usd" is 'The part of cost_list_usd that cache writes cost. NULL as cost_list_usd. In USD.';
comment on column runs."price_status" is 'unpriced where any of its models has no list price.';
comment on column runs."unpriced_tokens" is 'Tokens this record added of models that have no list price.';
comment on column runs."model" is 'The main model: the one that cost the most; model_usage has all of them.';
comment on column runs."provider" is 'Provider of the main model.';
comment on column runs."region" is 'Region of the main model''s endpoint.';
comment on column runs."models" is 'Every model the run used, sorted.';
comment on column runs."model_costs_usd" is 'The part of cost_own_usd of each of `models`, in their order. NULL where the record does not say it. In USD.';
comment on column runs."input_tokens" is 'Uncached input tokens this record added, over all models.';
comment on column runs."output_tokens" is 'Output tokens this record added, over all models, thinking included.';
comment on column runs."cache_read_tokens" is 'Input tokens this record added that were read from the cache, over all models.';
comment on column runs."cache_write_tokens" is 'Input tokens this record added that were written to the cache, over all models.';
comment on column runs."usage_input_tokens" is 'Uncached input of the main loop''s last turn group (`usage`).';
comment on column runs."usage_output_tokens" is 'Output of the main loop''s last turn group (`usage`).';
comment on column runs."usage_cache_read_tokens" is 'Cache read of the main loop''s last turn group (`usage`).';
comment on column runs."usage_cache_write_tokens" is 'Cache write of the main loop''s last turn group (`usage`).';
comment on column runs."chain_id" is 'The chain of cumulative records this one belongs to: the run_id of its first link.';
comment on column runs."chain_position" is 'Place of the record in its chain, from 1.';
comment on column runs."repo" is 'Repository worked on, where a label, a path or a sidecar says it.';
comment on column runs."task" is 'Task worked on, where a label, a path or a sidecar says it.';
comment on column runs."experiment" is 'Experiment the run belongs to, where a label says it.';
comment on column runs."labels" is 'Labels given at ingest (--label key=value).';
comment on column runs."requested_model" is 'Model the agent was started with, by the stream''s init event.';
comment on column runs."cwd" is 'Working directory of the agent, by the stream''s init event.';
comment on column runs."permission_mode" is 'Permission mode of the agent, by the stream''s init event.';
comment on column runs."tools" is 'Tools the agent had, by the stream''s init event.';
comment on column runs."base_commit" is 'Commit the work began from, by a sidecar.';
comment on column runs."head_commit" is 'Commit of the reference solution or of the result, by a sidecar.';
comment on column runs."task_status" is 'Status a sidecar gives the task, as logged.';
comment on column runs."first_edit_ms" is 'Time to the first edit, by a sidecar. In ms.';
comment on column runs."patch_files" is 'Files changed by the patch beside the record.';
comment on column runs."patch_insertions" is 'Lines inserted by the patch beside the record.';
comment on column runs."patch_deletions" is 'Lines deleted by the patch beside the record.';
comment on column runs."in_stream" is 'Whether the record came with the events of its run around it.';
comment on column runs."record_rank" is 'How much of itself the record tells; of two copies of one record the fuller one is kept.';
comment on column runs."context_rank" is 'How much is known around the record; of two equally full copies the better known one is kept.';
comment on column runs."permission_denials" is 'Tool calls that were denied permission.';
comment on column runs."errors" is 'Messages of an error record, one per line.';
comment on column runs."result" is 'The summary the run ended with, text damage repaired. NULL where the record has none.';
comment on column runs."result_repaired" is 'Whether `result` differs from the raw text because damage was repaired.';
comment on column runs."claims" is 'Quantified claims of the summary about the run''s own work. NULL where there is no summary.';
comment on column runs."claimed_speedup" is 'Ratio of the headline claim, above 1 = faster: of the own, quantified claims to be faster (time, throughput), measured before merely stated, then the broadest scope, then the strongest evidence, then the first in the text.';
comment on column runs."claimed_metric" is 'Metric of the headline claim: time or throughput.';
comment on column runs."claimed_evidence" is 'What the headline claim rests on.';
comment on column runs."claimed_scope" is 'How much of the software the headline claim covers.';
comment on column runs."claimed_low" is 'Lower end of the headline claim''s ratio, where it gives a range.';
comment on column runs."claimed_high" is 'Upper end of the headline claim''s ratio, where it gives a range.';
comment on column runs."claimed_hedged" is 'Whether the headline claim is hedged (`about`, `up to`).';
comment on column runs."claimed_subject" is 'What the headline claim is about, where the text says it.';
comment on column runs."claimed_quote" is 'The headline claim as written.';
comment on column runs."findings" is 'Findings of the rules about the run; see the table findings.';
comment on column runs."error_findings" is 'Findings of severity error.';
comment on column runs."raw" is 'The record as it was read, unknown fields included.';

create table model_usage (
    "run_id" varchar not null,
    "model_id" varchar,
    "model" varchar,
    "provider" varchar,
    "region" varchar,
    "input_tokens" bigint,
    "output_tokens" bigint,
    "thinking_tokens" bigint,
    "cache_read_tokens" bigint,
    "cache_write_tokens" bigint,
    "cache_write_5m_tokens" bigint,
    "cache_write_1h_tokens" bigint,
    "web_search_requests" bigint,
    "cost_reported_usd" decimal(18, 9),
    "cost_own_usd" decimal(18, 9),
    "own_input_tokens" bigint,
    "own_output_tokens" bigint,
    "own_cache_read_tokens" bigint,
    "own_cache_write_tokens" bigint,
    "own_cache_write_1h_tokens" bigint,
    "own_web_search_requests" bigint,
    "cost_list_usd" decimal(18, 9),
    "cost_delta_usd" decimal(18, 9),
    "cost_cause" varchar,
    "cost_uncached_usd" decimal(18, 9),
    "cost_cache_write_usd" decimal(18, 9),
    "price_status" varchar,
    "price_date" date,
    "price_source" varchar,
    "cost_basis" varchar,
    "context_window" bigint
);
comment on table model_usage is 'Tokens and cost of one model in one run, from `modelUsage` (from `usage` where an old record has no other).';
comment on column model_usage."run_id" is 'The run (runs.run_id).';
comment on column model_usage."model_id" is 'Model id as logged. NULL where the record names no model.';
comment on column model_usage."model" is 'Model the id stands for, without date, region and context suffix.';
comment on column model_usage."provider" is 'Who served the model: anthropic, aws, google, openrouter, …';
comment on column model_usage."region" is 'Region of the endpoint: us, eu, global, us-east-1, …';
comment on column model_usage."input_tokens" is 'Uncached input tokens.';
comment on column model_usage."output_tokens" is 'Output tokens, thinking included.';
comment on column model_usage."thinking_tokens" is 'Thinking tokens, a part of output_tokens.';
comment on column model_usage."cache_read_tokens" is 'Input tokens read from the cache.';
comment on column model_usage."cache_write_tokens" is 'Input tokens written to the cache.';
comment on column model_usage."cache_write_5m_tokens" is 'Cache writes kept for 5 minutes. NULL where the record does not tell them apart.';
comment on column model_usage."cache_write_1h_tokens" is 'Cache writes kept for 1 hour. NULL where the record does not tell them apart.';
comment on column model_usage."web_search_requests" is 'Web searches by the model''s server tool.';
comment on column model_usage."cost_reported_usd" is '`costUSD` as logged. In USD.';
comment on column model_usage."cost_own_usd" is 'What this record added to its chain. Every sum of cost uses it. In USD.';
comment on column model_usage."own_input_tokens" is 'Uncached input tokens this record added to its chain.';
comment on column model_usage."own_output_tokens" is 'Output tokens this record added to its chain.';
comment on column model_usage."own_cache_read_tokens" is 'Cache read tokens this record added to its chain.';
comment on column model_usage."own_cache_write_tokens" is 'Cache write tokens this record added to its chain.';
comment on column model_usage."own_cache_write_1h_tokens" is 'Of those, the ones kept for 1 hour; the others are 5-minute writes. NULL where the record does not tell them apart: list prices then take all of them for 5-minute writes.';
comment on column model_usage."own_web_search_requests" is 'Web searches this record added to its chain.';
comment on column model_usage."cost_list_usd" is 'What this record added to its chain, at list prices (base tier). NULL where the model has no price, or a class of tokens is not known. In USD.';
comment on column model_usage."cost_delta_usd" is 'cost_list_usd less cost_own_usd: above 0 where the list is dearer. In USD.';
comment on column model_usage."cost_cause" is 'Why the two differ, found by recomputation (schemas.rows.cost.CostCause). NULL where one of them is not known.';
comment on column model_usage."cost_uncached_usd" is 'List cost of the same tokens had nothing been cached. NULL as cost_list_usd. In USD.';
comment on column model_usage."cost_cache_write_usd" is 'The part of cost_list_usd that cache writes cost. NULL as cost_list_usd. In USD.';
comment on column model_usage."price_status" is 'priced or unpriced; NULL where list prices were not looked up.';
comment on column model_usage."price_date" is 'Day (UTC) whose prices were taken: that of the run, else that on which its source was first read.';
comment on column model_usage."price_source" is 'Where the prices are from: the library''s release and entry, or the entry of the price file.';
comment on column model_usage."cost_basis" is '`costBasis` as logged; `unknown` means the agent guessed the price.';
comment on column model_usage."context_window" is 'Context window the agent assumed, in tokens.';

create table tool_calls (
    "run_id" varchar not null,
    "tool" varchar not null,
    "calls" bigint not null,
    "errors" bigint not null
);
comment on table tool_calls is 'Calls of one tool in one run, counted in the stream around its record.';
comment on column tool_calls."run_id" is 'The run (runs.run_id).';
comment on column tool_calls."tool" is 'Name of the tool.';
comment on column tool_calls."calls" is 'Calls of the tool.';
comment on column tool_calls."errors" is 'Calls whose result was an error.';

create table claims (
    "run_id" varchar not null,
    "claim_no" bigint not null,
    "start" bigint not null,
    "end" bigint not null,
    "quote" varchar not null using compression zstd,
    "kind" varchar not null,
    "metric" varchar not null,
    "direction" varchar not null,
    "ratio" double,
    "ratio_low" double,
    "ratio_high" double,
    "before" double,
    "after" double,
    "unit" varchar,
    "evidence" varchar not null,
    "scope" varchar not null,
    "hedged" boolean not null,
    "origin" varchar not null,
    "subject" varchar
);
comment on table claims is 'One performance claim of a summary. Offsets are Unicode code points into runs.result, the end exclusive.';
comment on column claims."run_id" is 'The run (runs.run_id).';
comment on column claims."claim_no" is 'Number of the claim in its summary, from 1.';
comment on column claims."start" is 'Where the value expression starts in runs.result.';
comment on column claims."end" is 'Where the value expression ends in runs.result, exclusive.';
comment on column claims."quote" is 'The value expression.';
comment on column claims."kind" is 'quantified or qualitative.';
comment on column claims."metric" is 'The quantity claimed to have changed.';
comment on column claims."direction" is 'better, worse or same.';
comment on column claims."ratio" is 'Improvement factor, above 1 = better. NULL where the change is no ratio.';
comment on column claims."ratio_low" is 'Lower end of a claimed range.';
comment on column claims."ratio_high" is 'Upper end of a claimed range.';
comment on column claims."before" is 'Figure before the change, as written, in `unit`.';
comment on column claims."after" is 'Figure after the change, as written, in `unit`.';
comment on column claims."unit" is 'Unit of before and after, as written.';
comment on column claims."evidence" is 'What the claim rests on.';
comment on column claims."scope" is 'How much of the software the claim covers.';
comment on column claims."hedged" is 'Whether the text hedges the number (~, about, up to).';
comment on column claims."origin" is 'own, or cited from somebody else.';
comment on column claims."subject" is 'What the claim is about.';

create table file_changes (
    "run_id" varchar not null,
    "path" varchar not null,
    "insertions" bigint,
    "deletions" bigint
);
comment on table file_changes is 'A file the summary says was changed.';
comment on column file_changes."run_id" is 'The run (runs.run_id).';
comment on column file_changes."path" is 'Path as the text gives it.';
comment on column file_changes."insertions" is 'Lines the text says were inserted.';
comment on column file_changes."deletions" is 'Lines the text says were deleted.';

create table patch_files (
    "run_id" varchar not null,
    "path" varchar not null,
    "insertions" bigint not null,
    "deletions" bigint not null
);
comment on table patch_files is 'A file that the patch beside a run''s record changes: what was done, where `file_changes` is what the summary says.';
comment on column patch_files."run_id" is 'The run (runs.run_id).';
comment on column patch_files."path" is 'Path in the patch, after the change.';
comment on column patch_files."insertions" is 'Lines inserted.';
comment on column patch_files."deletions" is 'Lines deleted.';

create table statements (
    "run_id" varchar not null,
    "statement_no" bigint not null,
    "kind" varchar not null,
    "start" bigint not null,
    "end" bigint not null,
    "quote" varchar not null using compression zstd,
    "subject" varchar,
    "count" bigint
);
comment on table statements is 'One fact that a summary states beside its claims. Offsets are Unicode code points into runs.result, the end exclusive.';
comment on column statements."run_id" is 'The run (runs.run_id).';
comment on column statements."statement_no" is 'Number of the statement in its summary, from 1.';
comment on column statements."kind" is 'commit, artefact, tests_passed, tests_failed, files_changed, lines_inserted or lines_deleted.';
comment on column statements."start" is 'Where the statement starts in runs.result.';
comment on column statements."end" is 'Where the statement ends in runs.result, exclusive.';
comment on column statements."quote" is 'The words that say it.';
comment on column statements."subject" is 'The commit''s hash or the artefact''s path, as the text gives it.';
comment on column statements."count" is 'Tests, files or lines, as the text counts them; of an artefact, its lines. NULL: not said.';

create table findings (
    "run_id" varchar not null,
    "rule" varchar not null,
    "severity" varchar not null,
    "message" varchar not null using compression zstd,
    "expected" varchar,
    "actual" varchar
);
comment on table findings is 'Something a rule noticed about a run: what was expected and what was found.';
comment on column findings."run_id" is 'The run (runs.run_id).';
comment on column findings."rule" is 'Name of the rule (ingest.findings.rules).';
comment on column findings."severity" is 'info, warning or error.';
comment on column findings."message" is 'What was noticed, in plain words.';
comment on column findings."expected" is 'What the rule expected.';
comment on column findings."actual" is 'What it found.';

create table rejects (
    "source_id" varchar not null,
    "ordinal" bigint not null,
    "position" varchar not null,
    "reason" varchar not null,
    "detail" varchar not null using compression zstd,
    "excerpt" varchar not null using compression zstd
);
comment on table rejects is 'One document that could not be read as a run.';
comment on column rejects."source_id" is 'The source (sources.source_id).';
comment on column rejects."ordinal" is 'Number of the document within its source, from 0.';
comment on column rejects."position" is 'Where in the source it starts: line and byte offset.';
comment on column rejects."reason" is 'Why, as a word (schemas.errors.RejectReason).';
comment on column rejects."detail" is 'Why, in words: the field and what was wrong with it.';
comment on column rejects."excerpt" is 'The beginning of the document.';

create table price_files (
    "name" varchar not null,
    "text" varchar not null using compression zstd,
    "read_at" timestamptz not null
);
comment on table price_files is 'The user''s own prices: at most one row, which wins over the price library.';
comment on column price_files."name" is 'Path or file name it was read under.';
comment on column price_files."text" is 'The file as it was read (TOML).';
comment on column price_files."read_at" is 'When it was read (UTC).';
