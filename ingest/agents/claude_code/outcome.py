"""How a Claude Code run ended, from what its record says.

The words changed meaning between versions: `is_error` was false on every error before SDK 0.2.89, `terminal_reason` exists
since 0.2.91 and says more than "completed" since 0.3.204, and an API error comes as `subtype: success` with `is_error: true`
and its text in `result`. So the most specific word wins, and the text decides last.
"""

from __future__ import annotations

import re

from schemas.rows.run import Outcome
from schemas.wire.claude_code import ResultRecord

_BY_SUBTYPE = {
    "error_max_turns": Outcome.MAX_TURNS,
    "error_max_budget_usd": Outcome.MAX_BUDGET,
    "error_max_structured_output_retries": Outcome.MAX_STRUCTURED_OUTPUT_RETRIES,
}

_BY_TERMINAL_REASON = {
    "max_turns": Outcome.MAX_TURNS,
    "budget_exhausted": Outcome.MAX_BUDGET,
    "structured_output_retry_exhausted": Outcome.MAX_STRUCTURED_OUTPUT_RETRIES,
    "blocking_limit": Outcome.LIMIT_REACHED,
    "aborted_streaming": Outcome.INTERRUPTED,
    "aborted_tools": Outcome.INTERRUPTED,
    "hook_stopped": Outcome.INTERRUPTED,
    "prompt_too_long": Outcome.API_ERROR,
    "image_error": Outcome.API_ERROR,
    "model_error": Outcome.API_ERROR,
    "rapid_refill_breaker": Outcome.EXECUTION_ERROR,
    "malformed_tool_use_exhausted": Outcome.EXECUTION_ERROR,
    "tool_deferred_unavailable": Outcome.EXECUTION_ERROR,
    "turn_setup_failed": Outcome.EXECUTION_ERROR,
}

_LIMIT_TEXT = re.compile(
    r"(you've|you have) (hit|reached) your .{0,40}limit|usage limit reached|(session|weekly|5-hour|opus|sonnet) limit reached"
    r"|\blimit reached\b.{0,40}\bresets\b|out of (extra )?usage",
    re.IGNORECASE | re.DOTALL,
)
_TEXT_EXAMINED = 2000


def outcome(record: ResultRecord) -> Outcome:
    """How the run ended."""
    named = _BY_SUBTYPE.get(record.subtype or "") or _BY_TERMINAL_REASON.get(record.terminal_reason or "")
    if named:
        return named
    if record.stop_reason == "refusal":
        return Outcome.REFUSED
    if record.subtype == "error_during_execution":
        return Outcome.EXECUTION_ERROR if record.is_error else Outcome.INTERRUPTED
    if record.subtype not in ("success", None):
        return Outcome.UNKNOWN
    return _of_success(record)


def _of_success(record: ResultRecord) -> Outcome:
    """`subtype: success`, or an old record that has no subtype."""
    if record.is_error or record.terminal_reason == "api_error":
        return Outcome.LIMIT_REACHED if is_limit(record.result or "") else Outcome.API_ERROR
    if record.subtype is None and record.result is None:
        return Outcome.UNKNOWN
    return Outcome.COMPLETED


def is_limit(text: str) -> bool:
    """Whether the text of an API error says that a limit of the account was reached."""
    return _LIMIT_TEXT.search(text[:_TEXT_EXAMINED]) is not None
