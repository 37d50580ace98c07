"""The events of a Copilot session (`events.jsonl`) or of `copilot -p --output-format json` → runs.

Tokens are told by a shutdown only, so a session that crashed has none, nor has the printed stream, which ends with a `result`. What is
paid are premium requests, and since 2026-06 AI credits, which are dollars (`totals`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.copilot.totals import PREMIUM_REQUESTS, Totals
from ingest.agents.kept_run import complaints, ended, found, kept
from ingest.agents.shared.runs import ActiveTime, By, ToolCounts, canonical_hash, is_uuid, merged, milliseconds_between
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import COPILOT, COPILOT_PASSED_TYPES, COPILOT_READ_TYPES
from schemas.errors import RejectReason
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.copilot import CopilotData, CopilotPlace, CopilotResult

_NO_TOKENS = "The log has no token counts but the output of its messages, {:,} tokens."
_WENT_ON = "The session went on after the last count of its tokens."
_BEGAN_AGAIN = "Its messages have more output than its token counts: the counters began again in between."


@dataclass
class _Session:
    """One session so far. `is_over`: nothing happened since its last shutdown or result."""

    first_id: str | None
    last: Document
    start: CopilotData = field(default_factory=CopilotData)
    place: CopilotPlace = field(default_factory=CopilotPlace)
    has_start: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    active: ActiveTime = field(default_factory=ActiveTime)
    is_over: bool = False
    ended_as: str | None = None
    totals: Totals = field(default_factory=Totals)
    model: str | None = None
    said_tokens: dict[str | None, int] = field(default_factory=dict)
    prompts: int = 0
    answers: int = 0
    prompt: str | None = None
    text: str | None = None
    error: str | None = None
    aborted: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)


class CopilotEvents(AgentReader):
    """Sessions of the Copilot CLI as it keeps or prints them."""

    agent: ClassVar[str] = COPILOT.key
    event_types: ClassVar[frozenset[str]] = COPILOT_READ_TYPES | COPILOT_PASSED_TYPES

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._session: _Session | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        if value.get("type") != "result":
            return isinstance(value.get("data"), dict) and ("parentId" in value or "id" in value)
        usage = value.get("usage")
        return isinstance(usage, dict) and not usage.keys().isdisjoint(("premiumRequests", "sessionDurationMs"))

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        kind = document.value["type"]
        closed = tuple(self.end()) if kind == "session.start" else ()
        session = self._session = self._session or _Session(_id_of(document), document)
        _note_time(session, document)
        try:
            if kind == "result":
                return (self._printed(session, document),)
            if note := _ROLL_UPS.get(kind):
                note(session, CopilotData.model_validate(document.value["data"]), event_time(document.value.get("timestamp")))
            elif kind in COPILOT_READ_TYPES:
                _NOTES[kind](session, CopilotData.model_validate(document.value["data"]))
            session.last = document
        except ValidationError as error:
            return (*closed, document.refused(RejectReason.INVALID_RECORD, f"{kind}: {complaints(error)}"))
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """The session that is still open; one without a shutdown was interrupted."""
        if self._session:
            yield ended(self._session.last, _kept(self._session), self._context_of)
        self._session = None

    def _printed(self, session: _Session, document: Document) -> Found:
        """The run of a printed stream, whose last event is its record."""
        self._session = None
        result = CopilotResult.model_validate(document.value)
        session.is_over = True
        if result.exit_code:
            session.error = session.error or f"exit code {result.exit_code}"
        return found(document, kept(_kept(session) | _of_result(session, result, canonical_hash(document.value))), self._context_of)


def _id_of(document: Document) -> str | None:
    own_id = document.value.get("id")
    return own_id if isinstance(own_id, str) else None


_MADE_BY = {
    "assistant.message": By.MODEL,
    "assistant.turn_end": By.MODEL,
    "tool.execution_start": By.MODEL,
    "tool.execution_complete": By.TOOL,
}


def _note_time(session: _Session, document: Document) -> None:
    if time := event_time(document.value.get("timestamp")):
        session.started_at = min(session.started_at or time, time)
        session.ended_at = max(session.ended_at or time, time)
        session.active.note(time, _MADE_BY.get(document.value.get("type"), By.OTHERS))


def _note_start(session: _Session, data: CopilotData) -> None:
    session.start, session.has_start, session.place = data, True, data.context or session.place
    session.started_at = event_time(data.start_time) or session.started_at
    session.model = data.selected_model


def _note_resume(session: _Session, data: CopilotData) -> None:
    session.model = data.selected_model or session.model


def _note_model(session: _Session, data: CopilotData) -> None:
    session.model = data.new_model or session.model


def _note_user(session: _Session, data: CopilotData) -> None:
    if data.parent_tool_call_id is None:
        session.prompts += 1
        session.prompt = session.prompt or data.content
        session.is_over, session.error, session.aborted = False, None, None


def _note_answer(session: _Session, data: CopilotData) -> None:
    """A message, also of a sub-agent, which has no part in the final text."""
    model = data.model or session.model
    session.said_tokens[model] = session.said_tokens.get(model, 0) + (data.output_tokens or 0)
    session.is_over = False
    if data.parent_tool_call_id is None:
        session.answers += 1
        session.error = session.aborted = None
        session.text = data.content if data.content and data.content.strip() else session.text


def _note_done(session: _Session, data: CopilotData) -> None:
    session.text = data.summary or session.text


def _note_call(session: _Session, data: CopilotData) -> None:
    session.tools.called(data.tool_call_id, data.tool_name or "tool")


def _note_called(session: _Session, data: CopilotData) -> None:
    if data.success is False and data.tool_call_id:
        session.tools.failed(data.tool_call_id)


def _note_error(session: _Session, data: CopilotData) -> None:
    status = f"HTTP {data.status_code}" if data.status_code else None
    session.error = ": ".join(filter(None, (status, data.message))) or "error"


def _note_abort(session: _Session, data: CopilotData) -> None:
    session.aborted = data.reason or "aborted"


def _note_checkpoint(session: _Session, data: CopilotData, at: datetime | None) -> None:
    session.totals.checkpoint(data, at)


def _note_shutdown(session: _Session, data: CopilotData, at: datetime | None) -> None:
    session.totals.roll_up(data, at)
    session.is_over, session.ended_as = True, data.shutdown_type
    if data.shutdown_type == "error":
        session.error = data.error_reason or session.error or "error"


_ROLL_UPS = {"session.shutdown": _note_shutdown, "session.usage_checkpoint": _note_checkpoint}
_NOTES = {
    "session.start": _note_start,
    "session.resume": _note_resume,
    "session.model_change": _note_model,
    "session.error": _note_error,
    "session.task_complete": _note_done,
    "abort": _note_abort,
    "user.message": _note_user,
    "assistant.message": _note_answer,
    "tool.execution_start": _note_call,
    "tool.execution_complete": _note_called,
}


def _kept(session: _Session) -> dict[str, Any]:
    start, figures = session.start, session.totals.all_figures()
    outcome = _outcome(session)
    amount, unit = session.totals.credits()
    return {
        "run_id": run_id(start.session_id, session.first_id),
        "agent": COPILOT.key,
        "record_kind": RecordKind.TRANSCRIPT if session.has_start else RecordKind.STREAM,
        "rank": 4 if session.totals.tokens else 2,
        "agent_version": start.version,
        "session_id": start.session_id,
        "requested_model": start.selected_model or session.model,
        "models": _models(session),
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "duration_ms": milliseconds_between(session.started_at, session.ended_at),
        "active_ms": session.active.ms,
        "duration_api_ms": round(figures["api_ms"]) if "api_ms" in figures else None,
        "num_turns": session.prompts or None,
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else session.error is not None,
        "ended_as": session.ended_as,
        "errors": [session.error] if session.error else [],
        "cost_usd": session.totals.cost(),
        "credits": amount,
        "credits_unit": unit,
        "repo": session.place.repository,
        "branch": session.place.branch,
        "base_commit": session.place.head_commit,
        "cwd": session.place.cwd,
        "prompt": session.prompt,
        "final_text": session.text,
        "tool_calls": merged(session.tools),
    }


def _of_result(session: _Session, result: CopilotResult, result_id: str) -> dict[str, Any]:
    """What the end of a printed stream says. It may be the only place with the session, which other processes may have gone on with."""
    told: dict[str, Any] = {"record_kind": RecordKind.STREAM, "rank": 3, "session_id": session.start.session_id or result.session_id}
    is_alone = session.first_id is None
    told |= {"run_id": result_id} if is_alone else {"run_id": run_id(None, session.first_id), "part_ids": (result_id,)}
    if result.exit_code is not None:
        told["ended_as"] = f"exit code {result.exit_code}"
    usage = result.usage
    if usage and usage.session_ms is not None:
        told["duration_ms"] = round(usage.session_ms)
    if usage and usage.api_ms is not None:
        told["duration_api_ms"] = round(usage.api_ms)
    if usage and usage.premium_requests is not None and not session.totals.is_billed:
        told |= {"credits": usage.premium_requests, "credits_unit": PREMIUM_REQUESTS}
    return told


def run_id(session_id: str | None, first: str | None) -> str:
    """The session, where its id is a UUID; `first` tells other sessions apart."""
    return session_id if session_id and is_uuid(session_id) else canonical_hash({"session": session_id, "first": first})


def _outcome(session: _Session) -> Outcome:
    if not session.is_over or session.aborted:
        return Outcome.INTERRUPTED
    if session.error:
        return outcome_of_error(session.error)
    return Outcome.COMPLETED if session.answers else Outcome.UNKNOWN


def _models(session: _Session) -> list[dict[str, Any]]:
    """Tokens and cost by model; without a roll-up the models alone."""
    totals, counted = session.totals, session.totals.all_tokens()
    if not counted:
        said = session.said_tokens or ({session.model: 0} if session.model else {})
        return [unrecorded(model, _NO_TOKENS.format(output)) for model, output in said.items()]
    doubt = None if session.is_over else _WENT_ON
    if doubt is None and sum(session.said_tokens.values()) > sum(tokens.output for tokens in counted.values()):
        doubt = _BEGAN_AGAIN
    basis = TokensBasis.LOWER_BOUND if doubt else TokensBasis.EXACT
    costs = {model: totals.cost(model) if len(counted) > 1 else totals.cost() for model in counted}
    return [tokens.as_model(model, basis=basis, reason=doubt) | {"cost_usd": costs[model]} for model, tokens in counted.items()]
