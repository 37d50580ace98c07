"""Aider's analytics log → runs, one for each session.

Several processes write one log, and no line names its session. A message continues the session whose total cost it adds its own to. Where
nothing was paid, a launch ends the session, since a sum of zeros tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.aider.tokens import INCLUSIVE, UNTOLD_START
from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import ended
from ingest.agents.shared.runs import ActiveTime, By, canonical_hash, milliseconds_between, wire_record
from ingest.agents.shared.tokens import Tokens
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import AIDER, AIDER_EVENT_NAMES
from schemas.rows.run import RecordKind, TokensBasis
from schemas.wire.aider import AiderEvent

SESSIONS_OPEN = 256
"""Sessions that may be continued; of more, the one without a message for the longest time is taken as ended."""
_ROUNDED = 1e-8
"""Totals differ by less from the sum of their parts, in USD."""


@dataclass
class _Session:
    """One session so far. `total`: the total cost after its last message."""

    last: Document
    user: str | None
    first: list[Any]
    total: float
    is_whole: bool
    version: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    active: ActiveTime = field(default_factory=ActiveTime)
    messages: int = 0
    used: dict[str | None, Tokens] = field(default_factory=dict)
    costs: dict[str | None, Decimal] = field(default_factory=dict)


class AiderAnalytics(AgentReader):
    """Logs of `--analytics-log`."""

    agent: ClassVar[str] = AIDER.key

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._open: list[_Session] = []

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        return value.keys() >= AIDER_EVENT_NAMES and isinstance(value["event"], str) and isinstance(value["properties"], dict)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        name = document.value["event"]
        if name == "launched":
            return self._closed([session for session in self._open if not session.total])
        if name != "message_send":
            return ()
        line = wire_record(AiderEvent, document)
        session = self._continued(line) or self._begun(document, line)
        session.last = document
        _note(session, line)
        self._open.append(session)  # the last one that said something is the last one
        return self._closed(self._open[:-SESSIONS_OPEN])

    def end(self) -> Iterator[Found | Unreadable]:
        yield from self._closed(list(self._open))

    def _continued(self, line: AiderEvent) -> _Session | None:
        """The session that the message belongs to; of several the last one, and before others one with this model."""
        told = line.properties
        before = (told.total_cost or 0.0) - float(told.cost or 0)
        fitting = [one for one in self._open if one.user == line.user_id and abs(one.total - before) < _ROUNDED]
        same = [one for one in fitting if told.main_model in one.used]
        if chosen := (same or fitting)[-1:]:
            self._open = [one for one in self._open if one is not chosen[0]]
            return chosen[0]
        return None

    def _begun(self, document: Document, line: AiderEvent) -> _Session:
        told = line.properties
        is_whole = abs((told.total_cost or 0.0) - float(told.cost or 0)) < _ROUNDED
        return _Session(document, line.user_id, [line.time, told.model_dump(mode="json")], 0.0, is_whole)

    def _closed(self, sessions: list[_Session]) -> tuple[Found | Unreadable, ...]:
        closed = [id(one) for one in sessions]
        self._open = [one for one in self._open if id(one) not in closed]
        return tuple(ended(one.last, _kept(one), self._context_of) for one in sessions)


def _note(session: _Session, line: AiderEvent) -> None:
    told = line.properties
    session.messages += 1
    session.total = told.total_cost or session.total
    session.version = told.aider_version or session.version
    if time := event_time(line.time):
        session.started_at = min(time, session.started_at or time)
        session.ended_at = max(time, session.ended_at or time)
        session.active.note(time, By.MODEL)
    tokens = Tokens(told.prompt_tokens or 0, output=told.completion_tokens or 0)
    session.used[told.main_model] = session.used.get(told.main_model, Tokens()) + tokens
    if told.cost is not None:
        session.costs[told.main_model] = session.costs.get(told.main_model, Decimal()) + told.cost


def _kept(session: _Session) -> dict[str, Any]:
    return {
        "run_id": canonical_hash({"aider": session.user, "first": session.first}),
        "agent": AIDER.key,
        "record_kind": RecordKind.STREAM,
        "rank": 2,
        "agent_version": session.version,
        "models": [_model(session, model) for model in session.used],
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "duration_ms": milliseconds_between(session.started_at, session.ended_at),
        "active_ms": session.active.ms,
        "num_turns": session.messages,
        "cost_usd": sum(session.costs.values()) if session.costs else None,
    }


def _model(session: _Session, model: str | None) -> dict[str, Any]:
    basis = (TokensBasis.UPPER_BOUND, INCLUSIVE) if session.is_whole else (TokensBasis.ESTIMATE, f"{INCLUSIVE} {UNTOLD_START}")
    told = session.used[model].as_model(model, None, *basis)
    return told | {"cache_read_tokens": None, "cache_write_tokens": None, "cost_usd": session.costs.get(model)}
