"""The protocol of an agent's reader: it recognises the records of its agent and turns each into rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from ingest.documents.document import Document
from schemas.rows.run import ModelUsageRow, PatchFileRow, RunRow, ToolCallRow


class Context(NamedTuple):
    """What labels, path, sidecars and the events of its stream say about a record.

    Every field except the last two is the column of `runs` of that name; None or empty where it is not known.
    """

    source_id: str
    labels: dict[str, str] = {}  # noqa: RUF012 - never written to
    prompt: str | None = None
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
    return dict(zip(CONTEXT_COLUMNS, context, strict=False))  # the last two fields are no columns


CONTEXT_COLUMNS = Context._fields[:-2]
"""The columns of `runs` that come from the surroundings of the record and not from the record."""


class Rows(NamedTuple):
    """All rows of one record.

    Rows of the tables of FACTS (what is found in its summary) are plain tuples, without the columns for the run and the number.
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
"""The tables whose rows are written and deleted with their run."""

FACTS = {"claims": "claim_no", "file_changes": None, "statements": "statement_no", "findings": None}
"""The tables of what is found in a summary → the column that numbers the facts of a run from 1, where they are numbered."""


ContextOf = Callable[[str | None, int | None], Context]
"""(session_id, wall time in ms) → the context of the record."""


class AgentReader(Protocol):
    """Reads the records of one agent. `agent` is the value of runs.agent."""

    agent: str

    def recognises(self, document: Document) -> bool:
        """Whether the document is a record of this agent, good or damaged. Cheap; raises nothing."""

    def rows(self, document: Document, context_of: ContextOf) -> Rows:
        """The rows of the record. Calls `context_of` only for a record that can be read. Raises InvalidRecord for any other."""
