-- The tables of the store, version 16. Written by `make schema` from the row models in schemas/; do not edit.
-- No keys, constraints, sequences or indexes: the store is whatever DuckDB can attach.

create table store_meta (
    "schema_version" bigint not null,
    "created_by" varchar not null,
    "created_at" timestamptz not null,
    "last_ingest" bigint not null
);
comment on table store_meta is 'The store''s own card: one row.';
comment on column store_meta."schema_version" is 'Version of the tables (schemas.store_version.SCHEMA_VERSION).';
comment on column store_meta."created_by" is 'Version of Tachograph that made the store.';
comment on column store_meta."created_at" is 'When the store was made (UTC).';
comment on column store_meta."last_ingest" is 'Number of the last ingest that was written, undone or not.';

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
    "ignored" bigint not null,
    "ingest_id" bigint,
    "modified_ns" bigint,
    "resume_at" bigint,
    "ingested_by" varchar,
    "tool_version" varchar,
    "goes_on" varchar
);
comment on table sources is 'One file, upload or stream that was read. documents = accepted + duplicates + rejected + ignored.';
comment on column sources."source_id" is 'sha256 of the file''s bytes.';
comment on column sources."name" is 'Path or file name.';
comment on column sources."bytes" is 'Size in bytes.';
comment on column sources."kind" is 'log, archive, sidecar, measurement or loop; or, ignored: text, source, patch, json, csv, picture, binary or empty.';
comment on column sources."container" is 'How the records are stored in the file: object, array, jsonl, concatenated, mixed or none.';
comment on column sources."received_at" is 'When the file was first ingested (UTC).';
comment on column sources."documents" is 'Records and other events found in the file.';
comment on column sources."accepted" is 'New runs.';
comment on column sources."duplicates" is 'Duplicates: runs that were in the store already.';
comment on column sources."rejected" is 'Records that could not be read; see rejects.';
comment on column sources."ignored" is 'Events other than result records; 1 for a file that is no log.';
comment on column sources."ingest_id" is 'The ingest that read it. Empty: an ingest before version 6 of the tables.';
comment on column sources."modified_ns" is 'When the file was last modified as it was read, in ns since 1970 (UTC). A file with the same path, size and time is not read again. Empty: no file, or modified less than two seconds before.';
comment on column sources."resume_at" is 'Of a session transcript: the byte from which a later ingest reads on where the file has grown.';
comment on column sources."ingested_by" is 'Who ingested it: user@host, or the signed-in visitor of a dashboard.';
comment on column sources."tool_version" is 'Version of Tachograph that ingested it.';
comment on column sources."goes_on" is 'Of a file that has grown, and was read before: the source with its beginning.';

