"""A run, as it is stored: the run itself, its tokens per model, its tool calls, and changed files."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated

import pyarrow as pa
from pydantic import Field

from schemas.rows.claim import ClaimMetricName, EvidenceName, ScopeName
from schemas.rows.cost import CostCause
from schemas.rows.row import Row, optional
from schemas.rows.units import (
    ArrowType,
    Count,
    Flag,
    Labels,
    LongText,
    Milliseconds,
    Names,
    Offset,
    Ratio,
    RawText,
    SignedUsd,
    Text,
    Tokens,
    Usd,
    UsdParts,
    UtcTime,
)


class Outcome(StrEnum):
    """How a run ended, derived from `subtype`, `is_error`, `terminal_reason`, `stop_reason` and the text, by version."""

    COMPLETED = "completed"
    LIMIT_REACHED = "limit_reached"
    API_ERROR = "api_error"
    MAX_TURNS = "max_turns"
    MAX_BUDGET = "max_budget"
    MAX_STRUCTURED_OUTPUT_RETRIES = "max_structured_output_retries"
    EXECUTION_ERROR = "execution_error"
    INTERRUPTED = "interrupted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class PriceStatus(StrEnum):
    """Whether the list price of a model row is known."""

    PRICED = "priced"
    UNPRICED = "unpriced"


TOKEN_CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
"""The classes of tokens that are priced apart: columns of `runs` and of `model_usage`, and with `usage_` in front of `runs`."""

OutcomeName = Annotated[Outcome, ArrowType(pa.string())]
PriceStatusName = Annotated[PriceStatus, ArrowType(pa.string())]
CostCauseName = Annotated[CostCause, ArrowType(pa.string())]
Day = Annotated[date, ArrowType(pa.date32())]


class RunRow(Row):
    """One run: one result record of an agent."""

    run_id: Text = Field(title="Run", description="uuid of the record, else a hash of the canonical record.")
    source_id: Text = Field(description="The source the record was read from (sources.source_id).")
    ordinal: Offset = Field(description="Number of the document within its source, from 0.")
    agent: Text = Field(title="Agent", description="The agent that wrote the record, e.g. claude-code.")
    agent_version: Text | None = optional("Agent version", "Version of the agent, where the surrounding stream says it.")
    session_id: Text | None = optional("Session", "Session of the agent; resumed runs share one.")
    started_at: UtcTime | None = optional("Started at", "When the run began (UTC).")
    ended_at: UtcTime | None = optional("Ended at", "When the run ended (UTC).")
    time_source: Text | None = optional("Times from", "Who says started_at and ended_at: stream, sidecar, path or file. NULL: nobody.")
    subtype: Text | None = optional("Subtype", "`subtype` as logged.")
    is_error: Flag | None = optional("Marked as error", "`is_error` as logged.")
    api_error_status: Count | None = optional("API status", "HTTP status of the API error that ended the run.")
    stop_reason: Text | None = optional("Stop reason", "`stop_reason` of the last model message, as logged.")
    terminal_reason: Text | None = optional("Terminal reason", "`terminal_reason`, why the loop ended, as logged.")
    outcome: OutcomeName = Field(title="Outcome", description="How the run ended, derived (schemas.rows.run.Outcome).")
    duration_ms: Milliseconds | None = optional("Wall time", "Time from start to end of the run.")
    duration_api_ms: Milliseconds | None = optional("API time as logged", "`duration_api_ms` as logged: in one process it is cumulative.")
    duration_api_own_ms: Milliseconds | None = optional(
        "API time",
        "API time this record added: in one process `duration_api_ms` is cumulative. Above the wall time where calls ran in parallel.",
    )
    ttft_ms: Milliseconds | None = optional("Time to first token", "Time until the first token, where the record has it.")
    num_turns: Count | None = optional("Turns", "Round trips to the model, as the agent counts them.")
    cost_reported_usd: Usd | None = optional("Cost as logged", "`total_cost_usd` as logged: the agent's own estimate.")
    cost_own_usd: Usd | None = optional(
        "Reported cost",
        "What the agent says the run cost: its own estimate, without what earlier records of its chain cost already, so that a sum "
        "counts each dollar once.",
    )
    cost_list_usd: Usd | None = optional(
        "List cost", "What this record added to its chain, at list prices (base tier). NULL where any of its models has no price."
    )
    cost_delta_usd: SignedUsd | None = optional("List less reported", "cost_list_usd less cost_own_usd: above 0 where the list is dearer.")
    cost_cause: CostCauseName | None = optional(
        "Cause of the difference",
        "Why the two differ (schemas.rows.cost.CostCause): the cause of the largest difference among the models. "
        "NULL where one of them is not known.",
    )
    cost_uncached_usd: Usd | None = optional(
        "List cost without caching", "List cost of the same tokens had nothing been cached. NULL as cost_list_usd."
    )
    cost_cache_write_usd: Usd | None = optional(
        "Cost of cache writes", "The part of cost_list_usd that cache writes cost. NULL as cost_list_usd."
    )
    price_status: PriceStatusName | None = optional("Price status", "unpriced where any of its models has no list price.")
    unpriced_tokens: Tokens | None = optional("Unpriced tokens", "Tokens this record added of models that have no list price.")
    model: Text | None = optional("Main model", "The main model: the one that cost the most; model_usage has all of them.")
    provider: Text | None = optional("Provider", "Provider of the main model.")
    region: Text | None = optional("Region", "Region of the main model's endpoint.")
    models: Names = Field(default=(), title="Models", description="Every model the run used, sorted.")
    model_costs_usd: UsdParts = Field(
        default=(),
        description="The part of cost_own_usd of each of `models`, in their order. NULL where the record does not say it.",
    )
    input_tokens: Tokens | None = optional("Input tokens", "Uncached input tokens this record added, over all models.")
    output_tokens: Tokens | None = optional("Output tokens", "Output tokens this record added, over all models, thinking included.")
    cache_read_tokens: Tokens | None = optional(
        "Cache read", "Input tokens this record added that were read from the cache, over all models."
    )
    cache_write_tokens: Tokens | None = optional(
        "Cache write", "Input tokens this record added that were written to the cache, over all models."
    )
    usage_input_tokens: Tokens | None = Field(default=None, description="Uncached input of the main loop's last turn group (`usage`).")
    usage_output_tokens: Tokens | None = Field(default=None, description="Output of the main loop's last turn group (`usage`).")
    usage_cache_read_tokens: Tokens | None = Field(default=None, description="Cache read of the main loop's last turn group (`usage`).")
    usage_cache_write_tokens: Tokens | None = Field(default=None, description="Cache write of the main loop's last turn group (`usage`).")
    chain_id: Text = Field(description="The chain of cumulative records this one belongs to: the run_id of its first link.")
    chain_position: Count = Field(title="Place in its chain", description="Place of the record in its chain, from 1.")
    repo: Text | None = optional("Repository", "Repository worked on, where a label, a path or a sidecar says it.")
    task: Text | None = optional("Task", "Task worked on, where a label, a path or a sidecar says it.")
    experiment: Text | None = optional("Experiment", "Experiment the run belongs to, where a label says it.")
    labels: Labels = Field(default={}, title="Labels", description="Labels given at ingest (--label key=value).")
    requested_model: Text | None = optional("Requested model", "Model the agent was started with, by the stream's init event.")
    cwd: Text | None = optional("Working directory", "Working directory of the agent, by the stream's init event.")
    permission_mode: Text | None = optional("Permission mode", "Permission mode of the agent, by the stream's init event.")
    tools: Names = Field(default=(), description="Tools the agent had, by the stream's init event.")
    base_commit: Text | None = optional("Base commit", "Commit the work began from, by a sidecar.")
    head_commit: Text | None = optional("Head commit", "Commit of the reference solution or of the result, by a sidecar.")
    task_status: Text | None = optional("Task status", "Status a sidecar gives the task, as logged.")
    first_edit_ms: Milliseconds | None = optional("Time to first edit", "Time to the first edit, by a sidecar.")
    patch_files: Count | None = optional("Files of the patch", "Files changed by the patch beside the record.")
    patch_insertions: Count | None = optional("Insertions of the patch", "Lines inserted by the patch beside the record.")
    patch_deletions: Count | None = optional("Deletions of the patch", "Lines deleted by the patch beside the record.")
    in_stream: Flag = Field(default=False, description="Whether the record came with the events of its run around it.")
    record_rank: Count = Field(
        default=0, description="How much of itself the record tells; of two copies of one record the fuller one is kept."
    )
    context_rank: Count = Field(
        default=0, description="How much is known around the record; of two equally full copies the better known one is kept."
    )
    permission_denials: Count | None = optional("Permission denials", "Tool calls that were denied permission.")
    errors: LongText | None = optional("Errors", "Messages of an error record, one per line.")
    result: RawText | None = optional("Summary", "The summary the run ended with, text damage repaired. NULL where the record has none.")
    result_repaired: Flag = Field(default=False, description="Whether `result` differs from the raw text because damage was repaired.")
    claims: Count | None = optional(
        "Claims in figures", "Quantified claims of the summary about the run's own work. NULL where there is no summary."
    )
    claimed_speedup: Ratio | None = optional(
        "Claimed speedup",
        "Ratio of the headline claim, above 1 = faster: of the own, quantified claims to be faster (time, throughput), "
        "measured before merely stated, then the broadest scope, then the strongest evidence, then the first in the text.",
    )
    claimed_metric: ClaimMetricName | None = optional("Claimed metric", "Metric of the headline claim: time or throughput.")
    claimed_evidence: EvidenceName | None = optional("Claimed evidence", "What the headline claim rests on.")
    claimed_scope: ScopeName | None = optional("Claimed scope", "How much of the software the headline claim covers.")
    claimed_low: Ratio | None = optional("Claimed speedup, from", "Lower end of the headline claim's ratio, where it gives a range.")
    claimed_high: Ratio | None = optional("Claimed speedup, to", "Upper end of the headline claim's ratio, where it gives a range.")
    claimed_hedged: Flag | None = optional("Claim hedged", "Whether the headline claim is hedged (`about`, `up to`).")
    claimed_subject: Text | None = optional("Claimed subject", "What the headline claim is about, where the text says it.")
    claimed_quote: Text | None = optional("Claimed quote", "The headline claim as written.")
    findings: Count | None = optional("Findings", "Findings of the rules about the run; see the table findings.")
    error_findings: Count | None = optional("Error findings", "Findings of severity error.")
    raw: RawText = Field(description="The record as it was read, unknown fields included.")


class ModelUsageRow(Row):
    """Tokens and cost of one model in one run, from `modelUsage` (from `usage` where an old record has no other)."""

    run_id: Text = Field(description="The run (runs.run_id).")
    model_id: Text | None = Field(title="Model id", description="Model id as logged. NULL where the record names no model.")
    model: Text | None = Field(title="Model", description="Model the id stands for, without date, region and context suffix.")
    provider: Text | None = optional("Provider", "Who served the model: anthropic, aws, google, openrouter, …")
    region: Text | None = optional("Region", "Region of the endpoint: us, eu, global, us-east-1, …")
    input_tokens: Tokens | None = optional("Input tokens", "Uncached input tokens.")
    output_tokens: Tokens | None = optional("Output tokens", "Output tokens, thinking included.")
    thinking_tokens: Tokens | None = optional("Thinking tokens", "Thinking tokens, a part of output_tokens.")
    cache_read_tokens: Tokens | None = optional("Cache read", "Input tokens read from the cache.")
    cache_write_tokens: Tokens | None = optional("Cache write", "Input tokens written to the cache.")
    cache_write_5m_tokens: Tokens | None = optional(
        "Cache write, 5 minutes", "Cache writes kept for 5 minutes. NULL where the record does not tell them apart."
    )
    cache_write_1h_tokens: Tokens | None = optional(
        "Cache write, 1 hour", "Cache writes kept for 1 hour. NULL where the record does not tell them apart."
    )
    web_search_requests: Count | None = optional("Web searches", "Web searches by the model's server tool.")
    cost_reported_usd: Usd | None = optional("Cost as logged", "`costUSD` as logged.")
    cost_own_usd: Usd | None = optional("Reported cost", "What this record added to its chain. Every sum of cost uses it.")
    own_input_tokens: Tokens | None = Field(default=None, description="Uncached input tokens this record added to its chain.")
    own_output_tokens: Tokens | None = Field(default=None, description="Output tokens this record added to its chain.")
    own_cache_read_tokens: Tokens | None = Field(default=None, description="Cache read tokens this record added to its chain.")
    own_cache_write_tokens: Tokens | None = Field(default=None, description="Cache write tokens this record added to its chain.")
    own_cache_write_1h_tokens: Tokens | None = Field(
        default=None,
        description="Of those, the ones kept for 1 hour; the others are 5-minute writes. NULL where the record does not tell them apart: "
        "list prices then take all of them for 5-minute writes.",
    )
    own_web_search_requests: Count | None = Field(default=None, description="Web searches this record added to its chain.")
    cost_list_usd: Usd | None = optional(
        "List cost",
        "What this record added to its chain, at list prices (base tier). NULL where the model has no price, "
        "or a class of tokens is not known.",
    )
    cost_delta_usd: SignedUsd | None = optional("List less reported", "cost_list_usd less cost_own_usd: above 0 where the list is dearer.")
    cost_cause: CostCauseName | None = optional(
        "Cause of the difference",
        "Why the two differ, found by recomputation (schemas.rows.cost.CostCause). NULL where one of them is not known.",
    )
    cost_uncached_usd: Usd | None = optional(
        "List cost without caching", "List cost of the same tokens had nothing been cached. NULL as cost_list_usd."
    )
    cost_cache_write_usd: Usd | None = optional(
        "Cost of cache writes", "The part of cost_list_usd that cache writes cost. NULL as cost_list_usd."
    )
    price_status: PriceStatusName | None = optional("Price status", "priced or unpriced; NULL where list prices were not looked up.")
    price_date: Day | None = optional(
        "Price date", "Day (UTC) whose prices were taken: that of the run, else that on which its source was first read."
    )
    price_source: Text | None = optional(
        "Price source", "Where the prices are from: the library's release and entry, or the entry of the price file."
    )
    cost_basis: Text | None = optional("Cost basis", "`costBasis` as logged; `unknown` means the agent guessed the price.")
    context_window: Tokens | None = optional("Context window", "Context window the agent assumed, in tokens.")


class ToolCallRow(Row):
    """Calls of one tool in one run, counted in the stream around its record."""

    run_id: Text = Field(description="The run (runs.run_id).")
    tool: Text = Field(title="Tool", description="Name of the tool.")
    calls: Count = Field(title="Calls", description="Calls of the tool.")
    errors: Count = Field(title="Errors", description="Calls whose result was an error.")


class FileChangeRow(Row):
    """A file the summary says was changed."""

    run_id: Text = Field(description="The run (runs.run_id).")
    path: Text = Field(title="Path", description="Path as the text gives it.")
    insertions: Count | None = optional("Insertions", "Lines the text says were inserted.")
    deletions: Count | None = optional("Deletions", "Lines the text says were deleted.")


class PatchFileRow(Row):
    """A file that the patch beside a run's record changes: what was done, where `file_changes` is what the summary says."""

    run_id: Text = Field(description="The run (runs.run_id).")
    path: Text = Field(description="Path in the patch, after the change.")
    insertions: Count = Field(description="Lines inserted.")
    deletions: Count = Field(description="Lines deleted.")
