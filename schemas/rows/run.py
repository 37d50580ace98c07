"""A run, as stored: the run itself, tokens per model, tool calls and changed files."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated

import pyarrow as pa

from schemas.rows.claim import ClaimMetricName, EvidenceName, ScopeName
from schemas.rows.cost import CostCause
from schemas.rows.row import (
    ArrowType,
    Bytes,
    Count,
    Flag,
    Labels,
    LongText,
    Milliseconds,
    Names,
    Offset,
    Quantity,
    Rank,
    Ratio,
    RawText,
    Row,
    Share,
    SignedUsd,
    Text,
    Tokens,
    Usd,
    UsdParts,
    UtcTime,
    column,
    optional,
)


class Outcome(StrEnum):
    """How a run ended, derived by version from the fields of its record and its text.

    The fields are `subtype`, `is_error`, `terminal_reason` and `stop_reason`.

    If a trial's harness failed, the outcome is unknown, since that is no failure of the agent.
    """

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


class RecordKind(StrEnum):
    """The kind of record that a run was read from."""

    RESULT = "result"
    STREAM = "stream"
    TRANSCRIPT = "transcript"
    TRAJECTORY = "trajectory"
    TRIAL = "trial"
    SIDECAR = "sidecar"
    TELEMETRY = "telemetry"
    ROW = "row"
    """Of a result file, read by a map."""


class TokensBasis(StrEnum):
    """How far the tokens of a model row can be trusted."""

    EXACT = "exact"
    UPPER_BOUND = "upper_bound"
    LOWER_BOUND = "lower_bound"
    ESTIMATE = "estimate"
    UNKNOWN = "unknown"


class PriceStatus(StrEnum):
    """Whether the list price of a model row is known."""

    PRICED = "priced"
    UNPRICED = "unpriced"


TOKEN_CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
"""The separately priced classes of tokens: columns of `runs` and `model_usage`, and with the prefix
`usage_` of `runs`.
"""

OutcomeName = Annotated[Outcome, ArrowType(pa.string())]
RecordKindName = Annotated[RecordKind, ArrowType(pa.string())]
TokensBasisName = Annotated[TokensBasis, ArrowType(pa.string())]
PriceStatusName = Annotated[PriceStatus, ArrowType(pa.string())]
CostCauseName = Annotated[CostCause, ArrowType(pa.string())]
Day = Annotated[date, ArrowType(pa.date32())]


_DIFFERENCE = (
    "List-price difference",
    "List-price cost minus reported cost. Positive: list price is higher than reported.",
)
_UNCACHED = (
    "Uncached list-price cost",
    (
        "List-price cost if cache reads and writes were billed as regular input. Empty where the "
        "list-price cost is."
    ),
)
_CACHE_WRITES = (
    "Cost of cache writes",
    (
        "The part of the list-price cost that comes from cache writes. Empty where the "
        "list-price cost is."
    ),
)


class RunRow(Row):
    """One run: one result record of an agent."""

    run_id: Text = column(
        title="Run",
        description="Id of the run: the uuid of its record, otherwise a hash of the record.",
    )
    source_id: Text = column(description="Id of the file the record was read from.")
    ordinal: Offset = column(description="Number of the record within its file, from 0.")
    title: Text | None = optional(
        "Title",
        (
            "First line of the prompt, else the first sentence of the summary that says "
            "something. v_runs.title has the task before it."
        ),
    )
    prompt: LongText | None = optional(
        "Prompt",
        "What the user asked for, from the event stream or a sidecar file. Long prompts are cut.",
    )
    agent: Text = column(
        title="Agent", description="The agent that wrote the record, e.g. claude-code."
    )
    agent_version: Text | None = optional(
        "Agent version", "Version of the agent, from the event stream."
    )
    session_id: Text | None = optional(
        "Session", "Session of the agent. Resumed runs share a session."
    )
    parent_run_id: Text | None = optional(
        "Parent run", "Run that started this one as a sub-agent, or that it was forked from."
    )
    record_kind: RecordKindName = column(
        default=RecordKind.RESULT,
        title="Record kind",
        description="Kind of the record: result, stream, transcript, trajectory, …",
    )
    started_at: UtcTime | None = optional("Started at", "When the run began (UTC).")
    ended_at: UtcTime | None = optional("Ended at", "When the run ended (UTC).")
    time_source: Text | None = optional(
        "Timestamp source",
        (
            "Where the timestamps come from: stream, sidecar, record, path, file or "
            "trusted_file, or the label date. Empty: no timestamp."
        ),
    )
    subtype: Text | None = optional("Subtype", "`subtype` as logged.")
    is_error: Flag | None = optional("Error flag", "`is_error` as logged.")
    api_error_status: Count | None = optional(
        "API status", "HTTP status of the API error that ended the run."
    )
    stop_reason: Text | None = optional(
        "Stop reason", "`stop_reason` of the last model message, as logged."
    )
    terminal_reason: Text | None = optional(
        "Terminal reason",
        "`terminal_reason`, why the loop ended, as logged; `exit code 0`: of the process.",
    )
    outcome: OutcomeName = column(
        title="Outcome", description="How the run ended: completed, limit reached, API error, …"
    )
    score: Quantity | None = optional(
        "Score",
        "Result of the task's evaluation: 1 is solved, 0 is not. Not the outcome of the run.",
    )
    duration_ms: Milliseconds | None = optional("Wall time", "Time from start to end of the run.")
    active_ms: Milliseconds | None = optional(
        "Active time",
        (
            "Time in which the agent worked: without the time in which a session waited for its "
            "user. Empty: not known."
        ),
    )
    duration_api_ms: Milliseconds | None = optional(
        "API time as logged",
        "Time in API calls as logged: within one process it includes earlier runs.",
    )
    duration_api_own_ms: Milliseconds | None = optional(
        "API time",
        (
            "Time in API calls, excluding earlier runs in the same process. Above wall time: "
            "calls ran in parallel."
        ),
    )
    ttft_ms: Milliseconds | None = optional("Time to first token", "Time until the first token.")
    num_turns: Count | None = optional(
        "Turns", "Round trips to the model, as counted by the agent."
    )
    is_answered: Flag = column(
        default=True,
        description="Whether the model answered; false where the first request of the run failed.",
    )
    cost_reported_usd: Usd | None = optional(
        "Cost as logged",
        "`total_cost_usd` as logged. It may include earlier runs in the same session, and leave "
        "out sub-agents: sums use the reported cost. Empty for $0 where tokens were used.",
    )
    credits: Quantity | None = optional(
        "Credits", "What the agent reported in a unit other than dollars."
    )
    credits_unit: Text | None = optional(
        "Credit unit", "Unit of the credits: premium requests, credits, …"
    )
    cost_own_usd: Usd | None = optional(
        "Reported cost",
        "Cost the agent reported for this run (an estimate), excluding earlier runs in the same "
        "session: its total, or the sum of its models where that is larger. Empty for $0 where "
        "tokens were used.",
    )
    cost_beyond_total_usd: Usd | None = optional(
        "Cost beyond the total",
        (
            "What the models of the run cost more than the total that its record states. A part "
            "of the reported cost."
        ),
    )
    cost_list_usd: Usd | None = optional(
        "List-price cost",
        "Cost of the run's tokens at list prices. Empty where a model of the run is unpriced.",
    )
    cost_delta_usd: SignedUsd | None = optional(*_DIFFERENCE)
    cost_cause: CostCauseName | None = optional(
        "Cause of the difference",
        (
            "Why list-price cost and reported cost differ; of several causes the largest. Empty "
            "where one of the costs is unknown."
        ),
    )
    cost_uncached_usd: Usd | None = optional(*_UNCACHED)
    cost_cache_write_usd: Usd | None = optional(*_CACHE_WRITES)
    price_status: PriceStatusName | None = optional(
        "Price status",
        (
            "unpriced where a model of the run has no list price, or a class of its tokens is "
            "not known."
        ),
    )
    unpriced_tokens: Tokens | None = optional(
        "Unpriced tokens", "Tokens of models without a list-price cost."
    )
    model: Text | None = optional("Main model", "The most expensive model of the run.")
    provider: Text | None = optional("Provider", "Provider of the main model.")
    region: Text | None = optional("Region", "Region of the main model's endpoint.")
    models: Names = column(default=(), title="Models", description="All models the run used.")
    model_costs_usd: UsdParts = column(
        default=(),
        description=(
            "Reported cost of each of `models`, in the same order. Empty where the record does "
            "not have it."
        ),
    )
    input_tokens: Tokens | None = optional(
        "Uncached input",
        "Input tokens of the run neither read from nor written to the cache, all models.",
    )
    output_tokens: Tokens | None = optional(
        "Output tokens", "Output tokens of the run, all models, including thinking."
    )
    cache_read_tokens: Tokens | None = optional(
        "Cache reads", "Input tokens of the run that were read from the cache, all models."
    )
    cache_write_tokens: Tokens | None = optional(
        "Cache writes", "Input tokens of the run that were written to the cache, all models."
    )
    tokens_basis: TokensBasisName = column(
        default=TokensBasis.EXACT,
        title="Token basis",
        description=(
            "How far the tokens of the run can be trusted: exact, upper_bound, lower_bound, "
            "estimate or unknown."
        ),
    )
    usage_input_tokens: Tokens | None = column(
        default=None, description="Uncached input of the main loop's last turn group (`usage`)."
    )
    usage_output_tokens: Tokens | None = column(
        default=None, description="Output of the main loop's last turn group (`usage`)."
    )
    usage_cache_read_tokens: Tokens | None = column(
        default=None, description="Cache read of the main loop's last turn group (`usage`)."
    )
    usage_cache_write_tokens: Tokens | None = column(
        default=None, description="Cache write of the main loop's last turn group (`usage`)."
    )
    chain_id: Text = column(
        description=(
            "Runs of one session whose totals are cumulative share this id: the run_id of the "
            "first."
        )
    )
    chain_position: Count = column(
        title="Position in session",
        description="Position among the runs of one session whose totals are cumulative, from 1.",
    )
    repo: Text | None = optional(
        "Project",
        "What the run worked on, by the first origin that names it (repo_source). In runs: as "
        "the record, its path and the files beside it name it.",
    )
    project: Text | None = column(
        default=None, description="The project by its first origin; v_runs has it as repo."
    )
    repo_source: Text | None = optional(
        "Project by",
        "What names the project: label, record (or its path, or a file beside it), remote (of "
        "git), folder (the last of the working directory), archive (a folder OWNER+REPO). Empty: "
        "nothing does.",
    )
    task: Text | None = optional(
        "Task", "Task the run worked on, from a label, the file path or a sidecar file."
    )
    experiment: Text | None = optional(
        "Experiment", "Experiment the run belongs to, from its labels."
    )
    labels: Labels = column(
        default={}, title="Labels", description="Labels given at ingest (--label key=value)."
    )
    trial_id: Text | None = optional(
        "Trial", "Trial of a benchmark harness that the run was; its logs are records of one run."
    )
    origins: Labels = column(
        default={},
        description=(
            "Of a run with several records: figure → file of the record it comes from, where "
            "that is not the kept one."
        ),
    )
    requested_model: Text | None = optional(
        "Requested model", "Model the agent was started with, from the event stream."
    )
    effort: Text | None = optional(
        "Effort",
        "Reasoning effort of the model, as logged: low, medium, high, xhigh, max. Where turns "
        "differ, that of the most output tokens.",
    )
    host: Text | None = optional("Host", "Machine that the agent ran on.")
    branch: Text | None = optional("Branch", "Branch that the agent worked on.")
    cwd: Text | None = optional(
        "Working directory", "Working directory of the agent, from the event stream."
    )
    permission_mode: Text | None = optional(
        "Permission mode", "Permission mode of the agent, from the event stream."
    )
    tools: Names = column(default=(), description="Tools the agent had, from the event stream.")
    base_commit: Text | None = optional(
        "Base commit", "Commit the work started from, from a sidecar file."
    )
    head_commit: Text | None = optional(
        "Head commit", "Commit of the reference solution or of the result, from a sidecar file."
    )
    task_status: Text | None = optional(
        "Task status", "Status of the task in a sidecar file, as logged."
    )
    first_edit_ms: Milliseconds | None = optional(
        "Time to first edit", "Time to the first edit, from a sidecar file."
    )
    patch_files: Count | None = optional(
        "Files in patch", "Files changed by the patch file of the run."
    )
    patch_insertions: Count | None = optional(
        "Insertions in patch", "Lines inserted by the patch file of the run."
    )
    patch_deletions: Count | None = optional(
        "Deletions in patch", "Lines deleted by the patch file of the run."
    )
    patch_sha256: Text | None = optional("Patch hash", "sha256 of the patch file of the run.")
    in_stream: Flag = column(
        default=False, description="Whether the record came with the event stream of its run."
    )
    part_ids: Names = column(
        default=(),
        description=(
            "Ids of what is a part of the run: streams, each with the best id first, and later "
            "results that follow from it."
        ),
    )
    streamed_tokens: Tokens | None = column(
        default=None,
        description=(
            "All tokens that went into the responses of its stream since the result before: what "
            "its totals grew by."
        ),
    )
    record_rank: Rank = column(
        default=0,
        description=(
            "How complete the record is. Of two copies of one record the more complete one is kept."
        ),
    )
    context_rank: Count = column(
        default=0,
        description=(
            "How much context the record has. Of two equally complete copies the one with more "
            "context is kept."
        ),
    )
    permission_denials: Count | None = optional(
        "Permission denials", "Tool calls that were denied permission."
    )
    errors: LongText | None = optional("Errors", "Messages of an error record, one per line.")
    result: RawText | None = optional(
        "Summary", "Summary the agent wrote at the end of the run. Damaged characters are repaired."
    )
    result_repaired: Flag = column(
        default=False, description="Whether damaged characters of the summary were repaired."
    )
    responses: Count | None = optional(
        "Responses",
        "Billed model responses in the transcript of the run. Empty: no transcript was read.",
    )
    subagents: Count | None = optional(
        "Sub-agents", "Sub-agents whose responses are in the transcript of the run."
    )
    claims: Count | None = optional(
        "Quantified claims",
        "Claims with a number that the summary makes about the run's own work, without those of "
        "low confidence. Empty where there is no summary.",
    )
    claimed_speedup: Ratio | None = optional(
        "Claimed speedup",
        "Ratio of the top claim. Above 1: faster. The top claim is the run's own quantified "
        "claim to be faster (time, throughput) with the best evidence, then the broadest scope, "
        "then the first in the text.",
    )
    claimed_metric: ClaimMetricName | None = optional(
        "Claimed metric", "Metric of the top claim: time or throughput."
    )
    claimed_evidence: EvidenceName | None = optional(
        "Claimed evidence",
        (
            "Evidence of the top claim: method stated, before–after values, a number only, or a "
            "projection."
        ),
    )
    claimed_scope: ScopeName | None = optional(
        "Claimed scope", "How much of the software the top claim covers."
    )
    claimed_low: Ratio | None = optional(
        "Claimed speedup, from", "Lower end of the top claim's range."
    )
    claimed_high: Ratio | None = optional(
        "Claimed speedup, to", "Upper end of the top claim's range."
    )
    claimed_hedged: Flag | None = optional(
        "Claim qualified", "Whether the top claim is qualified (~, about, up to)."
    )
    claimed_subject: Text | None = optional("Claimed subject", "What the top claim is about.")
    claimed_quote: Text | None = optional("Claimed quote", "The top claim as the summary words it.")
    claimed_confidence: Share | None = optional(
        "Claim confidence",
        (
            "Probability that the top claim is read rightly, from 0 to 1. A claim of low "
            "confidence is never the top claim."
        ),
    )
    findings: Count | None = optional("Findings", "Number of findings about the run.")
    error_findings: Count | None = optional("Errors found", "Number of findings of severity error.")
    is_copy: Flag = column(
        default=False,
        title="Copy",
        description=(
            "Whether the run is probably a copy of another, which is counted in its place "
            "(finding probable_copy)."
        ),
    )
    raw: RawText = column(description="The record as it was read, unknown fields included.")


class ModelUsageRow(Row):
    """Tokens and cost of one model in one run, from `modelUsage`, else from `usage`.

    An old record has no other source than `usage`.
    """

    run_id: Text = column(description="Id of the run.")
    model_id: Text | None = column(
        title="Model id", description="Model id as logged. Empty where the record names no model."
    )
    model: Text | None = column(
        title="Model",
        description="Canonical model, without date, region and context suffix of the id.",
    )
    provider: Text | None = optional(
        "Provider", "Provider of the model: anthropic, aws, google, openrouter, …"
    )
    region: Text | None = optional("Region", "Region of the endpoint: us, eu, global, us-east-1, …")
    input_tokens: Tokens | None = optional(
        "Uncached input", "Input tokens neither read from nor written to the cache."
    )
    output_tokens: Tokens | None = optional("Output tokens", "Output tokens, including thinking.")
    reasoning_tokens: Tokens | None = optional(
        "Reasoning tokens", "Reasoning (thinking) tokens: a part of the output tokens."
    )
    cache_read_tokens: Tokens | None = optional("Cache reads", "Input tokens read from the cache.")
    cache_write_tokens: Tokens | None = optional(
        "Cache writes", "Input tokens written to the cache."
    )
    cache_write_5m_tokens: Tokens | None = optional(
        "Cache writes (5 min)",
        "Cache writes kept for 5 minutes. Empty where the record does not split cache writes.",
    )
    cache_write_1h_tokens: Tokens | None = optional(
        "Cache writes (1 hour)",
        "Cache writes kept for 1 hour. Empty where the record does not split cache writes.",
    )
    web_search_requests: Count | None = optional(
        "Web searches", "Web searches by the provider's server-side tool."
    )
    tokens_basis: TokensBasisName = column(
        default=TokensBasis.EXACT,
        title="Token basis",
        description="exact, upper_bound, lower_bound, estimate or unknown.",
    )
    tokens_basis_reason: Text | None = optional(
        "Reason of the token basis", "Why the tokens are not exact."
    )
    cost_reported_usd: Usd | None = optional(
        "Cost as logged", "`costUSD` as logged. Empty for $0 where tokens were used."
    )
    cost_own_usd: Usd | None = optional(
        "Reported cost",
        (
            "Cost the agent reported for the model in this run, excluding earlier runs in the "
            "same session."
        ),
    )
    own_input_tokens: Tokens | None = column(
        default=None,
        description="Uncached input tokens, excluding earlier runs in the same session.",
    )
    own_output_tokens: Tokens | None = column(
        default=None, description="Output tokens, excluding earlier runs in the same session."
    )
    own_cache_read_tokens: Tokens | None = column(
        default=None, description="Cache reads, excluding earlier runs in the same session."
    )
    own_cache_write_tokens: Tokens | None = column(
        default=None, description="Cache writes, excluding earlier runs in the same session."
    )
    own_cache_write_1h_tokens: Tokens | None = column(
        default=None,
        description="Of those, the 1-hour cache writes; the others are 5-minute writes. Empty where"
        " the record does not split them: all are then priced as 5-minute writes.",
    )
    own_web_search_requests: Count | None = column(
        default=None, description="Web searches, excluding earlier runs in the same session."
    )
    cost_list_usd: Usd | None = optional(
        "List-price cost",
        "Cost of the model's tokens at list prices: the sum of its responses where they are "
        "known, else at the base tier. Empty where the model has no list price or token counts "
        "are unknown.",
    )
    cost_delta_usd: SignedUsd | None = optional(*_DIFFERENCE)
    cost_cause: CostCauseName | None = optional(
        "Cause of the difference",
        (
            "Why list-price cost and reported cost differ, found by recomputing. Empty where one "
            "of the costs is unknown."
        ),
    )
    cost_uncached_usd: Usd | None = optional(*_UNCACHED)
    cost_cache_write_usd: Usd | None = optional(*_CACHE_WRITES)
    price_status: PriceStatusName | None = optional(
        "Price status", "priced or unpriced. Empty where list prices were not looked up."
    )
    price_date: Day | None = optional(
        "Price date",
        (
            "Day (UTC) of the prices: that of the run or of its last response, otherwise the day "
            "its file was ingested."
        ),
    )
    price_source: Text | None = optional(
        "Price source",
        "Origin of the prices: release and entry of the price library, or entry of the price file.",
    )
    cost_basis: Text | None = optional(
        "Cost basis", "`costBasis` as logged; `unknown`: the agent guessed the price."
    )
    context_window: Tokens | None = optional(
        "Context window", "Context window assumed by the agent, in tokens."
    )


class ToolCallRow(Row):
    """Calls of one tool in one run, counted in the stream around its record."""

    run_id: Text = column(description="Id of the run.")
    tool: Text = column(title="Tool", description="Name of the tool.")
    calls: Count = column(title="Calls", description="Calls of the tool.")
    errors: Count | None = optional(
        "Errors", "Calls whose result was an error. Empty where the log does not say."
    )


class FileChangeRow(Row):
    """A file the summary says was changed."""

    run_id: Text = column(description="Id of the run.")
    path: Text = column(title="Path", description="Path as the summary names it.")
    insertions: Count | None = optional("Insertions", "Inserted lines according to the summary.")
    deletions: Count | None = optional("Deletions", "Deleted lines according to the summary.")


class PatchFileRow(Row):
    """One file changed by the run's patch. `file_changes` holds what the summary claims."""

    run_id: Text = column(description="Id of the run.")
    path: Text = column(description="Path in the patch, after the change.")
    insertions: Count = column(description="Lines inserted.")
    deletions: Count = column(description="Lines deleted.")


class PatchRow(Row):
    """The text of the patch beside a run's record. Not kept with `--no-text`."""

    run_id: Text = column(description="Id of the run.")
    file_name: Text = column(description="Name of the file with the patch.")
    bytes: Bytes = column(description="Size of the whole patch in bytes.")
    is_cut: Flag = column(description="Whether only the beginning is kept.")
    text: LongText = column(description="The patch, up to a mebibyte.")
