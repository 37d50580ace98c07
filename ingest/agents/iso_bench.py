"""An item of ISO-Bench whose agent left no record → a run that says so, from the harness's journal."""

from __future__ import annotations

from typing import Any

from ingest.agents.base import ContextOf, Found
from ingest.agents.kept_run import UNKNOWN, found, kept
from ingest.agents.shared.runs import canonical_hash
from ingest.sources.document import Document
from schemas.agents import ISO_BENCH_AGENTS
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.iso_bench import AgentProcess, Journal


def item_run(document: Document, error: str | None, context_of: ContextOf) -> Found:
    """The run of an item. `error`: what the agent's process wrote at its end. Raises InvalidRecord."""
    journal = Journal.model_validate(document.value)
    return found(document, kept(_kept(document, journal, error)), context_of)


def _kept(document: Document, journal: Journal, error: str | None) -> dict[str, Any]:
    process = journal.process or AgentProcess()
    lasted = process.duration_s
    outcome = _outcome(journal, process)
    told = journal.error or error
    return {
        "run_id": canonical_hash(document.value),
        "agent": _agent(journal),
        "record_kind": RecordKind.SIDECAR,
        "rank": 0,
        "duration_ms": None if lasted is None else round(lasted * 1000),
        "outcome": outcome,
        "is_error": outcome is Outcome.EXECUTION_ERROR,
        "ended_as": None if process.returncode is None else f"exit code {process.returncode}",
        "errors": [told] if told and outcome is not Outcome.COMPLETED else [],
    }


def _agent(journal: Journal) -> str:
    """The block of the process names the agent; without one, the place of the run in the benchmark."""
    named = next((name for name in ISO_BENCH_AGENTS if getattr(journal, name)), None)
    named = named or (journal.run_metadata.agent if journal.run_metadata else None)
    return ISO_BENCH_AGENTS.get(named or "", named or UNKNOWN)


def _outcome(journal: Journal, process: AgentProcess) -> Outcome:
    """By the exit code, since the journal's status is about the patch. A process that was killed has a negative one."""
    if process.returncode is None:
        return Outcome.EXECUTION_ERROR if journal.status == "error" else Outcome.UNKNOWN
    if process.returncode < 0:
        return Outcome.INTERRUPTED
    return Outcome.EXECUTION_ERROR if process.returncode else Outcome.COMPLETED
