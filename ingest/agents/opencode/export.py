"""The session of `opencode export` → a run.

A fork begins with copies of its parent's messages under new ids, which keep their times: what is older than the session is not its own. The
tokens of a message are those of its last step, so that the steps count where they are there. A compaction's summary was paid too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.kept_run import found, kept
from ingest.agents.opencode.steps import Steps, message_of, note_tool, outcome_of, run_id
from ingest.agents.shared.runs import ActiveTime, By, ToolCounts, merged, milliseconds_between, wire_record
from ingest.sources.document import Document
from ingest.sources.times import event_time
from schemas.agents import OPENCODE
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.opencode import OpenCodeExport, OpenCodeMessage, OpenCodeTime


class OpenCodeExported(AgentReader):
    """Sessions as `opencode export` prints them, one object each."""

    agent: ClassVar[str] = OPENCODE.key

    @staticmethod
    def recognises(document: Document) -> bool:
        info = document.value.get("info")
        is_session = isinstance(info, dict) and isinstance(info.get("id"), str) and ("directory" in info or info["id"].startswith("ses_"))
        return is_session and isinstance(document.value.get("messages"), list)

    def feed(self, document: Document) -> Iterable[Found]:
        return (found(document, kept(_kept(wire_record(OpenCodeExport, document))), self._context_of),)


def _kept(record: OpenCodeExport) -> dict[str, Any]:
    info, times = record.info, record.info.time or OpenCodeTime()
    own = [message for message in record.messages if not _is_copied(message, times)]
    answers = [message for message in own if message.info.role == "assistant"]
    started_at = event_time(times.created)
    told_ends = [times.updated, *(message.info.time.completed for message in own if message.info.time)]
    ended_at = max(filter(None, map(event_time, told_ends)), default=None)
    last = answers[-1] if answers else None
    outcome = outcome_of(last.info.error, _reason(last)) if last else Outcome.UNKNOWN
    steps = _steps(answers)
    costs = [total.cost for total in steps.values() if total.cost is not None]
    return {
        "run_id": run_id(info.id, told=times.created),
        "agent": OPENCODE.key,
        "record_kind": RecordKind.TRANSCRIPT,
        "rank": 3,
        "agent_version": info.version,
        "session_id": info.id,
        "parent_session_id": info.parent_id,
        "models": [total.as_model(model, provider) for (model, provider), total in steps.items()],
        "started_at": started_at,
        "ended_at": ended_at,
        "duration_ms": milliseconds_between(started_at, ended_at),
        "active_ms": _active_ms(answers),
        "num_turns": sum(total.count for total in steps.values()) or None,
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else bool(last and last.info.error),
        "ended_as": _reason(last) if last else None,
        "errors": [message_of(last.info.error)] if last and last.info.error else [],
        "cost_usd": sum(costs) if costs else None,
        "cwd": info.directory,
        "prompt": next(filter(None, (_text(message) for message in own if message.info.role == "user")), None),
        "final_text": _final_text(answers),
        "tool_calls": merged(_tools(answers)),
    }


def _active_ms(answers: list[OpenCodeMessage]) -> int | None:
    """An answer takes from its creation to its completion, the tools that it called included."""
    active = ActiveTime()
    for told in filter(None, (message.info.time for message in answers)):
        active.note(event_time(told.created))
        active.note(event_time(told.completed), By.TOOL)
    return active.ms


def _is_copied(message: OpenCodeMessage, session: OpenCodeTime) -> bool:
    made_at = event_time(message.info.time.created) if message.info.time else None
    began_at = event_time(session.created)
    return made_at is not None and began_at is not None and made_at < began_at


def _steps(answers: list[OpenCodeMessage]) -> dict[tuple[str | None, str | None], Steps]:
    """Tokens and cost by model and provider."""
    steps: dict[tuple[str | None, str | None], Steps] = {}
    for message in answers:
        total = steps.setdefault((message.info.model_id, message.info.provider_id), Steps())
        told = [part.tokens for part in message.parts if part.type == "step-finish" and part.tokens]
        for tokens in told or ([message.info.tokens] if message.info.tokens and _was_answered(message) else []):
            total.add(tokens)
        total.pay(message.info.cost)
    return steps


def _was_answered(message: OpenCodeMessage) -> bool:
    """Whether its tokens are counts; they are zeros before the first step ends, and for good where the message failed."""
    tokens = message.info.tokens
    return bool(tokens and (tokens.input or tokens.output or tokens.cache.read or tokens.cache.write))


def _reason(message: OpenCodeMessage) -> str | None:
    """Why its last step ended. Older versions without the reason have at least the time at which the message was completed."""
    told = next((part.reason for part in reversed(message.parts) if part.type == "step-finish" and part.reason), None)
    is_over = message.info.time is not None and message.info.time.completed is not None
    return message.info.finish or told or ("stop" if is_over and not message.info.error else None)


def _text(message: OpenCodeMessage) -> str | None:
    """The last text of a message that the program did not write itself."""
    texts = (part.text for part in reversed(message.parts) if part.type == "text" and not part.synthetic)
    return next((text for text in texts if text and text.strip()), None)


def _final_text(answers: list[OpenCodeMessage]) -> str | None:
    """The last text that is no summary of a compaction."""
    spoken = (_text(message) for message in reversed(answers) if message.info.summary is not True)
    return next(filter(None, spoken), None)


def _tools(answers: list[OpenCodeMessage]) -> ToolCounts:
    counts = ToolCounts()
    for message in answers:
        for part in message.parts:
            if part.type == "tool":
                note_tool(counts, part)
    return counts