create table runs (
    "run_id" varchar not null,
    "source_id" varchar not null,
    "ordinal" bigint not null,
    "title" varchar,
    "prompt" varchar using compression zstd,
    "agent" varchar not null,
    "agent_version" varchar,
    "session_id" varchar,
    "parent_run_id" varchar,
    "record_kind" varchar not null,
    "started_at" timestamptz,
    "ended_at" timestamptz,
    "time_source" varchar,
    "subtype" varchar,
    "is_error" boolean,
    "api_error_status" bigint,
    "stop_reason" varchar,
    "terminal_reason" varchar,
    "outcome" varchar not null,
    "score" double,
    "duration_ms" bigint,
    "active_ms" bigint,
    "duration_api_ms" bigint,
    "duration_api_own_ms" bigint,
    "ttft_ms" bigint,
    "num_turns" bigint,
    "cost_reported_usd" decimal(18, 9),
    "credits" double,
    "credits_unit" varchar,
    "cost_own_usd" decimal(18, 9),
    "cost_beyond_total_usd" decimal(18, 9),
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
    "tokens_basis" varchar not null,
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
    "trial_id" varchar,
    "origins" map(varchar, varchar) not null,
    "requested_model" varchar,
    "branch" varchar,
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
    "patch_sha256" varchar,
    "in_stream" boolean not null,
    "part_ids" varchar[] not null,
    "streamed_tokens" bigint,
    "record_rank" bigint not null,
    "context_rank" bigint not null,
    "permission_denials" bigint,
    "errors" varchar using compression zstd,
    "result" varchar using compression zstd,
    "result_repaired" boolean not null,
    "responses" bigint,
    "subagents" bigint,
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
    "claimed_confidence" double,
    "findings" bigint,
    "error_findings" bigint,
    "raw" varchar not null using compression zstd
);
comment on table runs is 'One run: one result record of an agent.';
comment on column runs."run_id" is 'Id of the run: the uuid of its record, otherwise a hash of the record.';
comment on column runs."source_id" is 'Id of the file the record was read from.';
comment on column runs."ordinal" is 'Number of the record within its file, from 0.';
comment on column runs."title" is 'First line of the prompt, else the first sentence of the summary that says something. v_runs.title has the task before it.';
comment on column runs."prompt" is 'What the user asked for, from the event stream or a sidecar file. Long prompts are cut.';
comment on column runs."agent" is 'The agent that wrote the record, e.g. claude-code.';
comment on column runs."agent_version" is 'Version of the agent, from the event stream.';
comment on column runs."session_id" is 'Session of the agent. Resumed runs share a session.';
comment on column runs."parent_run_id" is 'Run that started this one as a sub-agent, or that it was forked from.';
comment on column runs."record_kind" is 'Kind of the record: result, stream, transcript, trajectory, …';
comment on column runs."started_at" is 'When the run began (UTC).';
comment on column runs."ended_at" is 'When the run ended (UTC).';
comment on column runs."time_source" is 'Where the timestamps come from: stream, sidecar, record, path, file or trusted_file. Empty: no timestamp.';
comment on column runs."subtype" is '`subtype` as logged.';
comment on column runs."is_error" is '`is_error` as logged.';
comment on column runs."api_error_status" is 'HTTP status of the API error that ended the run.';
comment on column runs."stop_reason" is '`stop_reason` of the last model message, as logged.';
comment on column runs."terminal_reason" is '`terminal_reason`, why the loop ended, as logged.';
comment on column runs."outcome" is 'How the run ended: completed, limit reached, API error, …';
comment on column runs."score" is 'Result of the task''s evaluation: 1 is solved, 0 is not. Not the outcome of the run.';
comment on column runs."duration_ms" is 'Time from start to end of the run. In ms.';
comment on column runs."active_ms" is 'Time in which the agent worked: without the time in which a session waited for its user. Empty: not known. In ms.';
comment on column runs."duration_api_ms" is 'Time in API calls as logged: within one process it includes earlier runs. In ms.';
comment on column runs."duration_api_own_ms" is 'Time in API calls, excluding earlier runs in the same process. Above wall time: calls ran in parallel. In ms.';
comment on column runs."ttft_ms" is 'Time until the first token. In ms.';
comment on column runs."num_turns" is 'Round trips to the model, as counted by the agent.';
comment on column runs."cost_reported_usd" is '`total_cost_usd` as logged. It may include earlier runs in the same session, and leave out sub-agents: sums use the reported cost. Empty for $0 where tokens were used. In USD.';
comment on column runs."credits" is 'What the agent reported in a unit other than dollars.';
comment on column runs."credits_unit" is 'Unit of the credits: premium requests, credits, …';
comment on column runs."cost_own_usd" is 'Cost the agent reported for this run (an estimate), excluding earlier runs in the same session: its total, or the sum of its models where that is larger. Empty for $0 where tokens were used. In USD.';
comment on column runs."cost_beyond_total_usd" is 'What the models of the run cost more than the total that its record states. A part of the reported cost. In USD.';
comment on column runs."cost_list_usd" is 'Cost of the run''s tokens at list prices. Empty where a model of the run is unpriced. In USD.';
comment on column runs."cost_delta_usd" is 'List-price cost minus reported cost. Positive: list price is higher than reported. In USD.';
comment on column runs."cost_cause" is 'Why list-price cost and reported cost differ; of several causes the largest. Empty where one of the costs is unknown.';
comment on column runs."cost_uncached_usd" is 'List-price cost if cache reads and writes were billed as regular input. Empty where the list-price cost is. In USD.';
comment on column runs."cost_cache_write_usd" is 'The part of the list-price cost that comes from cache writes. Empty where the list-price cost is. In USD.';
comment on column runs."price_status" is 'unpriced where a model of the run has no list price, or a class of its tokens is not known.';
comment on column runs."unpriced_tokens" is 'Tokens of models without a list-price cost.';
comment on column runs."model" is 'The most expensive model of the run.';
comment on column runs."provider" is 'Provider of the main model.';
comment on column runs."region" is 'Region of the main model''s endpoint.';
comment on column runs."models" is 'All models the run used.';
comment on column runs."model_costs_usd" is 'Reported cost of each of `models`, in the same order. Empty where the record does not have it. In USD.';
comment on column runs."input_tokens" is 'Input tokens of the run neither read from nor written to the cache, all models.';
comment on column runs."output_tokens" is 'Output tokens of the run, all models, including thinking.';
comment on column runs."cache_read_tokens" is 'Input tokens of the run that were read from the cache, all models.';
comment on column runs."cache_write_tokens" is 'Input tokens of the run that were written to the cache, all models.';
comment on column runs."tokens_basis" is 'How far the tokens of the run can be trusted: exact, upper_bound, lower_bound, estimate or unknown.';
comment on column runs."usage_input_tokens" is 'Uncached input of the main loop''s last turn group (`usage`).';
comment on column runs."usage_output_tokens" is 'Output of the main loop''s last turn group (`usage`).';
comment on column runs."usage_cache_read_tokens" is 'Cache read of the main loop''s last turn group (`usage`).';
comment on column runs."usage_cache_write_tokens" is 'Cache write of the main loop''s last turn group (`usage`).';
comment on column runs."chain_id" is 'Runs of one session whose totals are cumulative share this id: the run_id of the first.';
comment on column runs."chain_position" is 'Position among the runs of one session whose totals are cumulative, from 1.';
comment on column runs."repo" is 'Repository the run worked on, from a label, the file path or a sidecar file.';
comment on column runs."task" is 'Task the run worked on, from a label, the file path or a sidecar file.';
comment on column runs."experiment" is 'Experiment the run belongs to, from its labels.';
comment on column runs."labels" is 'Labels given at ingest (--label key=value).';
comment on column runs."trial_id" is 'Trial of a benchmark harness that the run was; its logs are records of one run.';
comment on column runs."origins" is 'Of a run with several records: figure → file of the record it comes from, where that is not the kept one.';
comment on column runs."requested_model" is 'Model the agent was started with, from the event stream.';
comment on column runs."branch" is 'Branch that the agent worked on.';
comment on column runs."cwd" is 'Working directory of the agent, from the event stream.';
comment on column runs."permission_mode" is 'Permission mode of the agent, from the event stream.';
comment on column runs."tools" is 'Tools the agent had, from the event stream.';
comment on column runs."base_commit" is 'Commit the work started from, from a sidecar file.';
comment on column runs."head_commit" is 'Commit of the reference solution or of the result, from a sidecar file.';
comment on column runs."task_status" is 'Status of the task in a sidecar file, as logged.';
comment on column runs."first_edit_ms" is 'Time to the first edit, from a sidecar file. In ms.';
comment on column runs."patch_files" is 'Files changed by the patch file of the run.';
comment on column runs."patch_insertions" is 'Lines inserted by the patch file of the run.';
comment on column runs."patch_deletions" is 'Lines deleted by the patch file of the run.';
comment on column runs."patch_sha256" is 'sha256 of the patch file of the run.';
comment on column runs."in_stream" is 'Whether the record came with the event stream of its run.';
comment on column runs."part_ids" is 'Ids of what is a part of the run: streams, each with the best id first, and later results that follow from it.';
comment on column runs."streamed_tokens" is 'All tokens that went into the responses of its stream since the result before: what its totals grew by.';
comment on column runs."record_rank" is 'How complete the record is. Of two copies of one record the more complete one is kept.';
comment on column runs."context_rank" is 'How much context the record has. Of two equally complete copies the one with more context is kept.';
comment on column runs."permission_denials" is 'Tool calls that were denied permission.';
comment on column runs."errors" is 'Messages of an error record, one per line.';
comment on column runs."result" is 'Summary the agent wrote at the end of the run. Damaged characters are repaired.';
comment on column runs."result_repaired" is 'Whether damaged characters of the summary were repaired.';
comment on column runs."responses" is 'Billed model responses in the transcript of the run. Empty: no transcript was read.';
comment on column runs."subagents" is 'Sub-agents whose responses are in the transcript of the run.';
comment on column runs."claims" is 'Claims with a number that the summary makes about the run''s own work, without those of low confidence. Empty where there is no summary.';
comment on column runs."claimed_speedup" is 'Ratio of the top claim. Above 1: faster. The top claim is the run''s own quantified claim to be faster (time, throughput) with the best evidence, then the broadest scope, then the first in the text.';
comment on column runs."claimed_metric" is 'Metric of the top claim: time or throughput.';
comment on column runs."claimed_evidence" is 'Evidence of the top claim: method stated, before–after values, a number only, or a projection.';
comment on column runs."claimed_scope" is 'How much of the software the top claim covers.';
comment on column runs."claimed_low" is 'Lower end of the top claim''s range.';
comment on column runs."claimed_high" is 'Upper end of the top claim''s range.';
comment on column runs."claimed_hedged" is 'Whether the top claim is qualified (~, about, up to).';
comment on column runs."claimed_subject" is 'What the top claim is about.';
comment on column runs."claimed_quote" is 'The top claim as the summary words it.';
comment on column runs."claimed_confidence" is 'Probability that the top claim is read rightly, from 0 to 1. A claim of low confidence is never the top claim.';
comment on column runs."findings" is 'Number of findings about the run.';
comment on column runs."error_findings" is 'Number of findings of severity error.';
comment on column runs."raw" is 'The record as it was read, unknown fields included.';

