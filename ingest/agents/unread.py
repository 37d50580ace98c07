"""Logs of agents that have no reader → one reject for each source, with their name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ingest.agents.base import NO_TYPE, AgentReader, ContextOf, Found
from ingest.sources.document import Document
from schemas.errors import InvalidRecord, RejectReason
from schemas.unread_logs import UNREAD_TYPES, unread_log


class UnreadLogs(AgentReader):
    """All logs of `schemas.unread_logs`."""

    agent: ClassVar[str] = "unread"
    priority: ClassVar[int] = -2
    event_types: ClassVar[frozenset[str]] = UNREAD_TYPES | {NO_TYPE}

    def __init__(self, _context_of: ContextOf) -> None:
        self._named: set[str] = set()

    @staticmethod
    def recognises(document: Document) -> bool:
        return unread_log(document.value) is not None

    def feed(self, document: Document) -> Iterable[Found]:
        """Of many events only the first one is a reject."""
        detail = str(unread_log(document.value))
        if detail in self._named:
            return ()
        self._named.add(detail)
        raise InvalidRecord(RejectReason.LOOK_ALIKE, detail)
