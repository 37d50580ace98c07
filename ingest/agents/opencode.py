"""OpenCode's logs → runs.

The events of `opencode run --format json`, and the session of `opencode export`.

A stream has no model and no end: steps are summed, and a run was interrupted if its last step did
not stop. Sessions started by the `task` tool are not in it. An exported fork begins with copies of
its parent's messages under new ids, which keep their times: messages older than the session are
copies. A message's tokens are those of its last step, so the steps are counted if present. A
compaction's summary was paid too.

`output` includes reasoning until spring 2026 (anomalyco/opencode#17566, #24268), but not later. If
there is a `total`, it decides. Some versions print zeros (#15779), and a response that was
interrupted has them for good.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import Found
from ingest.agents.shared.runs import (
    ActiveTime,
    By,
    OpenRun,
    RecordReader,
    StreamReader,
    ToolCounts,
    canonical_hash,
    is_failed,
    merged,
    milliseconds_between,
    wire_event,
    wire_record,
)
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import CACHE_TAKEN_OUT, Tokens, includes_cache, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import OPENCODE
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.opencode import (
    OpenCodeError,
    OpenCodeEvent,
    OpenCodeExport,
    OpenCodeMessage,
    OpenCodePart,
    OpenCodeTime,
    OpenCodeTokens,
)

STEPS_KEPT = 4096
"""Maximum number of ends of steps remembered, since a log may repeat events."""

_UNCOUNTED = "A response has no token counts, though it was given in whole or in part."
_SAID = ("text", "reasoning", "tool")
"""Types of parts that the model made."""

# What both logs share


@dataclass
class _Steps:
    """Tokens and cost of one model's steps. `doubts`: reasons why there may be more tokens.

    `cached` and `doubled`: number of steps with a cache, and of those whose input includes it;
    `inside`: tokens of the cache in it.
    """

    count: int = 0
    cached: int = 0
    doubled: int = 0
    inside: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal | None = None
    doubts: list[str] = field(default_factory=list)

    def add(self, tokens: OpenCodeTokens) -> None:
        """Add a step.

        Output with reasoning is the rest of the total, else `output`, unless reasoning cannot be
        part of it.
        """
        self.count += 1
        if not (tokens.input or tokens.output or tokens.cache.read or tokens.cache.write):
            self.doubt(_UNCOUNTED)
        outside = tokens.output + tokens.reasoning
        output = outside if tokens.reasoning > tokens.output else tokens.output
        if tokens.total is not None:
            left = tokens.total - tokens.input - tokens.cache.read - tokens.cache.write
            output = left if tokens.output <= left <= outside else output
        elif tokens.reasoning:
            self.doubt("The log does not say whether its output tokens include reasoning.")
        self.tokens += Tokens(
            tokens.input, tokens.cache.read, tokens.cache.write, output, tokens.reasoning
        )
        self.cached += bool(tokens.cache.read or tokens.cache.write)
        self.inside += min(tokens.input, tokens.cache.read + tokens.cache.write)
        self.doubled += includes_cache(tokens.input, tokens.cache.read, tokens.cache.write)

    def pay(self, cost: Decimal | None) -> None:
        if cost is not None:
            self.cost = cost + (self.cost or 0)

    def doubt(self, reason: str) -> None:
        if reason not in self.doubts:
            self.doubts.append(reason)

    def as_model(self, model: str | None, provider: str | None) -> dict[str, Any]:
        why = " ".join(self.doubts) or None
        if not self.tokens.total:
            return unrecorded(model, why or "No step of the run ended.", provider) | {
                "cost_usd": self.cost
            }
        tokens, basis = self.tokens, TokensBasis.LOWER_BOUND if why else TokensBasis.EXACT
        if 2 <= self.doubled == self.cached:  # once may be by chance
            tokens = replace(tokens, uncached=tokens.uncached - self.inside)
            basis, why = TokensBasis.ESTIMATE, " ".join((*self.doubts, CACHE_TAKEN_OUT))
        return tokens.as_model(model, provider, basis, why) | {"cost_usd": self.cost}


def _note_tool(tools: ToolCounts, part: OpenCodePart) -> None:
    tools.called(part.call_id, part.tool or "tool")
    if part.call_id and part.state and part.state.status == "error":
        tools.failed(part.call_id)


def _message_of(error: OpenCodeError) -> str:
    status = f"HTTP {error.data.status_code}" if error.data and error.data.status_code else None
    return (
        ": ".join(filter(None, (error.name, status, error.data.message if error.data else None)))
        or "error"
    )


def _outcome_of(error: OpenCodeError | None, reason: str | None) -> Outcome:
    """Return how a run ended: from its error, else from the reason of its last step's end."""
    if error and error.name != "MessageAbortedError":
        return outcome_of_error(_message_of(error))
    return Outcome.COMPLETED if reason == "stop" and not error else Outcome.INTERRUPTED