create table model_usage (
    "run_id" varchar not null,
    "model_id" varchar,
    "model" varchar,
    "provider" varchar,
    "region" varchar,
    "input_tokens" bigint,
    "output_tokens" bigint,
    "reasoning_tokens" bigint,
    "cache_read_tokens" bigint,
    "cache_write_tokens" bigint,
    "cache_write_5m_tokens" bigint,
    "cache_write_1h_tokens" bigint,
    "web_search_requests" bigint,
    "tokens_basis" varchar not null,
    "tokens_basis_reason" varchar,
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
comment on column model_usage."run_id" is 'Id of the run.';
comment on column model_usage."model_id" is 'Model id as logged. Empty where the record names no model.';
comment on column model_usage."model" is 'Canonical model, without date, region and context suffix of the id.';
comment on column model_usage."provider" is 'Provider of the model: anthropic, aws, google, openrouter, …';
comment on column model_usage."region" is 'Region of the endpoint: us, eu, global, us-east-1, …';
comment on column model_usage."input_tokens" is 'Input tokens neither read from nor written to the cache.';
comment on column model_usage."output_tokens" is 'Output tokens, including thinking.';
comment on column model_usage."reasoning_tokens" is 'Reasoning (thinking) tokens: a part of the output tokens.';
comment on column model_usage."cache_read_tokens" is 'Input tokens read from the cache.';
comment on column model_usage."cache_write_tokens" is 'Input tokens written to the cache.';
comment on column model_usage."cache_write_5m_tokens" is 'Cache writes kept for 5 minutes. Empty where the record does not split cache writes.';
comment on column model_usage."cache_write_1h_tokens" is 'Cache writes kept for 1 hour. Empty where the record does not split cache writes.';
comment on column model_usage."web_search_requests" is 'Web searches by the provider''s server-side tool.';
comment on column model_usage."tokens_basis" is 'exact, upper_bound, lower_bound, estimate or unknown.';
comment on column model_usage."tokens_basis_reason" is 'Why the tokens are not exact.';
comment on column model_usage."cost_reported_usd" is '`costUSD` as logged. Empty for $0 where tokens were used. In USD.';
comment on column model_usage."cost_own_usd" is 'Cost the agent reported for the model in this run, excluding earlier runs in the same session. In USD.';
comment on column model_usage."own_input_tokens" is 'Uncached input tokens, excluding earlier runs in the same session.';
comment on column model_usage."own_output_tokens" is 'Output tokens, excluding earlier runs in the same session.';
comment on column model_usage."own_cache_read_tokens" is 'Cache reads, excluding earlier runs in the same session.';
comment on column model_usage."own_cache_write_tokens" is 'Cache writes, excluding earlier runs in the same session.';
comment on column model_usage."own_cache_write_1h_tokens" is 'Of those, the 1-hour cache writes; the others are 5-minute writes. Empty where the record does not split them: all are then priced as 5-minute writes.';
comment on column model_usage."own_web_search_requests" is 'Web searches, excluding earlier runs in the same session.';
comment on column model_usage."cost_list_usd" is 'Cost of the model''s tokens at list prices: the sum of its responses where they are known, else at the base tier. Empty where the model has no list price or token counts are unknown. In USD.';
comment on column model_usage."cost_delta_usd" is 'List-price cost minus reported cost. Positive: list price is higher than reported. In USD.';
comment on column model_usage."cost_cause" is 'Why list-price cost and reported cost differ, found by recomputing. Empty where one of the costs is unknown.';
comment on column model_usage."cost_uncached_usd" is 'List-price cost if cache reads and writes were billed as regular input. Empty where the list-price cost is. In USD.';
comment on column model_usage."cost_cache_write_usd" is 'The part of the list-price cost that comes from cache writes. Empty where the list-price cost is. In USD.';
comment on column model_usage."price_status" is 'priced or unpriced. Empty where list prices were not looked up.';
comment on column model_usage."price_date" is 'Day (UTC) of the prices: that of the run or of its last response, otherwise the day its file was ingested.';
comment on column model_usage."price_source" is 'Origin of the prices: release and entry of the price library, or entry of the price file.';
comment on column model_usage."cost_basis" is '`costBasis` as logged; `unknown`: the agent guessed the price.';
comment on column model_usage."context_window" is 'Context window assumed by the agent, in tokens.';

create table tool_calls (
    "run_id" varchar not null,
    "tool" varchar not null,
    "calls" bigint not null,
    "errors" bigint
);
comment on table tool_calls is 'Calls of one tool in one run, counted in the stream around its record.';
comment on column tool_calls."run_id" is 'Id of the run.';
comment on column tool_calls."tool" is 'Name of the tool.';
comment on column tool_calls."calls" is 'Calls of the tool.';
comment on column tool_calls."errors" is 'Calls whose result was an error. Empty where the log does not say.';

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
    "subject" varchar,
    "confidence" double
);
comment on table claims is 'One performance claim of a summary. Offsets are Unicode code points into runs.result, the end exclusive.';
comment on column claims."run_id" is 'Id of the run.';
comment on column claims."claim_no" is 'Number of the claim within its summary, from 1.';
comment on column claims."start" is 'Position in the summary where the claim starts.';
comment on column claims."end" is 'Position in the summary where the claim ends.';
comment on column claims."quote" is 'The claim as the summary words it.';
comment on column claims."kind" is 'quantified: with a number; qualitative: without one.';
comment on column claims."metric" is 'The quantity claimed to have changed.';
comment on column claims."direction" is 'better, worse or same.';
comment on column claims."ratio" is 'Improvement factor. Above 1: better. Empty where the claim gives no ratio.';
comment on column claims."ratio_low" is 'Lower end of a claimed range.';
comment on column claims."ratio_high" is 'Upper end of a claimed range.';
comment on column claims."before" is 'Value before the change, as written.';
comment on column claims."after" is 'Value after the change, as written.';
comment on column claims."unit" is 'Unit of the values before and after, as written.';
comment on column claims."evidence" is 'How well the text supports the claim: method stated, before–after values, a number only, or a projection.';
comment on column claims."scope" is 'How much of the software the claim covers.';
comment on column claims."hedged" is 'Whether the text qualifies the number (~, about, up to).';
comment on column claims."origin" is 'own: about the run''s own work; quoted: from somebody else.';
comment on column claims."subject" is 'What the claim is about.';
comment on column claims."confidence" is 'Probability that the claim is read rightly, from 0 to 1. Below 80% it is hidden and counted nowhere. Empty for claims without a number.';

create table file_changes (
    "run_id" varchar not null,
    "path" varchar not null,
    "insertions" bigint,
    "deletions" bigint
);
comment on table file_changes is 'A file the summary says was changed.';
comment on column file_changes."run_id" is 'Id of the run.';
comment on column file_changes."path" is 'Path as the summary names it.';
comment on column file_changes."insertions" is 'Inserted lines according to the summary.';
comment on column file_changes."deletions" is 'Deleted lines according to the summary.';

create table patch_files (
    "run_id" varchar not null,
    "path" varchar not null,
    "insertions" bigint not null,
    "deletions" bigint not null
);
comment on table patch_files is 'A file that the patch beside a run''s record changes: what was done, where `file_changes` is what the summary says.';
comment on column patch_files."run_id" is 'Id of the run.';
comment on column patch_files."path" is 'Path in the patch, after the change.';
comment on column patch_files."insertions" is 'Lines inserted.';
comment on column patch_files."deletions" is 'Lines deleted.';

