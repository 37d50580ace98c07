"""Which reader sees a document. Those of other agents than Claude Code are imported with the first document that may be theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any, cast

from ingest.agents.base import NO_TYPE, AgentReader, ContextOf, Found, Notes, Resumable
from ingest.agents.claude_code.reader import ClaudeCode
from ingest.sources.document import Document, Events, TakesLines
from ingest.sources.files import Unreadable
from schemas.rows.kept_run import KeptRun

Readers = tuple[type[AgentReader], ...]

SESSIONS_KEPT = 64
"""Sessions of agents other than Claude Code that are remembered in one source; of more, the first one is forgotten."""

_COST_NAME = "total_cost_usd"
_COST = f'"{_COST_NAME}"'
"""A field of results that hardly another agent writes: a reader of one that does has `tells_costs`. In texts its quotes are escaped."""
_OWN = '"permission_denials"'
"""A field of newer results beside it that no other agent writes."""


@cache
def by_type() -> tuple[dict[str, Readers], Readers, Readers]:
    """The readers of events by their type, of documents without a type (Claude Code's is the last), and of events of unknown types."""
    from ingest.agents.all_readers import OF_UNKNOWN_TYPES, READERS  # here: it takes a tenth of a second, and most sources need none

    others = tuple(reader for reader in READERS if reader is not ClaudeCode)
    typed = {kind: tuple(reader for reader in others if kind in reader.event_types) for one in others for kind in one.event_types}
    untyped = (*(reader for reader in others if not reader.event_types or NO_TYPE in reader.event_types), ClaudeCode)
    return typed, untyped, OF_UNKNOWN_TYPES


class SourceReaders:
    """The readers of the agents met in one source. Each is made when the first document of its agent comes."""

    def __init__(self, context_of: ContextOf) -> None:
        self._context_of = context_of
        self._readers: dict[type[AgentReader], AgentReader] = {}
        self._last: AgentReader | None = None
        self._sessions: dict[str, type[AgentReader]] = {}

    @property
    def agent(self) -> str:
        """The agent of the last document, for an error message."""
        return self._last.agent if self._last else "an agent"

    def feed(self, document: Document) -> Iterable[Found | Unreadable] | None:
        """The runs that end with this document; None where no reader recognises it. Raises InvalidRecord."""
        kind = ClaudeCode if _is_claude_codes(document) else self._reader_of(document)
        if kind is None:
            return None
        reader = self._last
        if type(reader) is not kind:
            reader = self._last = self._readers.get(kind) or self._readers.setdefault(kind, kind(self._context_of))
        return reader.feed(document)

    @property
    def taker(self) -> TakesLines | None:
        """Takes lines of the agent of the last document, where its reader does."""
        return getattr(self._last, "passing", None)

    def took(self, last: Document) -> None:
        """The document of the last line that was taken."""
        for reader in self._readers.values():
            if hasattr(reader, "passing"):
                cast("Notes", reader).noted(last)

    def resume(self, kept: KeptRun) -> bool:
        """Go on with the log of this run, before the first document. False where no reader can."""
        from ingest.agents.all_readers import READERS

        for kind in READERS:
            if kind.agent == kept.agent and hasattr(kind, "resume"):
                reader = cast("Resumable", kind(self._context_of))
                if reader.resume(kept):
                    self._last = self._readers[kind] = reader
                    return True
        return False

    @property
    def resumable(self) -> Resumable | None:
        """The reader of the source, where it is the only one and can go on with it later."""
        return cast("Resumable", self._last) if len(self._readers) == 1 and hasattr(self._last, "resume") else None

    def note(self, events: Events, first: int, places: int) -> int:
        """How many events, from `first` on, the reader of the document before notes: no run ends with them, and none is refused.

        They are dispatched as `feed` does. `places`: how much higher the numbers of their documents are.
        """
        if not hasattr(self._last, "note"):
            return 0
        reader = cast("Notes", self._last)
        count, types, note, of_session, kind = first, reader.event_types, reader.note, self._sessions.get, type(reader)
        with suppress(Exception):  # of a defect: the event is fed as a document, which says what is wrong
            for event in islice(events.values, first, None):
                if event["type"] not in types or ("session_id" in event and of_session(event["session_id"]) is not kind) or not note(event):
                    break
                count += 1
        if count > first:
            reader.noted(events.document(count - 1).moved(places))
        return count - first

    def _reader_of(self, document: Document) -> type[AgentReader] | None:
        value = document.value
        kind = self._of_session(value)
        if value.get("type") == "result" and _COST_NAME in value:
            others = (one for one in by_type()[0]["result"] if hasattr(one, "tells_costs") and (one is kind or one.recognises(document)))
            return next(others, ClaudeCode)
        kind = kind or self._by_content(document, value.get("type"))
        if kind and kind is not ClaudeCode and "session_id" in value:
            self._remember(value["session_id"], kind)
        return kind

    def _of_session(self, value: dict[str, Any]) -> type[AgentReader] | None:
        """The reader that knew an earlier event of the session: most events of a stream look like those of Claude Code."""
        if not self._sessions:
            return None
        session = value.get("session_id") if isinstance(value.get("type"), str) else None
        return self._sessions.get(session) if isinstance(session, str) else None

    def _by_content(self, document: Document, kind: object) -> type[AgentReader] | None:
        """The reader that recognises the document, first that of the document before: some types are those of several agents."""
        last = self._last
        if last and isinstance(kind, str) and kind in last.event_types and not isinstance(last, ClaudeCode) and last.recognises(document):
            return type(last)
        typed, untyped, unknown = by_type()
        if not isinstance(kind, str):
            return next((reader for reader in untyped if reader.recognises(document)), None)
        return next((reader for reader in typed.get(kind, unknown) if reader.recognises(document)), ClaudeCode)

    def _remember(self, session: object, kind: type[AgentReader]) -> None:
        if isinstance(session, str) and session not in self._sessions:
            if len(self._sessions) >= SESSIONS_KEPT:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[session] = kind

    def met(self) -> Iterator[AgentReader]:
        """The readers of the agents met so far."""
        for reader in self._readers.values():
            self._last = reader
            yield reader


def _is_claude_codes(document: Document) -> bool:
    """Whether a result record is Claude Code's, mostly without parsing it. One that only looks whole is its reject."""
    if not document.is_result:
        return False
    if document.contains(_COST) and document.contains(_OWN):
        return True
    try:
        return not isinstance(document.value, dict)
    except ValueError:
        return True
