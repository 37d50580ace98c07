"""Claude Code's formats.

The result record of every version, from 0.2 to 0.3.328 of its SDK, and lines of session
transcripts.

All fields are optional here; `ingest.agents.claude_code.results` decides which a record must have.
Figures are checked (numbers, not negative); a field without influence on figures is `Secondary`. A
record has some fifty more fields, unused here: the SDK's typings describe them, and the raw record
keeps them. Lists of words in the descriptions are open: others are accepted too.

Sources: typings of @anthropic-ai/claude-agent-sdk 0.1.1 to 0.3.328, the change logs of claude-code,
and 1,055 real records; for transcripts those published by projects, of versions 1.0.24 to 2.1.219,
and the issues of claude-code and ccusage.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from pydantic import AliasChoices, Field

from schemas.rows.row import LARGEST_INT, LARGEST_USD, usd
from schemas.wire.values import (
    Secondary,
    WireCount,
    WireFlag,
    WireMilliseconds,
    WireModel,
    WireText,
    WireUsd,
)

EARLIER_COST_NAMES = ("total_cost", "cost_usd")
"""Newest first. A record may have several: the first one that is not null counts."""


FOLLOWED_BY = "followed_by"
"""Our own field of a kept record, with the results that follow from it, as logged."""


class CacheCreation(WireModel):
    """Cache writes by time to live."""

    ephemeral_5m_input_tokens: WireCount | None = Field(
        default=None, description="Tokens written for 5 minutes."
    )
    ephemeral_1h_input_tokens: WireCount | None = Field(
        default=None, description="Tokens written for 1 hour."
    )


class Usage(WireModel):
    """Tokens of the main loop in the last turn group only; `modelUsage` covers the whole process.

    Input excludes cache.
    """

    input_tokens: WireCount | None = Field(default=None, description="Uncached input tokens.")
    output_tokens: WireCount | None = Field(
        default=None, description="Output tokens, thinking included."
    )
    cache_read_input_tokens: WireCount | None = Field(
        default=None, description="Tokens read from the cache."
    )
    cache_creation_input_tokens: WireCount | None = Field(
        default=None, description="Tokens written to the cache."
    )
    cache_creation: CacheCreation | None = Field(
        default=None, description="Cache writes by time to live."
    )


class ModelUsage(WireModel):
    """Tokens and cost of one model, cumulative for the process.

    Sub-agents, compaction and helper calls included.
    """

    input_tokens: WireCount | None = Field(
        default=None, alias="inputTokens", description="Uncached input tokens."
    )
    output_tokens: WireCount | None = Field(
        default=None, alias="outputTokens", description="Output tokens, thinking included."
    )
    cache_read_tokens: WireCount | None = Field(
        default=None, alias="cacheReadInputTokens", description="Tokens read from the cache."
    )
    cache_write_tokens: WireCount | None = Field(
        default=None, alias="cacheCreationInputTokens", description="Tokens written to the cache."
    )
    cache_write_5m_tokens: WireCount | None = Field(
        default=None,
        alias="cacheCreationEphemeral5mInputTokens",
        description="Cache writes for 5 minutes; with the 1-hour ones at most all writes.",
    )
    cache_write_1h_tokens: WireCount | None = Field(
        default=None,
        alias="cacheCreationEphemeral1hInputTokens",
        description="Cache writes for 1 hour.",
    )
    thinking_tokens: WireCount | None = Field(
        default=None, alias="thinkingTokens", description="Thinking tokens, inside outputTokens."
    )
    web_search_requests: WireCount | None = Field(
        default=None, alias="webSearchRequests", description="Web searches."
    )
    cost_usd: WireUsd | None = Field(
        default=None,
        alias="costUSD",
        description="The agent's estimate of the model's cost, in USD.",
    )
    cost_basis: Secondary[str] = Field(
        default=None,
        alias="costBasis",
        description=(
            "Where the price came from: list, managed, or unknown (a guess at the default "
            "model's rate)."
        ),
    )
    canonical_model: Secondary[str] = Field(
        default=None, alias="canonicalModel", description="The canonical model of the id."
    )
    provider: Secondary[str] = Field(
        default=None,
        description=(
            "Who served the model: firstParty, bedrock, vertex, foundry, anthropicAws, gateway, …"
        ),
    )
    context_window: Secondary[WireCount] = Field(
        default=None, alias="contextWindow", description="Context window assumed, in tokens."
    )


class Denial(WireModel):
    """A tool call that was denied; only counted."""


class ResultRecord(WireModel):
    """Claude Code's record at the end of a run.

    It is that of `--output-format json`, or the `result` event of a stream.

    In one process with several results, `total_cost_usd`, `modelUsage` and `duration_api_ms` are
    cumulative, while `duration_ms`, `num_turns` and `usage` cover the one result.
    """

    subtype: WireText | None = Field(
        default=None,
        description=(
            "How the loop ended: success, or error_max_turns, error_during_execution, "
            "error_max_budget_usd, …"
        ),
    )
    is_error: WireFlag | None = Field(
        default=None, description="Whether the run failed; its meaning changed between versions."
    )
    duration_ms: WireMilliseconds | None = Field(
        default=None, description="Wall time of this result, in ms."
    )
    duration_api_ms: WireMilliseconds | None = Field(
        default=None,
        description=(
            "Time in API calls so far, in ms; above the wall time where calls ran in parallel."
        ),
    )
    num_turns: WireCount | None = Field(
        default=None, description="Model round trips; in older versions a count of messages."
    )
    stop_reason: WireText | None = Field(
        default=None,
        description=(
            "Of the last model message: end_turn, max_tokens, stop_sequence, tool_use, refusal, …"
        ),
    )
    terminal_reason: WireText | None = Field(
        default=None,
        description=(
            "Why the loop ended: completed, max_turns, budget_exhausted, api_error, "
            "aborted_tools, …"
        ),
    )
    total_cost_usd: WireUsd | None = Field(
        default=None,
        validation_alias=AliasChoices("total_cost_usd", *EARLIER_COST_NAMES),
        description=(
            "The agent's estimate of the cost so far, in USD. Older versions: total_cost, cost_usd."
        ),
    )
    usage: Usage | None = Field(default=None, description="Main loop of the last turn group.")
    model_usage: dict[str, ModelUsage] | None = Field(
        default=None, alias="modelUsage", description="Tokens and cost by model id, cumulative."
    )
    permission_denials: Secondary[list[Denial]] = Field(
        default=None, description="Tool calls that were denied."
    )
    session_id: WireText | None = Field(default=None, description="Session; resumed runs share it.")
    uuid: WireText | None = Field(default=None, description="Id of this record.")
    result: WireText | None = Field(
        default=None,
        description="The summary, or the text of an API error. Error records have none.",
    )
    api_error_status: Secondary[WireCount] = Field(
        default=None, description="HTTP status of the API error, if any."
    )
    ttft_ms: Secondary[WireMilliseconds] = Field(
        default=None, description="Time to the first token, in ms."
    )
    errors: Secondary[list[Any]] = Field(
        default=None, description="Messages of what went wrong; may be empty."
    )
    followed_by: Secondary[list[Any]] = Field(
        default=None, description="Our own: the results that follow from it."
    )


# Lines of session transcripts (`~/.claude/projects/<folder>/<session>.jsonl`), every version in one
# shape. No field is certain: a reader
# checks what it uses. Types of lines are an open list: 2.1 writes about forty, and a line of
# another type is a line as well.

SYNTHETIC = "<synthetic>"
"""The model of lines that the agent wrote itself: errors, interruptions."""

ADVISOR = "advisor_message"
"""Type of an iteration that is billed in addition to its response. All others are parts of it."""

WEB_SEARCH = "WebSearch"
"""The tool with the provider's number of searches in its results."""