create table patches (
    "run_id" varchar not null,
    "file_name" varchar not null,
    "bytes" bigint not null,
    "is_cut" boolean not null,
    "text" varchar not null using compression zstd
);
comment on table patches is 'The text of the patch beside a run''s record. Not kept with `--no-text`.';
comment on column patches."run_id" is 'Id of the run.';
comment on column patches."file_name" is 'Name of the file with the patch.';
comment on column patches."bytes" is 'Size of the whole patch in bytes.';
comment on column patches."is_cut" is 'Whether only the beginning is kept.';
comment on column patches."text" is 'The patch, up to a mebibyte.';

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
comment on column statements."run_id" is 'Id of the run.';
comment on column statements."statement_no" is 'Number of the statement in its summary, from 1.';
comment on column statements."kind" is 'commit, artefact, tests_passed, tests_failed, files_changed, lines_inserted or lines_deleted.';
comment on column statements."start" is 'Position in the summary where the statement starts.';
comment on column statements."end" is 'Position in the summary where the statement ends.';
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
comment on table findings is 'What a rule noticed about a run, with the expected and the actual value.';
comment on column findings."run_id" is 'Id of the run.';
comment on column findings."rule" is 'Name of the rule.';
comment on column findings."severity" is 'info, warning or error.';
comment on column findings."message" is 'What was found.';
comment on column findings."expected" is 'Expected value.';
comment on column findings."actual" is 'Actual value.';

create table responses (
    "request_id" varchar,
    "at" timestamptz,
    "agent_id" varchar,
    "agent_type" varchar,
    "agent_description" varchar,
    "is_sidechain" boolean not null,
    "model_id" varchar,
    "model" varchar,
    "provider" varchar,
    "region" varchar,
    "input_tokens" bigint,
    "output_tokens" bigint,
    "reasoning_tokens" bigint,
    "cache_read_tokens" bigint,
    "cache_write_tokens" bigint,
    "cache_write_5m_tokens" bigint,
    "cache_write_1h_tokens" bigint,
    "web_search_requests" bigint,
    "service_tier" varchar,
    "speed" varchar,
    "inference_geo" varchar,
    "stop_reason" varchar,
    "output_is_final" boolean not null,
    "tokens_basis" varchar not null,
    "tools" varchar[] not null,
    "failed_tools" varchar[] not null,
    "cost_reported_usd" decimal(18, 9),
    "limit_resets_at" timestamptz,
    "run_id" varchar not null,
    "session_id" varchar not null,
    "response_id" varchar not null,
    "cost_list_usd" decimal(18, 9),
    "price_status" varchar,
    "price_note" varchar,
    "price_source" varchar
);
comment on table responses is 'One billed response of a session. A response that several files tell of is there once.';
comment on column responses."request_id" is 'Id of the request to the model.';
comment on column responses."at" is 'When the response was written (UTC). Empty: the transcript does not say.';
comment on column responses."agent_id" is 'Id of the sub-agent that asked for it. Empty: the main agent.';
comment on column responses."agent_type" is 'Type of the sub-agent, as the file beside its transcript names it.';
comment on column responses."agent_description" is 'What the sub-agent was asked for, in some words of that file.';
comment on column responses."is_sidechain" is 'Whether it belongs to a sub-agent or a side question.';
comment on column responses."model_id" is 'Model id as logged.';
comment on column responses."model" is 'Canonical model, without date, region and context suffix of the id.';
comment on column responses."provider" is 'Provider of the model: anthropic, aws, google, openai, …';
comment on column responses."region" is 'Region of the endpoint.';
comment on column responses."input_tokens" is 'Input tokens neither read from nor written to the cache.';
comment on column responses."output_tokens" is 'Output tokens, including thinking.';
comment on column responses."reasoning_tokens" is 'Reasoning (thinking) tokens: a part of the output tokens.';
comment on column responses."cache_read_tokens" is 'Input tokens read from the cache.';
comment on column responses."cache_write_tokens" is 'Input tokens written to the cache.';
comment on column responses."cache_write_5m_tokens" is 'Cache writes kept for 5 minutes. Empty: not split.';
comment on column responses."cache_write_1h_tokens" is 'Cache writes kept for 1 hour. Empty: not split.';
comment on column responses."web_search_requests" is 'Web searches by the provider''s server-side tool.';
comment on column responses."service_tier" is '`service_tier` of the response as logged: standard, priority, batch. What a request asked for is not it.';
comment on column responses."speed" is '`speed` as logged: standard or fast.';
comment on column responses."inference_geo" is '`inference_geo` as logged.';
comment on column responses."stop_reason" is '`stop_reason` as logged.';
comment on column responses."output_is_final" is 'Whether the output count is that of the whole response. Otherwise it is that of its start: a lower bound.';
comment on column responses."tokens_basis" is 'exact, upper_bound, lower_bound, estimate or unknown.';
comment on column responses."tools" is 'Tools that the response called, one name per call, in order.';
comment on column responses."failed_tools" is 'Of those calls, the tools of the calls that failed.';
comment on column responses."cost_reported_usd" is '`costUSD` of the line, which early versions wrote. In USD.';
comment on column responses."limit_resets_at" is 'When the limit of the account resets that was reached after the response (UTC), as the agent says.';
comment on column responses."run_id" is 'Id of the run.';
comment on column responses."session_id" is 'Session that owns it: of those with a copy, the one that began first.';
comment on column responses."response_id" is 'Id of the response; unique in the store.';
comment on column responses."cost_list_usd" is 'Cost at list prices: those of its day, prompt size, speed and service tier. In USD.';
comment on column responses."price_status" is 'priced or unpriced.';
comment on column responses."price_note" is 'What the price depends on besides tokens and day: long context, fast mode, batch, …';
comment on column responses."price_source" is 'Origin of the price.';

