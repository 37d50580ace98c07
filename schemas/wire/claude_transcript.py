"""Lines of Claude Code's session transcripts (`~/.claude/projects/<folder>/<session>.jsonl`), as far as they are read.

Every version from 1.0 to 2.1 in one shape; no version writes all fields. No field is certain: a reader checks what it uses. The types of
lines are an open list, of which 2.1 writes about forty: a line of another type is a line as well. Sources: transcripts that projects
published, of versions 1.0.24 to 2.1.219, and the issues of claude-code and ccusage.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, TypedDict

from schemas.rows.row import LARGEST_INT, LARGEST_USD, usd

LINE_TYPES = frozenset(
    {
        *("user", "assistant", "system", "progress", "attachment", "summary", "ai-title", "custom-title", "last-prompt", "agent-name"),
        *("mode", "permission-mode", "cost-state", "queue-operation", "file-history-snapshot", "file-history-delta", "pr-link"),
        *("worktree-state", "relocated", "tag", "agent-color", "agent-setting"),
    }
)
"""Types of lines that were seen."""

JOURNAL_TYPES = frozenset(("journal", "started", "result"))
"""Types of lines in the journal of a workflow, which lies among the transcripts of its sub-agents."""

SYNTHETIC = "<synthetic>"
"""The model of lines that the agent wrote itself: errors, interruptions."""

ADVISOR = "advisor_message"
"""The type of an iteration that is billed beside its response. All others are parts of it."""

WEB_SEARCH = "WebSearch"
"""The tool whose results tell how often the provider searched."""


class CacheCreation(TypedDict, total=False):
    """Cache writes by time to live. They may add up to less than all writes."""

    ephemeral_5m_input_tokens: Any
    ephemeral_1h_input_tokens: Any


class TokenUsage(TypedDict, total=False):
    """Tokens of one response. Every line of the response repeats it; until the last line `output_tokens` may be that of its beginning.

    `input_tokens` excludes the cache. `iterations`: the requests that make up the response, and those to an advisor.
    """

    input_tokens: Any
    output_tokens: Any
    cache_read_input_tokens: Any
    cache_creation_input_tokens: Any
    cache_creation: CacheCreation
    output_tokens_details: dict[str, Any]
    server_tool_use: dict[str, Any]
    service_tier: Any
    speed: Any
    inference_geo: Any
    iterations: list[Any]


class Message(TypedDict, total=False):
    """A message of the model's API. An assistant's line has one block of the content."""

    id: Any
    role: Any
    model: Any
    content: Any
    stop_reason: Any
    usage: TokenUsage


class Line(TypedDict, total=False):
    """One line. `data.message`: of `progress` / `agent_progress`, a line of a sub-agent. `toolUseResult.usage` is a sum, never added."""

    type: Any
    uuid: Any
    parentUuid: Any
    sessionId: Any
    timestamp: Any
    isSidechain: Any
    agentId: Any
    requestId: Any
    message: Any
    costUSD: Any
    isApiErrorMessage: Any
    cwd: Any
    gitBranch: Any
    version: Any
    permissionMode: Any
    toolUseResult: Any
    forkedFrom: Any
    data: Any
    origin: Any
    summary: Any
    aiTitle: Any
    customTitle: Any
    totalCostUSD: Any
    totalAPIDuration: Any
    startTime: Any


def whole(value: object) -> int | None:
    """A count: a whole number from 0 on, also as text or with a fraction of zero. None for anything else."""
    if type(value) is int:
        return value if 0 <= value <= LARGEST_INT else None
    if isinstance(value, str):
        value = _number(value)
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and 0 <= value <= LARGEST_INT:
        return int(value)
    return None


def dollars(value: object) -> Decimal | None:
    """An amount of US dollars as a JSON number, rounded to nanodollars. None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_USD:
        return None
    return usd(Decimal(repr(value)))


def _number(text: str) -> float | None:
    try:
        return float(text) if len(text) <= 20 else None
    except ValueError:
        return None
