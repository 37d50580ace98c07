"""The result record of Claude Code, every version from 0.2 to 0.3.328 of its SDK as one model.

All fields are optional here: what a record must have is for `ingest.agents.claude_code.reader` to say. Figures are checked
(numbers, not negative); a field that no figure rests on is `Secondary`. Lists of words in the descriptions are open: others are read too.
Sources: typings of @anthropic-ai/claude-agent-sdk 0.1.1 to 0.3.328, the change logs of claude-code, and 1,055 real records.
"""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from schemas.wire.values import Secondary, WireCount, WireFlag, WireMilliseconds, WireText, WireUsd

EARLIER_COST_NAMES = ("total_cost", "cost_usd")
"""Earlier names of `total_cost_usd`, newest first. A record may have several: the first one that is not null counts."""


class _Wire(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class CacheCreation(_Wire):
    """Cache writes by time to live."""

    ephemeral_5m_input_tokens: WireCount | None = Field(default=None, description="Tokens written for 5 minutes.")
    ephemeral_1h_input_tokens: WireCount | None = Field(default=None, description="Tokens written for 1 hour.")


class ServerToolUse(_Wire):
    """Uses of the provider's own tools."""

    web_search_requests: WireCount | None = Field(default=None, description="Web searches.")
    web_fetch_requests: WireCount | None = Field(default=None, description="Web pages fetched.")


class OutputTokensDetails(_Wire):
    """Parts of the output tokens."""

    thinking_tokens: WireCount | None = Field(default=None, description="Thinking tokens, inside output_tokens.")


class FallbackCredit(_Wire):
    """Credit for a request that a fallback model answered."""

    status: Secondary[str] = Field(default=None, description="State of the credit.")


class Iteration(_Wire):
    """One API message behind `usage`."""

    type: Secondary[str] = Field(
        default=None, description="message, compaction (its tokens are not in the sums), advisor_message or fallback_message."
    )
    model: Secondary[str] = Field(default=None, description="Model of the message, if not the main one.")
    input_tokens: Secondary[WireCount] = Field(default=None, description="Uncached input tokens.")
    output_tokens: Secondary[WireCount] = Field(default=None, description="Output tokens.")
    cache_read_input_tokens: Secondary[WireCount] = Field(default=None, description="Tokens read from the cache.")
    cache_creation_input_tokens: Secondary[WireCount] = Field(default=None, description="Tokens written to the cache.")
    cache_creation: Secondary[CacheCreation] = Field(default=None, description="Cache writes by time to live.")


class Usage(_Wire):
    """Tokens of the main loop in the last turn group only; `modelUsage` has the whole process. Input excludes cache."""

    input_tokens: WireCount | None = Field(default=None, description="Uncached input tokens.")
    output_tokens: WireCount | None = Field(default=None, description="Output tokens, thinking included.")
    cache_read_input_tokens: WireCount | None = Field(default=None, description="Tokens read from the cache.")
    cache_creation_input_tokens: WireCount | None = Field(default=None, description="Tokens written to the cache.")
    cache_creation: CacheCreation | None = Field(default=None, description="Cache writes by time to live.")
    server_tool_use: Secondary[ServerToolUse] = Field(default=None, description="Uses of the provider's own tools.")
    output_tokens_details: Secondary[OutputTokensDetails] = Field(default=None, description="Parts of the output tokens.")
    service_tier: Secondary[str] = Field(default=None, description="standard, priority or batch.")
    speed: Secondary[str] = Field(default=None, description="standard or fast.")
    inference_geo: Secondary[str] = Field(default=None, description="Where inference ran; '' and not_available are met.")
    iterations: Secondary[list[Iteration]] = Field(default=None, description="The API messages behind these sums.")
    fallback_credit: Secondary[FallbackCredit] = Field(default=None, description="Credit for fallback answers.")


class ModelUsage(_Wire):
    """Tokens and cost of one model, cumulative for the process: sub-agents, compaction and helper calls included."""

    input_tokens: WireCount | None = Field(default=None, alias="inputTokens", description="Uncached input tokens.")
    output_tokens: WireCount | None = Field(default=None, alias="outputTokens", description="Output tokens, thinking included.")
    cache_read_tokens: WireCount | None = Field(default=None, alias="cacheReadInputTokens", description="Tokens read from the cache.")
    cache_write_tokens: WireCount | None = Field(default=None, alias="cacheCreationInputTokens", description="Tokens written to the cache.")
    cache_write_5m_tokens: WireCount | None = Field(
        default=None,
        alias="cacheCreationEphemeral5mInputTokens",
        description="Cache writes for 5 minutes; with the 1-hour ones at most all writes.",
    )
    cache_write_1h_tokens: WireCount | None = Field(
        default=None, alias="cacheCreationEphemeral1hInputTokens", description="Cache writes for 1 hour."
    )
    thinking_tokens: WireCount | None = Field(default=None, alias="thinkingTokens", description="Thinking tokens, inside outputTokens.")
    web_search_requests: WireCount | None = Field(default=None, alias="webSearchRequests", description="Web searches.")
    cost_usd: WireUsd | None = Field(default=None, alias="costUSD", description="The agent's estimate of the model's cost, in USD.")
    cost_basis: Secondary[str] = Field(
        default=None,
        alias="costBasis",
        description="Where the price came from: list, managed, or unknown (a guess at the default model's rate).",
    )
    canonical_model: Secondary[str] = Field(default=None, alias="canonicalModel", description="The canonical model of the id.")
    provider: Secondary[str] = Field(
        default=None, description="Who served the model: firstParty, bedrock, vertex, foundry, anthropicAws, gateway, …"
    )
    context_window: Secondary[WireCount] = Field(default=None, alias="contextWindow", description="Context window assumed, in tokens.")
    max_output_tokens: Secondary[WireCount] = Field(
        default=None, alias="maxOutputTokens", description="Limit of output tokens per message."
    )


class PermissionDenial(_Wire):
    """A tool call that was denied permission."""

    tool_name: Secondary[str] = Field(default=None, description="The tool.")
    tool_use_id: Secondary[str] = Field(default=None, description="Id of the call.")
    tool_input: Secondary[dict[str, Any]] = Field(default=None, description="What it was called with.")


class DeferredToolUse(_Wire):
    """A tool call that the caller answers later."""

    id: Secondary[str] = Field(default=None, description="Id of the call.")
    name: Secondary[str] = Field(default=None, description="The tool.")
    input: Secondary[dict[str, Any]] = Field(default=None, description="What it was called with.")


class Origin(_Wire):
    """Who started the turn."""

    kind: Secondary[str] = Field(
        default=None, description="human, channel, peer, task-notification, coordinator, observer, auto-continuation, …"
    )


class ResultRecord(_Wire):
    """The record Claude Code ends a run with (`--output-format json`, or the `result` event of a stream).

    In one process with several results, `total_cost_usd`, `modelUsage` and `duration_api_ms` are cumulative, while
    `duration_ms`, `num_turns` and `usage` are of the one result.
    """

    # Every record
    type: Secondary[str] = Field(default=None, description="'result'; some records lack it.")
    role: Secondary[str] = Field(default=None, description="'system' in records of version 0.2, which have no type.")
    subtype: WireText | None = Field(
        default=None, description="How the loop ended: success, or error_max_turns, error_during_execution, error_max_budget_usd, …"
    )
    is_error: WireFlag | None = Field(default=None, description="Whether the run failed; its meaning changed between versions.")
    duration_ms: WireMilliseconds | None = Field(default=None, description="Wall time of this result, in ms.")
    duration_api_ms: WireMilliseconds | None = Field(
        default=None, description="Time in API calls so far, in ms; above the wall time where calls ran in parallel."
    )
    num_turns: WireCount | None = Field(default=None, description="Model round trips; in older versions a count of messages.")
    stop_reason: WireText | None = Field(
        default=None, description="Of the last model message: end_turn, max_tokens, stop_sequence, tool_use, refusal, …"
    )
    terminal_reason: WireText | None = Field(
        default=None, description="Why the loop ended: completed, max_turns, budget_exhausted, api_error, aborted_tools, …"
    )
    total_cost_usd: WireUsd | None = Field(
        default=None,
        validation_alias=AliasChoices("total_cost_usd", *EARLIER_COST_NAMES),
        description="The agent's estimate of the cost so far, in USD. Older versions: total_cost, cost_usd.",
    )
    usage: Usage | None = Field(default=None, description="Main loop of the last turn group.")
    model_usage: dict[str, ModelUsage] | None = Field(
        default=None, alias="modelUsage", description="Tokens and cost by model id, cumulative."
    )
    permission_denials: Secondary[list[PermissionDenial]] = Field(default=None, description="Tool calls that were denied.")
    session_id: WireText | None = Field(default=None, description="Session; resumed runs share it.")
    uuid: WireText | None = Field(default=None, description="Id of this record.")
    result_index: Secondary[WireCount] = Field(default=None, description="Number of this result in its process; a gap is a lost result.")
    queued_turn_count: Secondary[WireCount] = Field(default=None, description="Turns waiting when this result was written.")
    credential_expires_at: Secondary[float | str] = Field(default=None, description="When the credential in use expires.")
    fast_mode_state: Secondary[str] = Field(default=None, description="off, cooldown or on.")
    fast_mode_disabled_reason: Secondary[str] = Field(
        default=None, description="free, preference, extra_usage_disabled, not_first_party, model_not_allowed, …"
    )
    origin: Secondary[Origin] = Field(default=None, description="Who started the turn.")
    user_message_uuid: Secondary[str] = Field(default=None, description="The message this result answers.")
    user_message_uuids: Secondary[list[str]] = Field(default=None, description="The messages this result answers.")
    resume_reason: Secondary[str] = Field(default=None, description="Why the session was resumed.")
    local_command: Secondary[str | bool | dict[str, Any]] = Field(default=None, description="A command answered without the model.")
    context_usage: Secondary[dict[str, Any]] = Field(default=None, description="What fills the context, from the command /context.")

    # Successes
    result: WireText | None = Field(default=None, description="The summary, or the text of an API error. Error records have none.")
    structured_output: Any = Field(default=None, description="The structured output asked for.")
    api_error_status: Secondary[WireCount] = Field(default=None, description="HTTP status of the API error, if any.")
    deferred_tool_use: Secondary[DeferredToolUse] = Field(default=None, description="The tool call the run paused for.")
    ttft_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time to the first token, in ms.")
    ttft_stream_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time to the first streamed token, in ms.")
    time_to_request_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time to the first API request, in ms.")
    time_to_request_from_spawn_ms: Secondary[WireMilliseconds] = Field(
        default=None, description="The same from the start of the process, in ms."
    )
    request_sent_wall_ms: Secondary[WireMilliseconds] = Field(default=None, description="When the request was sent, Unix time in ms.")
    first_content_frame_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time to the first frame of content, in ms.")
    first_stream_post_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time to the first streamed post, in ms.")
    first_stream_post_ack_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time until it was acknowledged, in ms.")
    first_stream_post_queue_wait_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time it waited in the queue, in ms.")
    first_stream_post_queued_behind: Secondary[WireCount] = Field(default=None, description="Posts it waited behind.")
    first_stream_post_wall_ms: Secondary[WireMilliseconds] = Field(default=None, description="When it was sent, Unix time in ms.")
    first_text_post_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time to the first post of text, in ms.")
    first_text_post_queue_wait_ms: Secondary[WireMilliseconds] = Field(default=None, description="Time it waited in the queue, in ms.")
    first_text_post_queued_behind: Secondary[WireCount] = Field(default=None, description="Posts it waited behind.")
    first_text_post_wall_ms: Secondary[WireMilliseconds] = Field(default=None, description="When it was sent, Unix time in ms.")
    warm_spare_claimed: Secondary[bool] = Field(default=None, description="Whether a process kept warm was used.")
    time_origin_ms: Secondary[WireMilliseconds] = Field(default=None, description="What the timings count from, Unix time in ms.")

    # Errors
    errors: Secondary[list[Any]] = Field(default=None, description="Messages of what went wrong; may be empty.")
    startup_failure_reason: Secondary[str] = Field(default=None, description="Why the process could not start.")
    invalid_config_file: Secondary[str] = Field(default=None, description="The configuration file that could not be read.")