create table response_copies (
    "request_id" varchar,
    "at" timestamptz,
    "agent_id" varchar,
    "agent_type" varchar,
    "agent_description" varchar,
    "is_sidechain" boolean not null,
    "model_id" varchar,
    "model" varchar,
    "provider" varchar,
    "region" varchar,
    "input_tokens" bigint,
    "output_tokens" bigint,
    "reasoning_tokens" bigint,
    "cache_read_tokens" bigint,
    "cache_write_tokens" bigint,
    "cache_write_5m_tokens" bigint,
    "cache_write_1h_tokens" bigint,
    "web_search_requests" bigint,
    "service_tier" varchar,
    "speed" varchar,
    "inference_geo" varchar,
    "stop_reason" varchar,
    "output_is_final" boolean not null,
    "tokens_basis" varchar not null,
    "tools" varchar[] not null,
    "failed_tools" varchar[] not null,
    "cost_reported_usd" decimal(18, 9),
    "limit_resets_at" timestamptz,
    "source_id" varchar not null,
    "session_id" varchar not null,
    "response_no" bigint not null,
    "message_id" varchar not null,
    "line_id" varchar,
    "is_copied" boolean not null,
    "stream_id" varchar
);
comment on table response_copies is 'One response as one transcript file tells it. Resumed, forked and sub-agents'' files repeat responses of other files.';
comment on column response_copies."request_id" is 'Id of the request to the model.';
comment on column response_copies."at" is 'When the response was written (UTC). Empty: the transcript does not say.';
comment on column response_copies."agent_id" is 'Id of the sub-agent that asked for it. Empty: the main agent.';
comment on column response_copies."agent_type" is 'Type of the sub-agent, as the file beside its transcript names it.';
comment on column response_copies."agent_description" is 'What the sub-agent was asked for, in some words of that file.';
comment on column response_copies."is_sidechain" is 'Whether it belongs to a sub-agent or a side question.';
comment on column response_copies."model_id" is 'Model id as logged.';
comment on column response_copies."model" is 'Canonical model, without date, region and context suffix of the id.';
comment on column response_copies."provider" is 'Provider of the model: anthropic, aws, google, openai, …';
comment on column response_copies."region" is 'Region of the endpoint.';
comment on column response_copies."input_tokens" is 'Input tokens neither read from nor written to the cache.';
comment on column response_copies."output_tokens" is 'Output tokens, including thinking.';
comment on column response_copies."reasoning_tokens" is 'Reasoning (thinking) tokens: a part of the output tokens.';
comment on column response_copies."cache_read_tokens" is 'Input tokens read from the cache.';
comment on column response_copies."cache_write_tokens" is 'Input tokens written to the cache.';
comment on column response_copies."cache_write_5m_tokens" is 'Cache writes kept for 5 minutes. Empty: not split.';
comment on column response_copies."cache_write_1h_tokens" is 'Cache writes kept for 1 hour. Empty: not split.';
comment on column response_copies."web_search_requests" is 'Web searches by the provider''s server-side tool.';
comment on column response_copies."service_tier" is '`service_tier` of the response as logged: standard, priority, batch. What a request asked for is not it.';
comment on column response_copies."speed" is '`speed` as logged: standard or fast.';
comment on column response_copies."inference_geo" is '`inference_geo` as logged.';
comment on column response_copies."stop_reason" is '`stop_reason` as logged.';
comment on column response_copies."output_is_final" is 'Whether the output count is that of the whole response. Otherwise it is that of its start: a lower bound.';
comment on column response_copies."tokens_basis" is 'exact, upper_bound, lower_bound, estimate or unknown.';
comment on column response_copies."tools" is 'Tools that the response called, one name per call, in order.';
comment on column response_copies."failed_tools" is 'Of those calls, the tools of the calls that failed.';
comment on column response_copies."cost_reported_usd" is '`costUSD` of the line, which early versions wrote. In USD.';
comment on column response_copies."limit_resets_at" is 'When the limit of the account resets that was reached after the response (UTC), as the agent says.';
comment on column response_copies."source_id" is 'Id of the file it was read from.';
comment on column response_copies."session_id" is 'Session of the file: the run of its transcript.';
comment on column response_copies."response_no" is 'Number of the response within its reading of the file, from 0.';
comment on column response_copies."message_id" is 'Id of the response as logged; for Codex its turn and number, as no id is logged.';
comment on column response_copies."line_id" is 'uuid of its first line. It tells responses apart whose message_id is not unique: some gateways write a constant one.';
comment on column response_copies."is_copied" is 'Whether its line says that it was copied from another session (`forkedFrom`).';
comment on column response_copies."stream_id" is 'Of a response in a stream without a result: the stream (in `runs.part_ids`). Empty: from a transcript.';

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
comment on column rejects."position" is 'Line and byte offset in the file.';
comment on column rejects."reason" is 'Reason code.';
comment on column rejects."detail" is 'What was wrong, and in which field.';
comment on column rejects."excerpt" is 'Beginning of the rejected record.';

create table measurements (
    "source_id" varchar not null,
    "measurement_no" bigint not null,
    "format" varchar not null,
    "measured_by" varchar,
    "repo" varchar,
    "task" varchar,
    "commit_full" varchar,
    "commit_names_task" boolean not null,
    "parent_full" varchar,
    "instance" varchar,
    "variant" varchar,
    "agent" varchar,
    "model" varchar,
    "run_path" varchar,
    "run_id" varchar,
    "patch_sha256" varchar,
    "patch_applied" varchar not null,
    "benchmark" varchar,
    "params" varchar using compression zstd,
    "command" varchar using compression zstd,
    "workload_fp" varchar,
    "bench_model" varchar,
    "machine" varchar,
    "batch" varchar,
    "scope" varchar not null,
    "metric" varchar,
    "is_primary" boolean not null,
    "statistic" varchar,
    "unit" varchar,
    "unit_raw" varchar,
    "better" varchar not null,
    "value" double,
    "value_raw" double,
    "label" varchar,
    "ratio_base" varchar,
    "n" bigint,
    "spread_kind" varchar not null,
    "spread_lo" double,
    "spread_hi" double,
    "samples" double[] not null,
    "log_error" double,
    "log_df" double,
    "noise_floor" double,
    "status" varchar not null,
    "failure" varchar,
    "failure_detail" varchar using compression zstd,
    "measured_at" timestamptz,
    "tz_known" boolean not null,
    "flags" varchar[] not null
);
comment on table measurements is 'One measured value, or one failure to measure. Values are in the stored units of `schemas.units`.';
comment on column measurements."source_id" is 'The file (sources.source_id).';
comment on column measurements."measurement_no" is 'Number of the row within its file, from 1.';
comment on column measurements."format" is 'The tool that wrote the file.';
comment on column measurements."measured_by" is 'Who ran the benchmark, as far as the file says.';
comment on column measurements."repo" is 'Repository that was measured.';
comment on column measurements."task" is 'Task that the measured change belongs to.';
comment on column measurements."commit_full" is 'Commit that names the task, such as that of the reference: in full, or its beginning.';
comment on column measurements."commit_names_task" is 'Whether all variants of a task carry this commit, as in ISO-Bench.';
comment on column measurements."parent_full" is 'Commit of the baseline: in full, or its beginning.';
comment on column measurements."instance" is 'Id of the task instance in the benchmark.';
comment on column measurements."variant" is 'baseline, reference or candidate. Empty: the file does not say it.';
comment on column measurements."agent" is 'Agent that made the candidate (runs.agent).';
comment on column measurements."model" is 'Model of that agent, as written.';
comment on column measurements."run_path" is 'Folder of the measured run, as the file names it.';
comment on column measurements."run_id" is 'Id of the measured run, where the file has it.';
comment on column measurements."patch_sha256" is 'sha256 of the measured patch.';
comment on column measurements."patch_applied" is 'yes, no, partial or unknown.';
comment on column measurements."benchmark" is 'Name of the benchmark or of one of its tests.';
comment on column measurements."params" is 'Parameters of the benchmark, as JSON with sorted keys.';
comment on column measurements."command" is 'Command that ran the benchmark.';
comment on column measurements."workload_fp" is 'Fingerprint of parameters and command. Empty: unknown.';
comment on column measurements."bench_model" is 'Model that the benchmark served or ran.';
comment on column measurements."machine" is 'Machine or accelerator.';
comment on column measurements."batch" is 'Measurements of one batch were made together, on one set-up. Empty: unknown.';
comment on column measurements."scope" is 'How much of the software the benchmark covers.';
comment on column measurements."metric" is 'What was measured. Empty: nothing was.';
comment on column measurements."is_primary" is 'Whether the benchmark judges by this metric.';
comment on column measurements."statistic" is 'mean, median, p99, min, max, total or rate.';
comment on column measurements."unit" is 'Unit of the value: ms, B, tok/s, req/s, op/s, B/s, count, ratio. Empty: unknown.';
comment on column measurements."unit_raw" is 'Unit of the value in the file.';
comment on column measurements."better" is 'lower, higher or unknown.';
comment on column measurements."value" is 'The measured value.';
comment on column measurements."value_raw" is 'The value in the file, in its own unit.';
comment on column measurements."label" is 'A published judgement in place of a value, such as beats or same_target.';
comment on column measurements."ratio_base" is 'Of a value that is a ratio already: the variant it was divided by.';
comment on column measurements."n" is 'Number of runs that the value sums up.';
comment on column measurements."spread_kind" is 'std, sem, ci, iqr, mad, samples or none.';
comment on column measurements."spread_lo" is 'Lower end, in the unit of the value.';
comment on column measurements."spread_hi" is 'Upper end, in the unit of the value.';
comment on column measurements."samples" is 'The value of every run, in the unit of the value.';
comment on column measurements."log_error" is 'Standard error of ln(value) from run to run. Empty: unknown, as with one run.';
comment on column measurements."log_df" is 'Degrees of freedom of that error. Empty: of a published interval.';
comment on column measurements."noise_floor" is 'By how much two measurements of the same code may differ: 0.02 for 2%. Empty: not determined with the measurement.';
comment on column measurements."status" is 'ok, failed or not_run.';
comment on column measurements."failure" is 'patch, crash, timeout, infra, incorrect or unknown.';
comment on column measurements."failure_detail" is 'The error, as written.';
comment on column measurements."measured_at" is 'When it was measured (UTC).';
comment on column measurements."tz_known" is 'Whether the file says the time zone of that time.';
comment on column measurements."flags" is 'What is doubtful about the value (schemas.units).';