Line = dict[str, Any]
"""One line: type, uuid, parentUuid, sessionId, timestamp, isSidechain, agentId, requestId, message,
cwd, gitBranch, version; by its type costUSD, isApiErrorMessage, permissionMode, toolUseResult (its
`usage` is a sum, never added), forkedFrom, origin, summary, aiTitle, customTitle, totalCostUSD,
totalAPIDuration, startTime, and data, with a sub-agent's line in `message` (`progress`).
"""

Message = dict[str, Any]
"""A message of the model's API: id, role, model, content, stop_reason, usage. An assistant's line
has one block of the content.
"""

TokenUsage = dict[str, Any]
"""Tokens of one response. Every line of the response repeats it; until the last line
`output_tokens` may be that of its beginning.

`input_tokens` excludes the cache. `iterations`: the requests that make up the response, and those
to an advisor.
"""


def whole(value: object) -> int | None:
    """Return a count: a whole number from 0 on, also as text or with a fraction of zero.

    None for anything else.
    """
    if type(value) is int:
        return value if 0 <= value <= LARGEST_INT else None
    if isinstance(value, str):
        try:
            value = float(value) if len(value) <= 20 else None
        except ValueError:
            return None
    if (
        isinstance(value, float)
        and math.isfinite(value)
        and value == int(value)
        and 0 <= value <= LARGEST_INT
    ):
        return int(value)
    return None


def dollars(value: object) -> Decimal | None:
    """Return an amount in USD from a JSON number, rounded to nanodollars. None for all else."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= LARGEST_USD
    ):
        return None
    return usd(Decimal(repr(value)))