_SESSION_ID = re.compile(r"ses_([0-9a-f]{12})[0-9A-Za-z]{14}")
_MESSAGE_ID = re.compile(r"msg_([0-9a-f]{12})[0-9A-Za-z]{14}")
_FIRST_MESSAGE_MS = 3000


def _run_id(session_id: str, first_message: str | None = None, created: object = None) -> str:
    """Return the session if its id is OpenCode's own.

    A stream that continues a session is a separate run, named by `first_message`.

    Ids begin with their time in 12 digits: ms × 4096 and a counter; those of sessions count
    backwards (packages/opencode/src/id/id.ts). So the first message of a session is as old as the
    session. `created` is hashed for other sessions.
    """
    session, message = _SESSION_ID.fullmatch(session_id), _MESSAGE_ID.fullmatch(first_message or "")
    if not session:
        return canonical_hash({"session": session_id, "message": first_message, "told": created})
    if (
        message
        and (int(session[1], 16) + int(message[1], 16) + 1) % (1 << 48) >> 12 > _FIRST_MESSAGE_MS
    ):
        return canonical_hash({"session": session_id, "message": first_message})
    return session_id


# Streams


@dataclass
class _Run(OpenRun):
    """A session's open run.

    `ended_as`: reason of its last step's end; `ends`: ids of the ends of steps.
    """

    first_message: str | None = None
    in_step: bool = False
    steps: _Steps = field(default_factory=_Steps)
    ends: dict[str, None] = field(default_factory=dict)
    error: OpenCodeError | None = None

    def note(self, event: OpenCodeEvent) -> None:
        self.note_time(event_time(event.timestamp))
        if event.type == "error":
            self.error = event.error or OpenCodeError()
        part = event.part
        if part is None:
            return
        self.first_message = self.first_message or part.message_id
        if event.type == "text":
            self.final_text = part.text if part.text and part.text.strip() else self.final_text
        elif event.type == "tool_use":
            _note_tool(self.tools, part)
            if part.tool == "task":
                self.steps.doubt("Sessions that its task tool started are not in the stream.")
        elif event.type == "step_start":
            self.in_step = True
        elif event.type == "step_finish" and part.id not in self.ends:
            self.in_step, self.ended_as = False, part.reason
            if part.tokens:
                self.steps.add(part.tokens)
            self.steps.pay(part.cost)
            if part.id and part.id.startswith("prt_"):
                self.ends[part.id] = None
                if len(self.ends) > STEPS_KEPT:
                    del self.ends[next(iter(self.ends))]

    def values(self) -> dict[str, Any]:
        if self.in_step:
            self.steps.doubt("The last step has no end.")
        outcome = _outcome_of(self.error, None if self.in_step else self.ended_as)
        return super().values() | {
            "run_id": _run_id(self.session_id or "", self.first_message, str(self.started_at)),
            "agent": OPENCODE.key,
            "record_kind": RecordKind.STREAM,
            "rank": 2,
            "models": [self.steps.as_model(None, None)],
            "num_turns": self.steps.count or None,
            "is_answered": bool(self.first_message or not self.error),
            "outcome": outcome,
            "is_error": bool(self.error) if outcome is not Outcome.INTERRUPTED else None,
            "errors": [_message_of(self.error)] if self.error else [],
            "cost_usd": self.steps.cost,
        }