create table loops (
    "source_id" varchar not null,
    "loop_no" bigint not null,
    "format" varchar not null,
    "name" varchar,
    "metric" varchar,
    "unit" varchar,
    "better" varchar not null,
    "better_from" varchar,
    "segment" bigint not null,
    "folder" varchar,
    "baseline" double,
    "baseline_commit" varchar,
    "noise_floor" double,
    "is_history" boolean not null,
    "has_decisions" boolean not null,
    "no_gain" varchar using compression zstd,
    "notes" varchar[] not null,
    "cost_reported_usd" decimal(18, 9),
    "cost_basis" varchar
);
comment on table loops is 'One optimization loop: one segment of one log, with one metric.';
comment on column loops."source_id" is 'The log (sources.source_id).';
comment on column loops."loop_no" is 'Number of the loop within its log, from 1.';
comment on column loops."format" is 'Format of the log.';
comment on column loops."name" is 'Name of the loop, as its log says.';
comment on column loops."metric" is 'What every experiment measures. Empty: unknown, or several.';
comment on column loops."unit" is 'Unit of the metric, as written.';
comment on column loops."better" is 'lower, higher or unknown.';
comment on column loops."better_from" is 'What tells the direction: the log itself, the metric''s name, the decisions, …';
comment on column loops."segment" is 'Number of the segment within the log, from 0.';
comment on column loops."folder" is 'Folder that the agent worked in, where the log says it.';
comment on column loops."baseline" is 'Value of the baseline, where the log tells it apart from the experiments.';
comment on column loops."baseline_commit" is 'Commit of that baseline.';
comment on column loops."noise_floor" is 'By how much two measurements may differ, as the log says: 0.02 for 2%.';
comment on column loops."is_history" is 'Whether the log has every experiment. Otherwise it has the best of them only.';
comment on column loops."has_decisions" is 'Whether the log says what was kept. Otherwise only what failed is known.';
comment on column loops."no_gain" is 'Why its values make no common series, so that there is no best and no gain.';
comment on column loops."notes" is 'What is doubtful about the log.';
comment on column loops."cost_reported_usd" is 'Cost of the whole loop, where the log tells it. In USD.';
comment on column loops."cost_basis" is 'What the logged cost is: exact, upper_bound, lower_bound, or evaluated (of the agent that was evaluated).';

create table experiments (
    "source_id" varchar not null,
    "loop_no" bigint not null,
    "experiment_no" bigint not null,
    "label" varchar,
    "parent" varchar,
    "state" varchar not null,
    "word" varchar,
    "value" double,
    "secondary" varchar using compression zstd,
    "commit" varchar,
    "at" timestamptz,
    "tz_known" boolean not null,
    "description" varchar using compression zstd,
    "hypothesis" varchar using compression zstd,
    "model" varchar,
    "duration_ms" bigint,
    "cost_reported_usd" decimal(18, 9),
    "tokens_reported" bigint,
    "patch" varchar using compression zstd,
    "repeats" bigint,
    "fingerprint" varchar not null
);
comment on table experiments is 'One logged try of a loop, its baseline included.';
comment on column experiments."source_id" is 'The log (sources.source_id).';
comment on column experiments."loop_no" is 'The loop within its log.';
comment on column experiments."experiment_no" is 'Place of the experiment in its loop, from 1.';
comment on column experiments."label" is 'What the log calls it: run 21, iteration 4.';
comment on column experiments."parent" is 'Label of the experiment that it is built upon, where the log says it.';
comment on column experiments."state" is 'baseline, kept, discarded, crashed, checks_failed or other.';
comment on column experiments."word" is 'The decision or status in the log.';
comment on column experiments."value" is 'Value of the loop''s metric. Empty: not measured.';
comment on column experiments."secondary" is 'Values of other metrics, as JSON: name -> value.';
comment on column experiments."commit" is 'Commit that the log names: of the try, or of the code that it began from.';
comment on column experiments."at" is 'When it was logged (UTC).';
comment on column experiments."tz_known" is 'Whether the log says the time zone of that time.';
comment on column experiments."description" is 'What was tried.';
comment on column experiments."hypothesis" is 'Why it should help, and what was learned.';
comment on column experiments."model" is 'Model that the log names.';
comment on column experiments."duration_ms" is 'How long it took, as logged. In ms.';
comment on column experiments."cost_reported_usd" is 'Its cost, as logged. In USD.';
comment on column experiments."tokens_reported" is 'Input and output tokens, as logged.';
comment on column experiments."patch" is 'The change, as a diff.';
comment on column experiments."repeats" is 'Experiment of the loop that measured the same code before.';
comment on column experiments."fingerprint" is 'The same in every copy and later version of the log.';

create table price_files (
    "name" varchar not null,
    "text" varchar not null using compression zstd,
    "read_at" timestamptz not null
);
comment on table price_files is 'The user''s own prices: at most one row, which wins over the price library.';
comment on column price_files."name" is 'Path or file name it was read under.';
comment on column price_files."text" is 'The file as it was read (TOML).';
comment on column price_files."read_at" is 'When it was read (UTC).';

