"""Sessions in the databases of Crush, and of OpenCode when it was written in Go → runs.

A session's cost includes that of each sub-agent that came to its end (`updateParentSessionCost` in
internal/agent/coordinator.go). Here each sub-agent is a run of its own, so its cost is taken out of
its parent's: the sum is the database's sum over the sessions without a parent, as `crush stats`
shows it, and the cost of sub-agents that failed. Tokens are not recorded: there are only those of
the last request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import PurePath
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.distilled import distilled, found
from ingest.agents.shared.runs import (
    ActiveTime,
    By,
    ToolCounts,
    canonical_hash,
    is_failed,
    is_uuid,
    merged,
    milliseconds_between,
    wire_record,
)
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import unrecorded
from ingest.patches import diff_of, patch_facts, patch_in
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CRUSH, OPENCODE
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.crush import CrushChild, CrushMessage, CrushPartData, CrushRecord

_NO_TOKENS = "The database has no tokens of a session but those of its last request."

_OUTCOMES = {
    "end_turn": Outcome.COMPLETED,
    "max_tokens": Outcome.INTERRUPTED,
    "tool_use": Outcome.INTERRUPTED,
    "canceled": Outcome.INTERRUPTED,
    "permission_denied": Outcome.INTERRUPTED,
    "content_filter": Outcome.REFUSED,
}
_CAME_BACK = ("end_turn", "max_tokens", "content_filter")
"""Ends of a sub-agent whose cost was added to its parent's."""

_PATCH = "files of the database"
_UNTITLED = ("New Session", "New Agent Session", "Untitled Session")

_PROVIDER = re.compile(r"(copilot|openrouter|local|bedrock|azure|vertexai)\.(.+)")
"""Providers in front of OpenCode's names of models."""


class CrushDatabase(AgentReader):
    """Sessions of a database, one object each."""

    agent: ClassVar[str] = CRUSH.key

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        record = wire_record(CrushRecord, document)
        one = found(document, distilled(self._values_of(record)))
        files = [
            (self._relative(file.path), _unix(file.before), _unix(file.after))
            for file in record.files
            if file.path and file.before is not None and file.after is not None
        ]
        if not files or len(files) < len(record.files):
            return (one,)
        patch = patch_in(_PATCH, diff_of(files).encode("utf-8", "replace"))
        return (one._replace(log=replace(one.log, **patch_facts(patch))),)

    def _values_of(self, record: CrushRecord) -> dict[str, Any]:
        session, messages = record.crush_session, record.messages
        answers = [message for message in messages if message.role == "assistant"]
        active, tools = ActiveTime(), ToolCounts()
        for message in messages:
            active.note(
                event_time(message.created_at), By.TOOL if message.role == "tool" else By.OTHERS
            )
            active.note(event_time(message.finished_at), By.MODEL)
            for data in _parts(message, "tool_call"):
                tools.called(data.id, data.name or "tool")
            for data in _parts(message, "tool_result"):
                if data.is_error and data.tool_call_id:
                    tools.failed(data.tool_call_id)

        end = _end(answers[-1]) if answers else None
        reason = end.reason if end else None
        error = ": ".join(filter(None, (end.message, end.details))) if end else ""
        outcome = _OUTCOMES.get(reason or "", Outcome.UNKNOWN)
        if reason == "error":
            outcome = outcome_of_error(error)
        elif answers and not reason:
            outcome = Outcome.INTERRUPTED
        started_at = event_time(session.created_at)
        times = (event_time(each.finished_at or each.created_at) for each in messages)
        ended_at = max(filter(None, times), default=event_time(session.updated_at))
        cost = _own_cost(session.cost, record.children)
        models = list(dict.fromkeys(_model(answer) for answer in answers if answer.model))
        parent = session.parent_session_id
        return {
            "run_id": _run_id(session.id),
            "agent": OPENCODE.key if record.database_of == "opencode" else CRUSH.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 3,
            # a message that ends is no other one
            "lines": len(messages) + sum(each.finished_at is not None for each in messages),
            "session_id": session.id,
            "parent_session_id": _run_id(parent) if parent else None,
            "models": [
                unrecorded(model, _NO_TOKENS, provider)
                | ({"cost_usd": cost} if len(models) == 1 else {})
                for provider, model in models or [(None, None)]
            ],
            "started_at": started_at,
            "ended_at": ended_at,
            "duration_ms": milliseconds_between(started_at, ended_at),
            "active_ms": active.ms,
            "num_turns": len(answers) or None,
            "is_answered": any(_text([answer]) or answer.parts for answer in answers),
            "outcome": outcome,
            "is_error": is_failed(outcome),
            "ended_as": reason,
            "errors": [error] if error else [],
            "cost_usd": cost,
            "cwd": self._cwd(),
            "title": session.title if session.title not in _UNTITLED else None,
            "prompt": _text(message for message in messages if message.role == "user"),
            "final_text": _text(
                answer for answer in reversed(answers) if not answer.is_summary_message
            ),
            "tool_calls": merged(tools),
        }

    def _relative(self, path: str) -> str:
        """Return the path of a file within the project, with slashes."""
        inside = path.removeprefix(f"{self._cwd() or ''}/").replace("\\", "/")
        return " ".join(inside.lstrip("/").splitlines())

    def _cwd(self) -> str | None:
        """Return the folder that the database's folder, such as `.crush`, lies in."""
        place = PurePath(self.around.name).parent
        is_its = place.is_absolute() and place.name in (".crush", ".opencode")
        return str(place.parent) if is_its else None


def _unix(content: str) -> str:
    """Return a content with the line ends of all versions but, in some databases, the first."""
    return content.replace("\r\n", "\n")


def _run_id(session_id: str) -> str:
    return session_id if is_uuid(session_id) else canonical_hash({"crush_session": session_id})


def _parts(message: CrushMessage, kind: str) -> Iterable[CrushPartData]:
    return (part.data for part in message.parts if part.type == kind and part.data)


def _end(message: CrushMessage | None) -> CrushPartData | None:
    return next(reversed(list(_parts(message, "finish"))), None) if message else None


def _own_cost(cost: Decimal | None, children: Iterable[CrushChild]) -> Decimal | None:
    """Return a session's cost without that of its sub-agents."""
    inside = [
        child.cost
        for child in children
        if child.cost and (end := _end(child.last)) and end.reason in _CAME_BACK
    ]
    own = None if cost is None else cost - sum(inside, Decimal())
    return cost if own is not None and own < 0 else own


def _model(message: CrushMessage) -> tuple[str | None, str | None]:
    """Return (provider, model) of an answer."""
    parts = None if message.provider else _PROVIDER.fullmatch(message.model or "")
    return (parts[1], parts[2]) if parts else (message.provider, message.model)


def _text(messages: Iterable[CrushMessage]) -> str | None:
    """Return the first text in messages."""
    texts = (data.text for message in messages for data in _parts(message, "text"))
    return next((text for text in texts if text and text.strip()), None)
