"""Picks the reader of a document.

Readers other than Claude Code's are imported with the first document that may need them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice
from typing import ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.claude_code.results import ClaudeCode
from ingest.facts import NO_FACTS, Facts
from ingest.sources.document import Document, Events
from ingest.sources.files import Unreadable
from ingest.system.defects import what_failed
from schemas.agents import AGENTS, NO_TYPE, Names
from schemas.errors import InvalidRecord, RejectReason
from schemas.unread_logs import UNREAD_TYPES, unread_log

Readers = tuple[type[AgentReader], ...]

SESSIONS_KEPT = 64
"""Maximum number of sessions of agents other than Claude Code remembered per source; beyond it, the
first is forgotten.
"""

_COST_NAME = "total_cost_usd"
_COST = f'"{_COST_NAME}"'
"""A field of results that few other agents write. Inside texts its quotes are escaped."""
_OWN = '"permission_denials"'
"""A field of newer results that no other agent writes."""


_READ_UNKNOWN_TYPES = (
    "codex.streams.CodexAppServer",
    "iflow.IFlowTranscript",
    "claude_code.transcript.ClaudeTranscript",
)
"""Readers that are offered events of unknown types: newer transcripts have them, and so do logs
that wrap messages.
"""


class _ReadersByType(dict[str, Readers]):
    """Readers by type of event, in the order they are asked, imported with the first such event.

    To import all would take a quarter of the start of an ingest. Claude Code's is last for
    documents without a type (NO_TYPE), and the fallback for all others.
    """

    def __missing__(self, kind: str) -> Readers:
        paths = dict.fromkeys(path for path, types in reader_types() if kind in types)
        others = [reader for reader in map(_reader, paths) if reader is not ClaudeCode]
        found = sorted(others, key=lambda reader: -reader.priority)
        readers = tuple(found or map(_reader, _READ_UNKNOWN_TYPES))
        if kind == NO_TYPE:
            readers = (*readers, ClaudeCode)
        if len(self) < 1000:  # a log may have any number of types
            self[kind] = readers
        return readers


def reader_types() -> Iterator[tuple[str, Names]]:
    """Yield the path and the types of every reader, once for each of its formats.

    Of agents, of logs without a reader, and of kept runs.
    """
    for agent in AGENTS.values():
        for form in agent.formats:
            yield form.reader, form.types or Names((NO_TYPE,))
    yield "readers.UnreadLogs", UnreadLogs.types
    yield "distilled.DistilledRuns", Names((NO_TYPE,))


@cache
def _reader(path: str) -> type[AgentReader]:
    module, _, name = path.rpartition(".")
    try:
        reader: type[AgentReader] = getattr(import_module(f"ingest.agents.{module}"), name)
    except Exception as error:  # a bulkhead: other agents' logs are read
        return _stand_in(path, error)
    return reader


def _stand_in(path: str, error: Exception) -> type[AgentReader]:
    """Return a reader in place of one that cannot be imported.

    It refuses the documents of its formats and names the error.
    """
    module, _, name = path.rpartition(".")
    detail = f"the reader {path} cannot be imported: {what_failed(error)}"

    def feed(_reader: AgentReader, _document: Document) -> Iterable[Found]:
        raise InvalidRecord(RejectReason.READER_MISSING, detail)

    return type(
        name, (AgentReader,), {"__module__": f"ingest.agents.{module}", "agent": name, "feed": feed}
    )


BY_TYPE = _ReadersByType()


class SourceReaders:
    """The readers of one source, each made when the first document of its agent comes."""

    def __init__(self, around: Facts = NO_FACTS) -> None:
        """Create the readers; `around`: facts about the source, known before it is read."""
        self._around = around
        self._readers: dict[type[AgentReader], AgentReader] = {}
        self._sessions: dict[str, type[AgentReader]] = {}
        self.last: AgentReader | None = None
        self.is_torn = False
        """Whether the last `note` failed in the middle of an event, of which the reader may have
        kept a part.
        """

    @property
    def keeps_state(self) -> bool:
        """Return whether any reader has runs that documents to come may be of."""
        return any(type(reader).end is not AgentReader.end for reader in self._readers.values())

    @property
    def agent(self) -> str:
        """Return the agent of the last document, for an error message."""
        return self.last.agent if self.last else "an agent"

    def feed(self, document: Document) -> Iterable[Found | Unreadable] | None:
        """Return the runs that end with this document; None if no reader recognises it.

        Raises InvalidRecord.
        """
        kind = ClaudeCode if _is_claude_codes(document) else self._reader_of(document)
        if kind is None:
            return None
        reader = self.last
        if type(reader) is not kind:
            reader = self.last = self._readers.get(kind) or self._readers.setdefault(
                kind, self._made(kind)
            )
        return reader.feed(document)

    def _made(self, kind: type[AgentReader]) -> AgentReader:
        reader = kind()
        reader.around = self._around
        return reader

    def note(self, events: Events, first: int, number: int) -> int:
        """Return how many events the current reader can read from `first` on.

        These events must not end a run or reject one.

        They are dispatched as in `feed`. `number`: that of the first as a document.
        """
        reader = self.last
        if reader is None or type(reader).note is AgentReader.note:
            return 0
        count, types, note, of_session, kind = (
            first,
            reader.types,
            reader.note,
            self._sessions.get,
            type(reader),
        )
        try:
            for event in islice(events.values, first, None):
                if (
                    event["type"] not in types
                    or ("session_id" in event and of_session(event["session_id"]) is not kind)
                    or not note(event)
                ):
                    break
                count += 1
        except Exception:  # a defect: the event is fed as a document, which says what is wrong
            self.is_torn = True
        if count > first:
            last = events.document(count - 1)
            last.ordinal = number + count - 1 - first
            reader.noted(last)
        return count - first

    def met(self) -> Iterator[AgentReader]:
        """Yield the readers used so far."""
        for reader in self._readers.values():
            self.last = reader
            yield reader

    def _reader_of(self, document: Document) -> type[AgentReader] | None:
        """Return the reader by session, else by content.

        The session comes first because most stream events look like Claude Code's.
        """
        value = document.value
        type_, session = value.get("type"), value.get("session_id")
        of_session = (
            self._sessions.get(session)
            if isinstance(type_, str) and isinstance(session, str)
            else None
        )
        if type_ == "result" and _COST_NAME in value:
            for reader in BY_TYPE["result"]:
                if reader.has_claude_codes_cost and (
                    reader is of_session or reader.recognises(document)
                ):
                    return reader
            return ClaudeCode
        kind = of_session or self._by_content(document, type_)
        if (
            kind
            and kind is not ClaudeCode
            and isinstance(session, str)
            and session not in self._sessions
        ):
            if len(self._sessions) >= SESSIONS_KEPT:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[session] = kind
        return kind

    def _by_content(self, document: Document, type_: object) -> type[AgentReader] | None:
        """Return the reader that recognises the document, trying the last reader first.

        Several agents share some types.
        """
        last = self.last
        if not isinstance(type_, str):
            return next(
                (reader for reader in BY_TYPE[NO_TYPE] if reader.recognises(document)), None
            )
        readers = BY_TYPE[type_]
        if last and type_ in last.types and type(last) in readers and last.recognises(document):
            return type(last)
        return next((reader for reader in readers if reader.recognises(document)), ClaudeCode)


def _is_claude_codes(document: Document) -> bool:
    """Return whether a result record is Claude Code's, mostly without parsing.

    One that only looks whole becomes its reject.
    """
    if not document.is_result:
        return False
    if document.contains(_COST) and document.contains(_OWN):
        return True
    try:
        return not isinstance(document.value, dict)
    except ValueError:
        return True


class UnreadLogs(AgentReader):
    """Logs of agents without a reader (`schemas.unread_logs`).

    One reject per source, with the agent's name.
    """

    agent: ClassVar[str] = "unread"
    types: ClassVar[Names] = UNREAD_TYPES | {NO_TYPE}
    priority: ClassVar[int] = -2

    def __init__(self) -> None:
        self._named: set[str] = set()

    @staticmethod
    def recognises(document: Document) -> bool:
        return unread_log(document.value) is not None

    def feed(self, document: Document) -> Iterable[Found]:
        """Reject the first event only."""
        detail = str(unread_log(document.value))
        if detail not in self._named:
            self._named.add(detail)
            raise InvalidRecord(RejectReason.LOOK_ALIKE, detail)
        return ()
