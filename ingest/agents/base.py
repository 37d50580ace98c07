"""The protocol of an agent's reader: documents of a source go in, runs come out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

from ingest.facts import NO_FACTS, Facts
from ingest.prices.model_ids import without_effort
from ingest.sources.document import Document, TextDocument
from ingest.sources.files import Unreadable
from schemas.agents import AGENTS, NO_TYPE, Format, Names
from schemas.rows.response import ResponseCopyRow
from schemas.rows.run import ModelUsageRow, PatchFileRow, PatchRow, RunRow, ToolCallRow


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


FACT_COLUMNS = tuple(one.name for one in fields(Facts) if one.name in RunRow.columns)
"""Fields of Facts that are columns of `runs`, in order."""
_SURE = tuple(name for name in FACT_COLUMNS if name != "agent")  # the record may name the agent
_sure = attrgetter(*_SURE)


def rows_with(facts: Facts, run: RunRow, usage: tuple[ModelUsageRow, ...]) -> Rows:
    """Return the rows of a run, completed by the facts of all origins."""
    run_id = run.run_id
    calls = (
        ToolCallRow(run_id=run_id, tool=tool, calls=count, errors=errors)
        for tool, count, errors in facts.tool_calls
    )
    changes = (
        PatchFileRow(run_id=run_id, path=path, insertions=more, deletions=less)
        for path, more, less in facts.patch_changes
    )
    patches = (PatchRow(run_id=run_id, **facts.patch._asdict()),) if facts.patch else ()
    named = (facts.requested_model, *(row.model_id for row in usage))
    in_name = (without_effort(name)[1] for name in named if name)
    run = run.completed(
        dict(zip(_SURE, _sure(facts), strict=True))
        | {"effort": facts.effort or next(filter(None, in_name), None)}
    )
    return Rows(run, usage, tuple(calls), tuple(changes), patches)


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


class Found(NamedTuple):
    """A run found by a reader.

    `document` counts as its record: the record itself, or the run's last event. `log`: the facts in
    the log. `make`: makes its rows from the facts of all origins; raises InvalidRecord.
    `responses`: values of RESPONSE_COLUMNS, given the other rows.
    """

    document: Document
    log: Facts
    duration_ms: int | None
    make: Callable[[Facts], Rows]
    responses: Callable[[Rows], tuple[tuple[Any, ...], ...]] | None = None

    def rows(self, facts: Facts) -> Rows:
        """Return the rows of the run. Raises InvalidRecord."""
        rows = self.make(facts)
        return rows._replace(response_copies=self.responses(rows)) if self.responses else rows


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

    around: Facts = NO_FACTS
    """Facts about the source, known before it is read: its name, and those beside it."""

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
        """Take the document of the last noted event."""
