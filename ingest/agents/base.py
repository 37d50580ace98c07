"""What a format is: it knows an agent's records when it sees them, and turns one into our rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from ingest.documents.document import Document
from schemas.rows.run import ModelUsageRow, PatchFileRow, RunRow, ToolCallRow


class Context(NamedTuple):
    """What is known about a record from around it: labels, path, sidecars, and the events of its stream.

    Every field but the last two is the column of `runs` of that name; None or empty where nothing says it.
    """

    source_id: str
    labels: dict[str, str] = {}  # noqa: RUF012 - never written to
    repo: str | None = None
    task: str | None = None
    experiment: str | None = None
    agent_version: str | None = None
    requested_model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    tools: tuple[str, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    time_source: str | None = None
    base_commit: str | None = None
    head_commit: str | None = None
    task_status: str | None = None
    first_edit_ms: int | None = None
    patch_files: int | None = None
    patch_insertions: int | None = None
    patch_deletions: int | None = None
    in_stream: bool = False
    context_rank: int = 0
    tool_calls: tuple[tuple[str, int, int], ...] = ()
    """(tool, calls, errors), sorted by tool."""
    patch_changes: tuple[tuple[str, int, int], ...] = ()
    """(path, insertions, deletions) of the patch beside the record."""


def columns_of(context: Context) -> dict[str, Any]:
    """The context as columns of `runs`."""
    return dict(zip(CONTEXT_COLUMNS, context, strict=False))  # what is no column comes last


CONTEXT_COLUMNS = Context._fields[:-2]
"""The columns of `runs` that come from around the record and not from it."""


class Rows(NamedTuple):
    """Everything one record becomes in the store.

    What is found in its summary (the tables of FACTS) stands here as bare values: those of its row but the run and the number.
    """

    run: RunRow
    model_usage: tuple[ModelUsageRow, ...] = ()
    tool_calls: tuple[ToolCallRow, ...] = ()
    patch_files: tuple[PatchFileRow, ...] = ()
    claims: tuple[tuple[Any, ...], ...] = ()
    file_changes: tuple[tuple[Any, ...], ...] = ()
    statements: tuple[tuple[Any, ...], ...] = ()
    findings: tuple[tuple[Any, ...], ...] = ()


CHILD_TABLES = Rows._fields[1:]
"""The tables whose rows come and go with their run."""

FACTS = {"claims": "claim_no", "file_changes": None, "statements": "statement_no", "findings": None}
"""The tables of what is found in a summary → the column that numbers the facts of a run from 1, where they are numbered."""


ContextOf = Callable[[str | None, int | None], Context]
"""(session_id, wall time in ms) → what is known about the record from around it."""


class Format(Protocol):
    """One agent's records. `agent` is the value of runs.agent."""

    agent: str

    def recognises(self, document: Document) -> bool:
        """Whether the document is a record of this agent, good or damaged. Cheap; raises nothing."""

    def rows(self, document: Document, context_of: ContextOf) -> Rows:
        """The record as strict rows. Raises InvalidRecord where it cannot be one; asks for its context only where it can."""
