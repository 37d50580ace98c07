"""State that readers keep of an open run: times, tool calls, ids; and base classes of readers."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.distilled import complaints, distilled, ended, found
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import unix_time
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.distilled import Run
from schemas.rows.run import Outcome
from schemas.text import paired
from schemas.wire.values import DIGITS_LOST

Wire = TypeVar("Wire", bound=BaseModel)

# Ids


def canonical_hash(value: Any) -> str:
    """Return the sha256 (hex) of a JSON value, for any key order, white space and numbers.

    Numbers may have any spelling (1, 1.0, 10e-1).

    It is the id of records without one.
    """
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    if _WHOLE_FLOAT.search(canonical):
        value = json.loads(canonical, parse_float=_whole_if_exact)
        canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


_WHOLE_FLOAT = re.compile(r"\d(?:\.0|e\+\d+)[,}\]]")


def _whole_if_exact(number: str) -> int | float:
    """Parse a float; a whole number becomes an int exactly as written.

    1e23 is 10**23, though the nearest float is not.
    """
    exact = Decimal(number)
    return int(exact) if exact == exact.to_integral_value() else float(number)


def is_uuid(text: str | None) -> bool:
    """Return whether a text is a UUID of any version, and so globally unique."""
    try:
        return bool(text) and UUID(text).int != 0
    except ValueError:
        return False


def time_of_uuid(text: str | None) -> datetime | None:
    """Return the time (UTC) in a UUID of version 7: its first 48 bits are Unix milliseconds.

    None for any other text.
    """
    if not text or not is_uuid(text) or UUID(text).version != 7:
        return None
    return unix_time(UUID(text).int >> 80)


# Times


def milliseconds_between(started_at: datetime | None, ended_at: datetime | None) -> int | None:
    """Return how long a run took, or None if a time is unknown or the end is before the start."""
    return (
        round((ended_at - started_at).total_seconds() * 1000)
        if started_at and ended_at and ended_at >= started_at
        else None
    )


def whole_ms(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds)


class By(IntEnum):
    """Who made an event."""

    OTHERS = 0
    MODEL = 1
    TOOL = 2


class ActiveTime:
    """The time an agent worked in a session, from the times of its events in any order.

    Eight bytes each.

    A session waits for its user: overnight, over lunch. So only the gaps before an answer of the
    model and before a tool result count, not those before a prompt or before lines that the program
    writes by itself. A gap of more than five minutes counts only while a tool ran: few requests
    take so long, but computers sleep, and agents wait for an account limit to reset.
    """

    def __init__(self) -> None:
        self._moments = array("q")

    def note(self, time: datetime | None, by: By = By.OTHERS) -> None:
        """Add the time of an event, if it has one."""
        if time:
            self._moments.append((time - _EPOCH) // _MICROSECOND * _KINDS + by)

    def join(self, other: ActiveTime) -> None:
        """Add the events of another log."""
        self._moments.extend(other._moments)

    @property
    def ms(self) -> int | None:
        """Return the active time in milliseconds, or None if no event has a time."""
        active, last = 0, None
        for moment in sorted(self._moments):
            at, by = divmod(moment, _KINDS)
            gap = 0 if last is None else at - last
            if by == By.TOOL or (by == By.MODEL and gap <= _LONGEST_ANSWER):
                active += gap
            last = at
        return None if last is None else round(active / 1000)


_KINDS = len(By)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LONGEST_ANSWER = timedelta(minutes=5) // _MICROSECOND

# Tool calls

CALLS_KEPT = 1024
"""Maximum number of ids of tool calls remembered, to count each call once and to find the tool of
an error.
"""
TOOLS_KEPT = 512
"""Maximum number of tools counted by name; further ones are summed as OTHER_TOOLS."""
OTHER_TOOLS = "(other tools)"
LONGEST_NAME = 256

ToolCalls = tuple[tuple[str, int, int], ...]
"""(tool, calls, errors), sorted by tool."""


@dataclass(slots=True)
class ToolCounts:
    """Tool calls of a run by tool, in bounded memory: each call once, and its error once."""

    counts: dict[str, list[int]] = field(default_factory=dict)
    calls: dict[str, str | None] = field(default_factory=dict)
    """Id of a call → its tool, or None once its error was counted."""

    def called(self, call: str | None, tool: str) -> None:
        if call is not None:
            if call in self.calls:
                return
            if len(self.calls) >= CALLS_KEPT:
                del self.calls[next(iter(self.calls))]
        if tool not in self.counts:
            tool = str(paired(tool[:LONGEST_NAME]))
            if tool not in self.counts and len(self.counts) >= TOOLS_KEPT:
                tool = OTHER_TOOLS
        if call is not None:
            self.calls[call] = tool
        self.counts.setdefault(tool, [0, 0])[0] += 1

    def failed(self, call: str) -> None:
        """Count the error of a call, once. Errors of unknown calls are not counted."""
        tool = self.calls.get(call)
        if tool is not None:
            self.counts[tool][1] += 1
            self.calls[call] = None


def merged(*counted: ToolCounts) -> ToolCalls:
    """Return the sum of several counts."""
    totals: dict[str, list[int]] = {}
    for each in counted:
        for tool, (calls, errors) in each.counts.items():
            total = totals.setdefault(tool, [0, 0])
            total[0] += calls
            total[1] += errors
    return tuple((tool, calls, errors) for tool, (calls, errors) in sorted(totals.items()))


# Wire models


def wire_record(model: type[Wire], document: Document) -> Wire:
    """Return a document as its wire model, with exact amounts of money.

    Raises InvalidRecord with every wrong field.
    """
    try:
        try:
            return model.model_validate(document.value)
        except ValidationError as error:
            if not any(
                detail["type"] == DIGITS_LOST
                for detail in error.errors(include_url=False, include_context=False)
            ):
                raise
            return model.model_validate(document.written)
    except ValidationError as error:
        raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error


def wire_event(model: type[Wire], event: dict[str, Any]) -> Wire | None:
    """Return the event, or None if `wire_record` has to read its document.

    It has to for exact amounts or for the reason of a reject.
    """
    try:
        return model.model_validate(event)
    except ValidationError:
        return None


# Readers


@dataclass
class OpenRun:
    """An open run: common fields, under the names of `Run`."""

    last: Document
    session_id: str | None = None
    agent_version: str | None = None
    requested_model: str | None = None
    cwd: str | None = None
    branch: str | None = None
    permission_mode: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    prompt: str | None = None
    final_text: str | None = None
    outcome: Outcome = Outcome.UNKNOWN
    ended_as: str | None = None
    errors: list[str] = field(default_factory=list)
    active: ActiveTime = field(default_factory=ActiveTime)
    tools: ToolCounts = field(default_factory=ToolCounts)

    def note_time(self, time: datetime | None, by: By | None = None) -> None:
        """Add the time of an event. `by`: its author, in logs with active time."""
        if time:
            self.started_at = min(self.started_at or time, time)
            self.ended_at = max(self.ended_at or time, time)
            if by is not None:
                self.active.note(time, by)

    def has_content(self) -> bool:
        """Return whether there is a run at all."""
        return True

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run`.

        Each agent adds its own: id, kind of record, rank, models.
        """
        return {name: getattr(self, name) for name in _LOGGED} | {
            "duration_ms": milliseconds_between(self.started_at, self.ended_at),
            "active_ms": self.active.ms,
            "tool_calls": merged(self.tools),
        }