create table ingests (
    "ingest_id" bigint not null,
    "started_at" timestamptz not null,
    "finished_at" timestamptz not null,
    "who" varchar not null,
    "tool_version" varchar not null,
    "command" varchar not null,
    "labels" map(varchar, varchar) not null,
    "path_template" varchar,
    "path_tz" varchar,
    "sources" bigint not null,
    "documents" bigint not null,
    "accepted" bigint not null,
    "duplicates" bigint not null,
    "rejected" bigint not null,
    "ignored" bigint not null,
    "price_file" varchar
);
comment on table ingests is 'One ingest that changed the store.';
comment on column ingests."ingest_id" is 'Number of the ingest; never used again.';
comment on column ingests."started_at" is 'When it began (UTC).';
comment on column ingests."finished_at" is 'When it was written (UTC).';
comment on column ingests."who" is 'Who ingested: user@host, or the signed-in visitor of a dashboard.';
comment on column ingests."tool_version" is 'Version of Tachograph.';
comment on column ingests."command" is 'The command, or upload.';
comment on column ingests."labels" is 'Labels given to all runs of the ingest.';
comment on column ingests."path_template" is 'Template for fields from paths.';
comment on column ingests."path_tz" is 'IANA time zone of times in names of files and folders. Empty: UTC.';
comment on column ingests."sources" is 'Files, those that were known included.';
comment on column ingests."documents" is 'Records and other events found in the files.';
comment on column ingests."accepted" is 'New runs.';
comment on column ingests."duplicates" is 'Runs that were in the store already.';
comment on column ingests."rejected" is 'Records that could not be read.';
comment on column ingests."ignored" is 'Events other than result records.';
comment on column ingests."price_file" is 'sha256 of the price file that it gave the store.';

create table run_records (
    "run_id" varchar not null,
    "source_id" varchar not null,
    "ordinal" bigint not null,
    "ingest_id" bigint,
    "record_kind" varchar not null,
    "is_kept" boolean not null,
    "labels" map(varchar, varchar) not null,
    "repo" varchar,
    "task" varchar,
    "experiment" varchar,
    "record_rank" bigint not null,
    "context_rank" bigint not null,
    "context" varchar using compression zstd,
    "told" varchar using compression zstd,
    "raw" varchar using compression zstd
);
comment on table run_records is 'One record that was read: the one that is kept as the run, or a copy of it.';
comment on column run_records."run_id" is 'Id of the run.';
comment on column run_records."source_id" is 'Id of the file it was read from.';
comment on column run_records."ordinal" is 'Number of the record within its file, from 0.';
comment on column run_records."ingest_id" is 'The ingest that read it. Empty: an ingest before version 6 of the tables.';
comment on column run_records."record_kind" is 'result, stream, transcript, trajectory, trial or sidecar.';
comment on column run_records."is_kept" is 'Whether the run is made of this record; one per run.';
comment on column run_records."labels" is 'Labels that came with the record.';
comment on column run_records."repo" is 'Repository by its labels, path or sidecar file.';
comment on column run_records."task" is 'Task by its labels, path or sidecar file.';
comment on column run_records."experiment" is 'Experiment by its labels or path.';
comment on column run_records."record_rank" is 'How complete the record is.';
comment on column run_records."context_rank" is 'How much context the record has.';
comment on column run_records."context" is 'Of a run with several records: the context of this one, as JSON.';
comment on column run_records."told" is 'Of a run with several records: the figures that this one tells, as JSON.';
comment on column run_records."raw" is 'Of a copy that differs from the kept record: the record as it was read.';

create table source_labels (
    "ingest_id" bigint not null,
    "source_id" varchar not null,
    "labels" map(varchar, varchar) not null
);
comment on table source_labels is 'Labels that a later ingest gave to all runs of a file.';
comment on column source_labels."ingest_id" is 'The ingest that gave them.';
comment on column source_labels."source_id" is 'Id of the file.';
comment on column source_labels."labels" is 'The labels.';

create table source_measures (
    "ingest_id" bigint not null,
    "source_id" varchar not null,
    "given" map(varchar, varchar) not null
);
comment on table source_measures is 'What people say about all measurements of a file, where the file does not say it itself.';
comment on column source_measures."ingest_id" is 'The ingest that said it.';
comment on column source_measures."source_id" is 'Id of the file.';
comment on column source_measures."given" is 'Column of measurements -> value.';

create table superseded_sources (
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
    "ignored" bigint not null,
    "ingest_id" bigint,
    "modified_ns" bigint,
    "resume_at" bigint,
    "ingested_by" varchar,
    "tool_version" varchar,
    "goes_on" varchar,
    "superseded_by" bigint not null
);
comment on table superseded_sources is 'A file as it was before a later ingest read it again, or read it grown.';
comment on column superseded_sources."source_id" is 'sha256 of the file''s bytes.';
comment on column superseded_sources."name" is 'Path or file name.';
comment on column superseded_sources."bytes" is 'Size in bytes.';
comment on column superseded_sources."kind" is 'log, archive, sidecar, measurement or loop; or, ignored: text, source, patch, json, csv, picture, binary or empty.';
comment on column superseded_sources."container" is 'How the records are stored in the file: object, array, jsonl, concatenated, mixed or none.';
comment on column superseded_sources."received_at" is 'When the file was first ingested (UTC).';
comment on column superseded_sources."documents" is 'Records and other events found in the file.';
comment on column superseded_sources."accepted" is 'New runs.';
comment on column superseded_sources."duplicates" is 'Duplicates: runs that were in the store already.';
comment on column superseded_sources."rejected" is 'Records that could not be read; see rejects.';
comment on column superseded_sources."ignored" is 'Events other than result records; 1 for a file that is no log.';
comment on column superseded_sources."ingest_id" is 'The ingest that read it. Empty: an ingest before version 6 of the tables.';
comment on column superseded_sources."modified_ns" is 'When the file was last modified as it was read, in ns since 1970 (UTC). A file with the same path, size and time is not read again. Empty: no file, or modified less than two seconds before.';
comment on column superseded_sources."resume_at" is 'Of a session transcript: the byte from which a later ingest reads on where the file has grown.';
comment on column superseded_sources."ingested_by" is 'Who ingested it: user@host, or the signed-in visitor of a dashboard.';
comment on column superseded_sources."tool_version" is 'Version of Tachograph that ingested it.';
comment on column superseded_sources."goes_on" is 'Of a file that has grown, and was read before: the source with its beginning.';
comment on column superseded_sources."superseded_by" is 'The later ingest.';

create table superseded_rejects (
    "source_id" varchar not null,
    "ordinal" bigint not null,
    "position" varchar not null,
    "reason" varchar not null,
    "detail" varchar not null using compression zstd,
    "excerpt" varchar not null using compression zstd,
    "superseded_by" bigint not null
);
comment on table superseded_rejects is 'A reject that a later ingest removed.';
comment on column superseded_rejects."source_id" is 'The source (sources.source_id).';
comment on column superseded_rejects."ordinal" is 'Number of the document within its source, from 0.';
comment on column superseded_rejects."position" is 'Line and byte offset in the file.';
comment on column superseded_rejects."reason" is 'Reason code.';
comment on column superseded_rejects."detail" is 'What was wrong, and in which field.';
comment on column superseded_rejects."excerpt" is 'Beginning of the rejected record.';
comment on column superseded_rejects."superseded_by" is 'The later ingest.';

