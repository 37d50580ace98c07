"""The object of Gemini CLI's `-o json` → a run of its process, also where that resumed a session. It has no wall time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.gemini.errors import outcome_of, words_of
from ingest.agents.kept_run import found, kept
from ingest.agents.shared.google_tokens import calls_of, latency_of, models_of
from ingest.agents.shared.runs import canonical_hash, wire_record
from ingest.sources.document import Document
from schemas.agents import GEMINI
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.gemini import GeminiOutput

_FIELDS = frozenset(("session_id", "response", "stats", "error", "warnings"))
_ERROR_FIELDS = frozenset(("type", "message", "code"))
_CLASS = re.compile(r"[A-Z]\w{0,80}(?:Error|Exception)|Error")


class GeminiJson(AgentReader):
    """Objects of `gemini -o json`."""

    agent: ClassVar[str] = GEMINI.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        stats = value.get("stats")
        if isinstance(stats, dict):
            return "models" in stats and ("response" in value or "tools" in stats)
        return value.keys() <= _FIELDS and _is_error(value.get("error"))

    def feed(self, document: Document) -> Iterable[Found]:
        record = wire_record(GeminiOutput, document)
        return (found(document, kept(_kept(record) | {"run_id": canonical_hash(document.value)}), self._context_of),)


def _is_error(error: object) -> bool:
    """An error of the agent: its class and message, and no more than its code."""
    if not isinstance(error, dict) or not error.keys() <= _ERROR_FIELDS or not isinstance(error.get("message"), str):
        return False
    kind = error.get("type")
    return isinstance(kind, str) and _CLASS.fullmatch(kind) is not None


def _kept(record: GeminiOutput) -> dict[str, Any]:
    stats, error = record.stats, record.error
    response = record.response if isinstance(record.response, str) else None
    done = Outcome.COMPLETED if response is not None else Outcome.UNKNOWN
    return {
        "agent": GEMINI.key,
        "record_kind": RecordKind.RESULT,
        "rank": 2 if stats else 1,
        "session_id": record.session_id,
        "models": models_of(stats) if stats else [],
        "duration_api_ms": latency_of(stats) if stats else None,
        "outcome": outcome_of(error) if error else done,
        "is_error": error is not None,
        "ended_as": error.type if error else None,
        "errors": words_of(error) if error else [],
        "final_text": response or None,
        "tool_calls": calls_of(stats) if stats else [],
    }
