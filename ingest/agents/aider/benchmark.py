"""Results of Aider's benchmark, `.aider.results.json` → runs, one for each exercise. Its tables (`_data/*.yml`) only sum them up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ingest.agents.aider.tokens import INCLUSIVE
from ingest.agents.base import AgentReader, Found
from ingest.agents.kept_run import found, kept
from ingest.agents.shared.runs import canonical_hash, wire_record
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from schemas.agents import AIDER, AIDER_RESULT_NAMES
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.aider import AiderResult

_NO_TOKENS = "Older results of Aider's benchmark have no token counts."


class AiderBenchmark(AgentReader):
    """Results of exercises."""

    agent: ClassVar[str] = AIDER.key

    @staticmethod
    def recognises(document: Document) -> bool:
        return bool(document.value.keys() >= AIDER_RESULT_NAMES)

    def feed(self, document: Document) -> Iterable[Found]:
        values = _kept(wire_record(AiderResult, document)) | {"run_id": canonical_hash(document.value)}
        return (found(document, kept(values), self._context_of),)


def _kept(result: AiderResult) -> dict[str, Any]:
    """The exercise is solved where its tests passed after any try."""
    return {
        "agent": AIDER.key,
        "record_kind": RecordKind.TRIAL,
        "agent_version": result.commit_hash,
        "models": [_tokens(result) | {"cost_usd": result.cost}],
        "duration_ms": None if result.duration is None else round(result.duration * 1000),
        "num_turns": len(result.tests_outcomes) or None,
        "outcome": Outcome.COMPLETED,
        "is_error": False,
        "cost_usd": result.cost,
        "score": float(any(result.tests_outcomes)) if result.tests_outcomes else None,
        "task": result.testcase,
    }


def _tokens(result: AiderResult) -> dict[str, Any]:
    if result.prompt_tokens is None or result.completion_tokens is None:
        return unrecorded(result.model, _NO_TOKENS)
    told = Tokens(result.prompt_tokens, output=result.completion_tokens).as_model(result.model, None, TokensBasis.UPPER_BOUND, INCLUSIVE)
    return told | {"cache_read_tokens": None, "cache_write_tokens": None}
