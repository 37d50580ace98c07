"""What a format is: it knows an agent's records when it sees them, and turns one into our rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from ingest.containers import Document
from schemas.claim import ClaimRow
from schemas.run import FileChangeRow, ModelUsageRow, RunRow
from schemas.source import FindingRow


@dataclass(frozen=True)
class Context:
    """What is known about a record from around it."""

    source_id: str
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rows:
    """Everything one record becomes in the store."""

    run: RunRow
    model_usage: tuple[ModelUsageRow, ...] = ()
    claims: tuple[ClaimRow, ...] = ()
    file_changes: tuple[FileChangeRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()


class Format(Protocol):
    """One agent's records. `agent` is the value of runs.agent."""

    agent: str

    def recognises(self, document: Document) -> bool:
        """Whether the document is a record of this agent, good or damaged. Cheap; raises nothing."""

    def rows(self, document: Document, context: Context) -> Rows:
        """The record as strict rows. Raises InvalidRecord where it cannot be one."""
