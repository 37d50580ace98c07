"""The protocol of an agent's reader: documents of a source go in, runs come out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from ingest.sources.document import Document, TakesLines, TextDocument
from ingest.sources.files import Unreadable
from schemas.agents import AGENTS, NO_TYPE, Format, Names
from schemas.rows.response import ResponseCopyRow
from schemas.rows.run import ModelUsageRow, PatchFileRow, PatchRow, RunRow, ToolCallRow


class Subagent(NamedTuple):
    """A sub-agent's type, and a short description of its task."""

    type: str | None = None
    description: str | None = None


NO_SUBAGENT = Subagent()


class Process(NamedTuple):
    """An agent's process as its launcher saw it. `duration_ms`: wall time.

    `ended_by`: the limit or the signal that ended it.
    """

    duration_ms: int | None = None
    ended_by: str | None = None
    exit_code: int | None = None


class PatchText(NamedTuple):
    """A stored patch. `bytes`: size of the whole patch. `is_cut`: `text` is only its beginning."""

    file_name: str
    bytes: int
    is_cut: bool
    text: str


class Context(NamedTuple):
    """Facts about a record from labels, path, sidecars and the other events of its stream.

    Every field before `tool_calls` is the column of `runs` of that name; None or empty if unknown.
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
    branch: str | None = None
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
    patch_sha256: str | None = None
    in_stream: bool = False
    part_ids: tuple[str, ...] = ()
    streamed_tokens: int | None = None
    context_rank: int = 0
    trial_id: str | None = None
    agent: str | None = None
    """Named by the harness; used if the record names no agent."""
    score: float | None = None
    """Given by the harness; used if the record has no score."""
    tool_calls: tuple[tuple[str, int, int | None], ...] = ()
    """(tool, calls, errors), sorted by tool."""
    patch_changes: tuple[tuple[str, int, int], ...] = ()
    """(path, insertions, deletions) from the patch beside the record."""
    patch: PatchText | None = None
    model: str | None = None
    """The model the harness started the agent with; used if the log names none."""
    name: str = ""
    """The source's path; for an archive member, including the path inside the archive."""
    subagent: Subagent | None = None
    process: Process = Process()
    is_verified: bool = False
    """Whether the harness checked the work, which it does when the agent has ended."""
    is_cut: bool = False
    """Whether the source ends in the middle of a line, within the run."""


def columns_of(context: Context) -> dict[str, Any]:
    """Return the context as columns of `runs`, without the fields that a record may supply."""
    return dict(zip(_SURE_COLUMNS, context, strict=False))


_SURE_COLUMNS = Context._fields[: Context._fields.index("agent")]

CONTEXT_COLUMNS = Context._fields[: Context._fields.index("tool_calls")]


def patch_rows(run_id: str, context: Context) -> dict[str, tuple[Any, ...]]:
    """Return the rows of `patch_files` and `patches` for a run."""
    if not (context.patch or context.patch_changes):
        return {}
    changes = (
        PatchFileRow(run_id=run_id, path=path, insertions=more, deletions=less)
        for path, more, less in context.patch_changes
    )
    text = (PatchRow(run_id=run_id, **context.patch._asdict()),) if context.patch else ()
    return {"patch_files": tuple(changes), "patches": text}


class Rows(NamedTuple):
    """All rows of one record.

    Rows of the tables in FACTS (extracted from its summary) are plain tuples without run id and
    number.
    """

    run: RunRow
    model_usage: tuple[ModelUsageRow, ...] = ()
    tool_calls: tuple[ToolCallRow, ...] = ()
    patch_files: tuple[PatchFileRow, ...] = ()
    patches: tuple[PatchRow, ...] = ()
    claims: tuple[tuple[Any, ...], ...] = ()
    file_changes: tuple[tuple[Any, ...], ...] = ()
    statements: tuple[tuple[Any, ...], ...] = ()
    findings: tuple[tuple[Any, ...], ...] = ()
    response_copies: tuple[tuple[Any, ...], ...] = ()
    """Responses of a transcript, as values of RESPONSE_COLUMNS."""


CHILD_TABLES = Rows._fields[1:-1]
"""Tables written and deleted together with their run."""

RESPONSES = "response_copies"
"""Written and deleted together with its source, since a run may have responses from several files.
"""

RESPONSE_COLUMNS = tuple(name for name in ResponseCopyRow.columns if name != "source_id")
"""Columns of a response that a reader fills, in order."""

