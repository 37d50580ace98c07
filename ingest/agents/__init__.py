"""The readers of all agents, and which of them sees a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.claude_code.reader import ClaudeCode
from ingest.agents.codex.exec_stream import CodexExec
from ingest.agents.codex.rollout import CodexRollout
from ingest.agents.codex.text_log import CodexTextLog
from ingest.agents.inspect_ai import InspectAI
from ingest.agents.kept_run import KeptRuns
from ingest.agents.openhands.events import OpenHandsEvents, OpenHandsState
from ingest.agents.openhands.output import OpenHandsOutput
from ingest.agents.trae import Trae
from ingest.documents.document import Document
from ingest.sources.files import Unreadable
from schemas.marks import RESULT_START

READERS: tuple[type[AgentReader], ...] = (
    ClaudeCode,
    CodexExec,
    CodexRollout,
    CodexTextLog,
    Trae,
    OpenHandsEvents,
    OpenHandsState,
    OpenHandsOutput,
    InspectAI,
    KeptRuns,
)
"""Every reader. A document with a `type` goes to a reader of such events, any other to the first that recognises it."""

RESULT_BYTES = RESULT_START.encode()

Readers = tuple[type[AgentReader], ...]


@cache
def by_type() -> tuple[dict[str, Readers], Readers]:
    """The readers of events by their type, and the readers of documents without a type; Claude Code's comes last."""
    typed = {kind: tuple(reader for reader in READERS if kind in reader.event_types) for one in READERS for kind in one.event_types}
    return typed, (*(reader for reader in READERS if not reader.event_types), ClaudeCode)


class SourceReaders:
    """The readers of the agents met in one source. Each is made when the first document of its agent comes."""

    def __init__(self, context_of: ContextOf) -> None:
        self._context_of = context_of
        self._readers: dict[type[AgentReader], AgentReader] = {}
        self._last: AgentReader | None = None

    @property
    def agent(self) -> str:
        """The agent of the last document, for an error message."""
        return self._last.agent if self._last else "an agent"

    def feed(self, document: Document) -> Iterable[Found | Unreadable] | None:
        """The runs that end with this document; None where no reader recognises it. Raises InvalidRecord."""
        kind = recognise(document, type(self._last) if self._last else None)
        if kind is None:
            return None
        self._last = self._readers.get(kind) or self._readers.setdefault(kind, kind(self._context_of))
        return self._last.feed(document)

    def end(self) -> Iterator[Found | Unreadable]:
        """What the readers still have at the end of the source."""
        for reader in self._readers.values():
            self._last = reader
            yield from reader.end()


def recognise(document: Document, last: type[AgentReader] | None = None) -> type[AgentReader] | None:
    """The reader of a document; None where there is none. `last`: the reader of the one before, which comes first for shared types."""
    if document.content.startswith(RESULT_BYTES if type(document.content) is bytes else RESULT_START):  # type: ignore[arg-type]
        return ClaudeCode
    kind = document.value.get("type")
    if type(kind) is str:
        if last and kind in last.event_types and last.recognises(document):
            return last
        return next((reader for reader in by_type()[0].get(kind, ()) if reader.recognises(document)), ClaudeCode)
    return next((reader for reader in by_type()[1] if reader.recognises(document)), None)