class OpenCodeRun(StreamReader[_Run]):
    """Streams of `opencode run --format json`."""

    agent: ClassVar[str] = OPENCODE.key

    def __init__(self) -> None:
        super().__init__()
        self._last: _Run | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return _is_event(document.value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        session: str = document.value["sessionID"]
        closed = self._make_room(session)
        run = self._open.get(session)
        if run is None:
            run = self._open[session] = _Run(document, session_id=session)
        self._last = run
        try:
            run.note(wire_record(OpenCodeEvent, document))
            run.last = document
        except InvalidRecord as error:
            run.steps.doubt("A step could not be read.")
            return (*closed, document.refused(error.reason, error.detail))
        return closed

    def note(self, event: dict[str, Any]) -> bool:
        """Read an event of the current session.

        Return False for others, since each run ends with its own last document.
        """
        if (
            not _is_event(event)
            or self._last is None
            or self._open.get(event["sessionID"]) is not self._last
        ):
            return False
        if parsed := wire_event(OpenCodeEvent, event):
            self._last.note(parsed)
        return parsed is not None

    def noted(self, last: Document) -> None:
        if self._last:
            self._last.last = last


def _is_event(event: dict[str, Any]) -> bool:
    is_event = event.get("type") in OpenCodeRun.types and isinstance(event.get("sessionID"), str)
    return is_event and ("error" in event or isinstance(event.get("part"), dict))


# Exported sessions


class OpenCodeExported(RecordReader):
    """Sessions as `opencode export` prints them, one object each."""

    agent: ClassVar[str] = OPENCODE.key

    @staticmethod
    def recognises(document: Document) -> bool:
        info = document.value.get("info")
        is_session = (
            isinstance(info, dict)
            and isinstance(info.get("id"), str)
            and ("directory" in info or info["id"].startswith("ses_"))
        )
        return is_session and isinstance(document.value.get("messages"), list)

    def _values(self, document: Document) -> dict[str, Any]:
        record = wire_record(OpenCodeExport, document)
        info, times = record.info, record.info.time or OpenCodeTime()
        started_at = event_time(times.created)
        made_at = [
            event_time(message.info.time.created) if message.info.time else None
            for message in record.messages
        ]
        own = [
            one
            for one, made in zip(record.messages, made_at, strict=True)
            if not (made and started_at and made < started_at)
        ]
        answers = [message for message in own if message.info.role == "assistant"]
        ends = [
            times.updated,
            *(message.info.time.completed for message in own if message.info.time),
        ]
        ended_at = max(filter(None, map(event_time, ends)), default=None)

        steps: dict[tuple[str | None, str | None], _Steps] = {}
        tools, active = ToolCounts(), ActiveTime()
        for message in answers:
            # an answer takes from its creation to its completion, the tools that it called included
            if message.info.time:
                active.note(event_time(message.info.time.created))
                active.note(event_time(message.info.time.completed), By.TOOL)
            total = steps.setdefault((message.info.model_id, message.info.provider_id), _Steps())
            counted = [
                part.tokens for part in message.parts if part.type == "step-finish" and part.tokens
            ]
            whole = (
                message.info.tokens
            )  # zeros before the first step ends, and for good if the message failed
            if (
                not counted
                and whole
                and (whole.input or whole.output or whole.cache.read or whole.cache.write)
            ):
                counted = [whole]
            if not counted and any(part.type in _SAID for part in message.parts):
                total.doubt(_UNCOUNTED)
            for tokens in counted:
                total.add(tokens)
            total.pay(message.info.cost)
            for part in message.parts:
                if part.type == "tool":
                    _note_tool(tools, part)

        last = answers[-1] if answers else None
        error, reason = last.info.error if last else None, _reason(last) if last else None
        outcome = _outcome_of(error, reason) if last else Outcome.UNKNOWN
        costs = [total.cost for total in steps.values() if total.cost is not None]
        spoken = (
            _text(message) for message in reversed(answers) if message.info.summary is not True
        )  # of a compaction
        return {
            "run_id": _run_id(info.id, created=times.created),
            "agent": self.agent,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 3,
            "agent_version": info.version,
            "session_id": info.id,
            "parent_session_id": info.parent_id,
            "models": [
                total.as_model(model, provider) for (model, provider), total in steps.items()
            ],
            "started_at": started_at,
            "ended_at": ended_at,
            "duration_ms": milliseconds_between(started_at, ended_at),
            "active_ms": active.ms,
            "num_turns": sum(total.count for total in steps.values()) or None,
            "outcome": outcome,
            "is_error": None if is_failed(outcome) is None else bool(error),
            "ended_as": reason,
            "errors": [_message_of(error)] if error else [],
            "cost_usd": sum(costs) if costs else None,
            "cwd": info.directory,
            "prompt": next(
                filter(None, (_text(message) for message in own if message.info.role == "user")),
                None,
            ),
            "final_text": next(filter(None, spoken), None),
            "tool_calls": merged(tools),
        }


def _reason(message: OpenCodeMessage) -> str | None:
    """Return why its last step ended.

    Older versions lack the reason but have the completion time of the message.
    """
    reason = next(
        (
            part.reason
            for part in reversed(message.parts)
            if part.type == "step-finish" and part.reason
        ),
        None,
    )
    is_over = message.info.time is not None and message.info.time.completed is not None
    return message.info.finish or reason or ("stop" if is_over and not message.info.error else None)


def _text(message: OpenCodeMessage) -> str | None:
    """Return the last text of a message that the program did not write itself."""
    texts = (
        part.text for part in reversed(message.parts) if part.type == "text" and not part.synthetic
    )
    return next((text for text in texts if text and text.strip()), None)
