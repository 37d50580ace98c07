"""The protocol of an agent's reader: it sees the documents of a source and yields runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from ingest.sources.document import Document, TakesLines
from ingest.sources.files import Unreadable
from schemas.rows.kept_run import KeptRun
from schemas.rows.response import ResponseCopyRow
from schemas.rows.run import ModelUsageRow, PatchFileRow, PatchRow, RunRow, ToolCallRow


class Subagent(NamedTuple):
    """A sub-agent: its type, and what it was asked for in some words."""

    type: str | None = None
    description: str | None = None


NO_SUBAGENT = Subagent()


class Process(NamedTuple):
    """What whoever started an agent knows of its process. `duration_ms`: wall time. `ended_by`: the limit or the signal that ended it."""

    duration_ms: int | None = None
    ended_by: str | None = None


class PatchText(NamedTuple):
    """A patch as it is kept. `bytes`: size of the whole patch. `is_cut`: `text` is only its beginning."""

    file_name: str
    bytes: int
    is_cut: bool
    text: str


class Context(NamedTuple):
    """What labels, path, sidecars and the events of its stream say about a record.

    Every field before `tool_calls` is the column of `runs` of that name; None or empty where it is not known.
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
    """The agent by the harness: that of a record which does not name its own."""
    score: float | None = None
    """By the harness: the record may have one itself."""
    tool_calls: tuple[tuple[str, int, int | None], ...] = ()
    """(tool, calls, errors), sorted by tool."""
    patch_changes: tuple[tuple[str, int, int], ...] = ()
    """(path, insertions, deletions) of the patch beside the record."""
    patch: PatchText | None = None
    """The patch itself."""
    model: str | None = None
    """The model that the harness started the agent with: that of a log which does not name its own."""
    name: str = ""
    """The path of the source, for a member with the path inside the archive."""
    subagent: Subagent | None = None
    """What the file beside the transcript of a sub-agent says of it."""
    process: Process = Process()


def columns_of(context: Context) -> dict[str, Any]:
    """The context as columns of `runs`, without those that a record has itself."""
    return dict(zip(_SURE_COLUMNS, context, strict=False))


_SURE_COLUMNS = Context._fields[: Context._fields.index("agent")]

CONTEXT_COLUMNS = Context._fields[: Context._fields.index("tool_calls")]
"""The columns of `runs` that come from the surroundings of the record and not from the record."""


def patch_rows(run_id: str, context: Context) -> dict[str, tuple[Any, ...]]:
    """The rows of `patch_files` and `patches` of a run."""
    changes = (PatchFileRow(run_id=run_id, path=path, insertions=more, deletions=less) for path, more, less in context.patch_changes)
    text = (PatchRow.unchecked(run_id=run_id, **context.patch._asdict()),) if context.patch else ()
    return {"patch_files": tuple(changes), "patches": text}


class Rows(NamedTuple):
    """All rows of one record.

    Rows of the tables of FACTS (what is found in its summary) are plain tuples, without the columns for the run and the number.
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
    """Responses of a transcript: the values of RESPONSE_COLUMNS."""


CHILD_TABLES = Rows._fields[1:-1]
"""The tables whose rows are written and deleted with their run."""

RESPONSES = "response_copies"
"""The table whose rows are written and deleted with their source: a run may have responses from several files."""

RESPONSE_COLUMNS = tuple(name for name in ResponseCopyRow.model_fields if name != "source_id")
"""The columns of a response that its reader knows, in their order."""

FACTS = {"claims": "claim_no", "file_changes": None, "statements": "statement_no", "findings": None}
"""The tables of what is found in a summary → the column that numbers the facts of a run from 1, where they are numbered."""


@dataclass(frozen=True)
class RunFacts:
    """The facts that a reader has about the surroundings of one run: from its stream, or from the log itself.

    `time_source`: whose times they are, `stream` or, for local times of an unknown zone, `record`.
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
    """(tool, calls, errors), sorted by tool; sub-agents' calls included."""
    time_source: str = "stream"
    repo: str | None = None
    task: str | None = None
    branch: str | None = None
    base_commit: str | None = None
    prompt: str | None = None
    part_ids: tuple[str, ...] = ()
    """Ids of the streams whose events it has, and of results that follow from it: what has such an id is a record of the run."""
    streamed_tokens: int | None = None
    """All tokens that went into the responses of the stream since the result before."""


NO_FACTS = RunFacts()

ContextOf = Callable[[RunFacts, int | None], Context]
"""(facts of its surroundings, wall time in ms) → the context of the run."""


class Found(NamedTuple):
    """A run that a reader found. `document` counts as its record: the record itself, or the last event of the run."""

    document: Document
    rows: Rows


NO_TYPE = ""
"""Among the event types of a reader: it also reads documents without a type."""


class AgentReader:
    """Reads one source: its documents in order go in, runs come out. One reader is made for each source and each agent met in it.

    It keeps no more than a bounded state of each run, whatever the length of the source. `agent`, `recognises` and `feed` are what a reader
    must have, `end` one whose runs need not end with a document. All else spares time.
    """

    agent: ClassVar[str]
    """The value of `runs.agent`."""

    event_types: ClassVar[frozenset[str]] = frozenset()
    """Values of `type` in the events that it reads; empty where its records have none. NO_TYPE: some have none."""

    reads_unknown_types: ClassVar[bool] = False
    """Whether it may read events whose type no reader names: newer versions of a transcript have them, and logs that wrap messages."""

    has_claude_codes_cost: ClassVar[bool] = False
    """Whether its result records have `total_cost_usd`, as Claude Code's have."""

    priority: ClassVar[int] = 0
    """Of readers that recognise a document the one with the highest gets it, then the first by agent."""

    def __init__(self, context_of: ContextOf) -> None:
        """`context_of` joins what the reader knows of a run with labels, path and sidecars."""
        self._context_of = context_of

    @staticmethod
    def recognises(document: Document) -> bool:
        """Whether the document is a record or an event of this agent, good or damaged. Cheap; raises nothing."""
        raise NotImplementedError

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        """The runs that end with this document; mostly none or one. Raises InvalidRecord for a record that cannot be read."""
        raise NotImplementedError

    def end(self) -> Iterable[Found | Unreadable]:
        """The runs that are still open at the end of the source, and a reject for events that make no run."""
        return ()

    def note(self, event: dict[str, Any]) -> bool:  # noqa: ARG002
        """Read an event with one of `event_types` as `feed` does, without a document of its own, which costs more than to read one.

        False, and nothing changed: it must be fed as a document. That is so where it is not recognised, may end a run, begins a session,
        or is refused.
        """
        return False

    def noted(self, last: Document) -> None:
        """The document of the last event that was noted, or line that was passed."""

    passing: TakesLines | None = None
    """Takes lines of the source as bytes that need not be parsed."""

    lines: int = 0
    """Of a reader that can resume: documents read so far, without lines that were passed, and with those of earlier readings."""

    settled_at: int | None = None
    """Of a reader that can resume: a number of `lines` after which earlier lines can no longer change the run; None as long as they can."""

    def settle(self) -> None:
        """Keep with the run what is needed to resume at `settled_at`."""

    def resume(self, kept: KeptRun) -> bool:  # noqa: ARG002
        """Go on from the state that was kept with the run of an earlier, shorter version of the log. False if it has none."""
        return False