FACTS = {"claims": "claim_no", "file_changes": None, "statements": "statement_no", "findings": None}
"""Tables of facts extracted from summaries → the column that numbers a run's facts from 1, or None
if unnumbered.
"""


@dataclass(frozen=True)
class RunFacts:
    """Facts about one run's surroundings, collected by a reader from the stream or the log.

    `time_source`: origin of the times, `stream`, or `record` for local times in an unknown zone.
    """

    agent_version: str | None = None
    requested_model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    tools: tuple[str, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    in_stream: bool = False
    tool_calls: tuple[tuple[str, int, int | None], ...] = ()
    """(tool, calls, errors), sorted by tool; includes the calls of sub-agents."""
    time_source: str = "stream"
    repo: str | None = None
    task: str | None = None
    branch: str | None = None
    base_commit: str | None = None
    prompt: str | None = None
    part_ids: tuple[str, ...] = ()
    """Ids of the streams with its events, and of results that follow from it; a record with one of
    these ids belongs to the run.
    """
    streamed_tokens: int | None = None
    """All input tokens of the stream's responses since the previous result."""


NO_FACTS = RunFacts()

ContextOf = Callable[[RunFacts, int | None], Context]
"""(surrounding facts, wall time in ms) → context of the run."""


class Found(NamedTuple):
    """A run found by a reader.

    `document` counts as its record: the record itself, or the run's last event.
    """

    document: Document
    rows: Rows


class AgentReader:
    """Reads one source: takes the documents in order and yields runs.

    One reader is made per source and agent.

    It keeps bounded state per run, however long the source is. The formats of its agent's entry
    (`schemas.agents`) say which documents it is offered. A reader must define `agent` and `feed`,
    `end` if its runs can end without a document, and `recognises` if the formats alone do not tell
    its documents from others. Everything else is an optimisation.
    """

    agent: ClassVar[str]

    formats: ClassVar[tuple[Format, ...]] = ()
    """The formats that name the reader."""

    types: ClassVar[Names] = Names((NO_TYPE,))
    """Types of the events it is offered; NO_TYPE stands for documents without a type."""

    reads_unknown_types: ClassVar[bool] = False
    """Whether to offer it events of unknown types: newer transcripts have them, and so do logs that
    wrap messages.
    """

    has_claude_codes_cost: ClassVar[bool] = False
    """Whether its result records have `total_cost_usd`, like Claude Code's."""

    priority: ClassVar[int] = 0
    """If several readers recognise a document, the highest priority gets it; ties go to the first
    by agent name.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        path = f"{cls.__module__.removeprefix('ingest.agents.')}.{cls.__name__}"
        cls.formats = tuple(
            form for agent in AGENTS.values() for form in agent.formats if form.reader == path
        )
        if cls.formats:
            cls.types = Names().union(*(form.types or {NO_TYPE} for form in cls.formats))

    def __init__(self, context_of: ContextOf) -> None:
        """Create the reader; `context_of` merges its facts with labels, path and sidecars.

        The facts are about a run.
        """
        self._context_of = context_of

    @classmethod
    def recognises(cls, document: Document) -> bool:
        """Return whether the document is this agent's record or event, valid or damaged.

        Cheap; never raises.

        By default, whether it has a type, the names or the look of one of the reader's formats.
        """
        for form in cls.formats:
            if isinstance(document, TextDocument):
                starts = bool(form.text_start) and document.starts_with(form.text_start)
                if starts or (form.text_line and document.contains(form.text_line)):
                    return True
                continue
            value = document.value
            kind = value.get("type")
            if isinstance(kind, str) and kind in form.types:
                return True
            if any(names <= value.keys() for names in form.names) or (
                form.looks and form.looks(value)
            ):
                return True
        return False

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        """Return the runs that end with this document, usually none or one.

        Raises InvalidRecord for an unreadable record.
        """
        raise NotImplementedError

    def end(self) -> Iterable[Found | Unreadable]:
        """Return the runs still open at the source's end, and a reject for events without a run."""
        return ()

    def note(self, event: dict[str, Any]) -> bool:  # noqa: ARG002
        """Read an event like `feed`, without the cost of a document of its own.

        Return False, without any change, if the event must go through `feed`: if it is not
        recognised, may end a run, begins a session, or is invalid.
        """
        return False

    def noted(self, last: Document) -> None:
        """Take the document of the last noted event or passed line."""

    passing: TakesLines | None = None
    """Consumes lines of the source as bytes, without parsing."""
