"""An ISO-Bench item without a record of its agent → a run, from the harness's journal."""

from __future__ import annotations

from ingest.agents.base import Found
from ingest.agents.distilled import UNKNOWN, distilled, found
from ingest.agents.shared.runs import canonical_hash, is_failed
from ingest.sources.document import Document
from schemas.agents import ISO_BENCH_AGENTS
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.iso_bench import AgentProcess, Journal
from schemas.wire.launch import outcome_of_process


def item_run(document: Document, error: str | None) -> Found:
    """Return the run of an item. `error`: the end of the agent process's error output.

    Raises InvalidRecord.
    """
    journal = Journal.model_validate(document.value)
    process = journal.process or AgentProcess()
    code, lasted = process.returncode, process.duration_s
    # The block of the process names the agent; without one, the place of the run in the benchmark
    # does.
    agent = next((name for name in ISO_BENCH_AGENTS if getattr(journal, name)), None)
    agent = agent or (journal.run_metadata.agent if journal.run_metadata else None)
    agent = ISO_BENCH_AGENTS.get(agent or "", agent or UNKNOWN)
    if journal.exit_code is not None:
        outcome = outcome_of_process(agent, journal.exit_code)
    else:  # the status is about the patch; without a process it says that the harness itself failed
        outcome = (
            Outcome.EXECUTION_ERROR
            if code is None and journal.status == "error"
            else Outcome.UNKNOWN
        )
    message = journal.error or error
    values = {
        "run_id": canonical_hash(document.value),
        "agent": agent,
        "record_kind": RecordKind.SIDECAR,
        "rank": 0,
        "duration_ms": None if lasted is None else round(lasted * 1000),
        "outcome": outcome,
        "is_error": is_failed(outcome),
        "ended_as": None if code is None else f"exit code {code}",
        "errors": [message] if message and outcome is not Outcome.COMPLETED else [],
    }
    return found(document, distilled(values))