_LOGGED = tuple(one.name for one in fields(OpenRun) if one.name in Run.model_fields)

One = TypeVar("One", bound=OpenRun)


class StreamReader(AgentReader, Generic[One]):
    """Base of the readers of streams and transcripts.

    `_open`: the open runs by session, or the only one under None.
    """

    MOST_OPEN: ClassVar[int] = 64
    """Maximum number of open runs per source; beyond it, the first one is closed."""

    def __init__(self) -> None:
        self._open: dict[str | None, One] = {}

    def _close(self, session: str | None = None) -> tuple[Found | Unreadable, ...]:
        """Close a session's run and return it; empty if none is open."""
        run = self._open.pop(session, None)
        return (ended(run.last, run.values()),) if run and run.has_content() else ()

    def _make_room(self, session: str | None) -> tuple[Found | Unreadable, ...]:
        """Close and return the oldest run if a session is new and too many are open."""
        return (
            self._close(next(iter(self._open)))
            if session not in self._open and len(self._open) >= self.MOST_OPEN
            else ()
        )

    def end(self) -> Iterator[Found | Unreadable]:
        """Yield the runs that are still open at the end of the source."""
        for session in tuple(self._open):
            yield from self._close(session)


class RecordReader(AgentReader):
    """Base of the readers of records that are each a whole run.

    `_values` returns those of its `Run`.
    """

    def _values(self, document: Document) -> dict[str, Any]:
        """Return the values of a `Run`. Raises InvalidRecord."""
        raise NotImplementedError

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        """Return the run of a record. Raises InvalidRecord."""
        return (found(document, distilled(self._values(document))),)


def is_failed(outcome: Outcome) -> bool | None:
    """Return `is_error` for an outcome, or None if it is unknown."""
    return (
        None
        if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN)
        else outcome is not Outcome.COMPLETED
    )
