"""How a run of Gemini CLI ended, from its error: class, exit code or status, and text."""

from __future__ import annotations

from ingest.agents.shared.texts import outcome_of_error
from schemas.rows.run import Outcome
from schemas.wire.gemini import GeminiError

_BY_CLASS = {
    "FatalTurnLimitedError": Outcome.MAX_TURNS,
    "FatalCancellationError": Outcome.INTERRUPTED,
    "FatalAuthenticationError": Outcome.API_ERROR,
}
_BY_CODE = {53: Outcome.MAX_TURNS, 130: Outcome.INTERRUPTED, 41: Outcome.API_ERROR, 429: Outcome.LIMIT_REACHED}
"""Exit codes of the agent, and one status of the API."""


def outcome_of(error: GeminiError) -> Outcome:
    """The class says most, then the code, then the text."""
    code = error.code if isinstance(error.code, int) else None
    named = _BY_CLASS.get(error.type or "") or _BY_CODE.get(code or 0)
    if named:
        return named
    message = error.message or ""
    if "session turns" in message:
        return Outcome.MAX_TURNS
    worded = outcome_of_error(message)
    return Outcome.API_ERROR if worded is Outcome.EXECUTION_ERROR and 400 <= (code or 0) < 600 else worded


def words_of(error: GeminiError) -> list[str]:
    """What went wrong."""
    return [error.message or error.type or "error"]