create table superseded_response_copies (
    "request_id" varchar,
    "at" timestamptz,
    "agent_id" varchar,
    "agent_type" varchar,
    "agent_description" varchar,
    "is_sidechain" boolean not null,
    "model_id" varchar,
    "model" varchar,
    "provider" varchar,
    "region" varchar,
    "input_tokens" bigint,
    "output_tokens" bigint,
    "reasoning_tokens" bigint,
    "cache_read_tokens" bigint,
    "cache_write_tokens" bigint,
    "cache_write_5m_tokens" bigint,
    "cache_write_1h_tokens" bigint,
    "web_search_requests" bigint,
    "service_tier" varchar,
    "speed" varchar,
    "inference_geo" varchar,
    "stop_reason" varchar,
    "output_is_final" boolean not null,
    "tokens_basis" varchar not null,
    "tools" varchar[] not null,
    "failed_tools" varchar[] not null,
    "cost_reported_usd" decimal(18, 9),
    "limit_resets_at" timestamptz,
    "source_id" varchar not null,
    "session_id" varchar not null,
    "response_no" bigint not null,
    "message_id" varchar not null,
    "line_id" varchar,
    "is_copied" boolean not null,
    "stream_id" varchar,
    "superseded_by" bigint not null
);
comment on table superseded_response_copies is 'A copy of a response that a later ingest found otherwise in the same transcript, which has grown.';
comment on column superseded_response_copies."request_id" is 'Id of the request to the model.';
comment on column superseded_response_copies."at" is 'When the response was written (UTC). Empty: the transcript does not say.';
comment on column superseded_response_copies."agent_id" is 'Id of the sub-agent that asked for it. Empty: the main agent.';
comment on column superseded_response_copies."agent_type" is 'Type of the sub-agent, as the file beside its transcript names it.';
comment on column superseded_response_copies."agent_description" is 'What the sub-agent was asked for, in some words of that file.';
comment on column superseded_response_copies."is_sidechain" is 'Whether it belongs to a sub-agent or a side question.';
comment on column superseded_response_copies."model_id" is 'Model id as logged.';
comment on column superseded_response_copies."model" is 'Canonical model, without date, region and context suffix of the id.';
comment on column superseded_response_copies."provider" is 'Provider of the model: anthropic, aws, google, openai, …';
comment on column superseded_response_copies."region" is 'Region of the endpoint.';
comment on column superseded_response_copies."input_tokens" is 'Input tokens neither read from nor written to the cache.';
comment on column superseded_response_copies."output_tokens" is 'Output tokens, including thinking.';
comment on column superseded_response_copies."reasoning_tokens" is 'Reasoning (thinking) tokens: a part of the output tokens.';
comment on column superseded_response_copies."cache_read_tokens" is 'Input tokens read from the cache.';
comment on column superseded_response_copies."cache_write_tokens" is 'Input tokens written to the cache.';
comment on column superseded_response_copies."cache_write_5m_tokens" is 'Cache writes kept for 5 minutes. Empty: not split.';
comment on column superseded_response_copies."cache_write_1h_tokens" is 'Cache writes kept for 1 hour. Empty: not split.';
comment on column superseded_response_copies."web_search_requests" is 'Web searches by the provider''s server-side tool.';
comment on column superseded_response_copies."service_tier" is '`service_tier` of the response as logged: standard, priority, batch. What a request asked for is not it.';
comment on column superseded_response_copies."speed" is '`speed` as logged: standard or fast.';
comment on column superseded_response_copies."inference_geo" is '`inference_geo` as logged.';
comment on column superseded_response_copies."stop_reason" is '`stop_reason` as logged.';
comment on column superseded_response_copies."output_is_final" is 'Whether the output count is that of the whole response. Otherwise it is that of its start: a lower bound.';
comment on column superseded_response_copies."tokens_basis" is 'exact, upper_bound, lower_bound, estimate or unknown.';
comment on column superseded_response_copies."tools" is 'Tools that the response called, one name per call, in order.';
comment on column superseded_response_copies."failed_tools" is 'Of those calls, the tools of the calls that failed.';
comment on column superseded_response_copies."cost_reported_usd" is '`costUSD` of the line, which early versions wrote. In USD.';
comment on column superseded_response_copies."limit_resets_at" is 'When the limit of the account resets that was reached after the response (UTC), as the agent says.';
comment on column superseded_response_copies."source_id" is 'Id of the file it was read from.';
comment on column superseded_response_copies."session_id" is 'Session of the file: the run of its transcript.';
comment on column superseded_response_copies."response_no" is 'Number of the response within its reading of the file, from 0.';
comment on column superseded_response_copies."message_id" is 'Id of the response as logged; for Codex its turn and number, as no id is logged.';
comment on column superseded_response_copies."line_id" is 'uuid of its first line. It tells responses apart whose message_id is not unique: some gateways write a constant one.';
comment on column superseded_response_copies."is_copied" is 'Whether its line says that it was copied from another session (`forkedFrom`).';
comment on column superseded_response_copies."stream_id" is 'Of a response in a stream without a result: the stream (in `runs.part_ids`). Empty: from a transcript.';
comment on column superseded_response_copies."superseded_by" is 'The later ingest.';

create table annotations (
    "run_id" varchar not null,
    "labels" map(varchar, varchar) not null,
    "note" varchar using compression zstd,
    "starred" boolean not null,
    "excluded" boolean not null,
    "excluded_reason" varchar,
    "changed_at" timestamptz not null,
    "changed_by" varchar not null
);
comment on table annotations is 'What people say of one run.';
comment on column annotations."run_id" is 'Id of the run.';
comment on column annotations."labels" is 'Labels that take the place of ingested ones. An empty value hides an ingested label.';
comment on column annotations."note" is 'Note that somebody made on the run.';
comment on column annotations."starred" is 'Whether somebody starred the run.';
comment on column annotations."excluded" is 'Whether the run is left out of every number and list.';
comment on column annotations."excluded_reason" is 'Why the run is excluded.';
comment on column annotations."changed_at" is 'When any of it was changed last (UTC).';
comment on column annotations."changed_by" is 'Who changed it: user@host, or the signed-in visitor of a dashboard.';

create table saved_views (
    "name" varchar not null,
    "address" varchar not null,
    "saved_at" timestamptz not null,
    "saved_by" varchar not null
);
comment on table saved_views is 'A set of filters with a name, which is unique.';
comment on column saved_views."name" is 'What the view is called.';
comment on column saved_views."address" is 'The filters as they stand in addresses: `agent=codex&outcome=completed`.';
comment on column saved_views."saved_at" is 'When it was saved (UTC).';
comment on column saved_views."saved_by" is 'Who saved it: user@host, or the signed-in visitor of a dashboard.';
