"""What Grok Build's `grok -p` writes → runs, one for each end: an object, a stream of its own, or a stream like Claude Code's.

A session returns in every run that resumes it. Input leaves out the cache, unless the total says otherwise. A cost that is not complete is
not told, and 0 is none. A stream without an end was interrupted: it has the tokens of its responses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import NO_TYPE, AgentReader, ContextOf, Found
from ingest.agents.kept_run import ended, found, kept
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_uuid, merged, wire_record
from ingest.agents.shared.texts import outcome_of_error, prompt_of
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.agents import GROK, GROK_RESULT_NAMES
from schemas.errors import RejectReason
from schemas.rows.row import usd
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.grok import GrokEnd, GrokEvent, GrokModelUsage, GrokUsage

_MODEL = "grok"
_CLAUDE_CODES = frozenset(("claude_code_version", "qwen_code_version", "output_style", "plugins", "permission_denials"))
"""Fields that its stream like Claude Code's leaves out, by its documentation."""
_SPENT = frozenset(("usage", "modelUsage", "total_cost_usd_ticks"))
_ENDS = ("end", "error", "result", None)
_OUTCOMES = {
    "endturn": Outcome.COMPLETED,
    "stopsequence": Outcome.COMPLETED,
    "maxtokens": Outcome.LIMIT_REACHED,
    "maxturnrequests": Outcome.MAX_TURNS,
    "refusal": Outcome.REFUSED,
    "cancelled": Outcome.INTERRUPTED,
}
"""Why a run stopped, as versions write it in both `snake_case` and `CamelCase`, → outcome."""
_TICKS = Decimal(10) ** 10
_INCOMPLETE = "Tokens of some sub-agents are missing, as the log says."
_CUT = "The stream ended before its totals: these are its responses."
_NO_TOKENS = "The log has no token counts."
_NOTHING = "a stream of Grok Build without a response or an end: the run was killed, or the log is truncated"


@dataclass
class _Stream:
    """One stream so far. `run_id`: by its first event with an id, so that it stays as the stream grows; `used`: tokens of its responses."""

    last: Document
    run_id: str | None = None
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    prompt: str | None = None
    text: str = ""
    has_thoughts: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    responses: int = 0
    used: Tokens = field(default_factory=Tokens)
    tools: ToolCounts = field(default_factory=ToolCounts)


class Grok(AgentReader):
    """Outputs of `grok -p` in its three formats of JSON."""

    agent: ClassVar[str] = GROK.key
    has_claude_codes_cost: ClassVar[bool] = True
    priority: ClassVar[int] = 1  # before Codex, whose streams have an `error` like its own
    event_types: ClassVar[frozenset[str]] = frozenset(
        {
            *(
                "text",
                "thought",
                "tool_call",
                "tool_call_update",
                "usage",
                "end",
                "error",
                "max_turns_reached",
                "plan",
                "available_commands",
            ),
            *("system", "result", NO_TYPE),
        }
    )

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._stream: _Stream | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        """Of the stream like Claude Code's the first event and the end; what is between them is known by its session."""
        value = document.value
        match value.get("type"):
            case None:
                return bool(value.keys() >= GROK_RESULT_NAMES)
            case "text" | "thought":
                return isinstance(value.get("data"), str)
            case "tool_call" | "tool_call_update":
                return isinstance(value.get("toolCallId"), str)
            case "usage":
                return isinstance(value.get("usage"), dict) and "stopReason" in value
            case "end":
                return "stopReason" in value and "sessionId" in value
            case "error":
                return isinstance(value.get("message"), str)
            case "system":
                return value.get("subtype") == "init" and str(value.get("model")).startswith(_MODEL) and _CLAUDE_CODES.isdisjoint(value)
            case "result":
                models = value.get("modelUsage")
                has_own = isinstance(models, dict) and models and all(str(model).startswith(_MODEL) for model in models)
                return bool(has_own) and _CLAUDE_CODES.isdisjoint(value)
            case _:
                return False

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        kind = document.value.get("type")
        stream = self._stream
        is_own = stream is not None and (stream.has_thoughts or stream.run_id is not None)
        if kind in _ENDS and (kind != "error" or is_own or not _SPENT.isdisjoint(document.value)):
            self._stream = None
            values = _values(stream) if stream else {}
            values |= _of_end(stream or _Stream(document), wire_record(GrokEnd, document), in_stream=stream is not None)
            return (found(document, kept(values), self._context_of),)
        if kind == "error":
            return ()  # any program's log has such lines
        event = wire_record(GrokEvent, document)
        closed = tuple(self.end()) if kind == "system" else ()
        self._stream = self._stream or _Stream(document)
        self._stream.last = document
        _note(self._stream, event, document)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """A stream without an end. Pieces of text alone may be those of any program."""
        stream, self._stream = self._stream, None
        if stream and stream.run_id:
            yield ended(stream.last, _values(stream), self._context_of)
        elif stream and stream.has_thoughts:
            yield stream.last.refused(RejectReason.NO_RECORD, _NOTHING)


def _note(stream: _Stream, event: GrokEvent, document: Document) -> None:
    if time := document.logged_at:
        stream.started_at, stream.ended_at = stream.started_at or time, time
    if event.type in ("tool_call", "usage", "system"):
        stream.run_id = stream.run_id or event.uuid or canonical_hash({"text": stream.text, "event": document.value})
    stream.has_thoughts = stream.has_thoughts or event.type == "thought"
    if event.type == "text":
        stream.text += event.data or ""
    elif event.type == "tool_call":
        stream.text = ""
        stream.tools.called(event.tool_call_id, event.tool_name or event.kind or "tool")
    elif event.type == "tool_call_update" and event.status == "failed" and event.tool_call_id:
        stream.tools.failed(event.tool_call_id)
    elif event.type == "usage" and event.usage:
        _note_usage(stream, event.usage)
    elif event.type == "system":
        stream.session_id, stream.model, stream.cwd = event.session_id, event.model, event.cwd
        stream.permission_mode = event.permission_mode
    elif event.message:
        _note_message(stream, event.type, event.message, document)


def _note_usage(stream: _Stream, usage: GrokUsage) -> None:
    stream.responses += 1
    stream.used += _tokens(usage)


def _note_message(stream: _Stream, kind: str, message: dict[str, Any], document: Document) -> None:
    """A message of the stream like Claude Code's."""
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    calls = [(block.get("id"), block.get("name")) for block in blocks if block.get("type") == "tool_use"]
    for call, tool in calls:
        stream.tools.called(call if isinstance(call, str) else None, tool if isinstance(tool, str) and tool else "tool")
    for block in blocks:
        if block.get("is_error") is True and isinstance(call := block.get("tool_use_id"), str):
            stream.tools.failed(call)
    if kind == "user":
        stream.prompt = stream.prompt or prompt_of(document.value)
        return
    stream.text = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str)) or stream.text
    if isinstance(message.get("usage"), dict):
        _note_usage(stream, GrokUsage.model_validate(_whole(message["usage"])))


def _whole(usage: dict[str, Any]) -> dict[str, Any]:
    """The counts of a message's usage, which has other fields too."""
    return {name: count for name, count in usage.items() if type(count) is int and count >= 0}


def _values(stream: _Stream) -> dict[str, Any]:
    """What the events before the end say."""
    used, model = stream.used, stream.model
    return {
        "run_id": stream.run_id or "",
        "agent": GROK.key,
        "record_kind": RecordKind.STREAM,
        "rank": 1,
        "session_id": stream.session_id,
        "requested_model": stream.model,
        "models": [used.as_model(model, None, TokensBasis.LOWER_BOUND, _CUT) if used.total else unrecorded(model, _NO_TOKENS)],
        "started_at": stream.started_at,
        "ended_at": stream.ended_at,
        "num_turns": stream.responses or None,
        "outcome": Outcome.INTERRUPTED,
        "cwd": stream.cwd,
        "permission_mode": stream.permission_mode,
        "prompt": stream.prompt,
        "final_text": stream.text or None,
        "tool_calls": merged(stream.tools),
    }


def _of_end(stream: _Stream, end: GrokEnd, *, in_stream: bool) -> dict[str, Any]:
    """What the end says."""
    outcome, errors = _ended(end)
    session = end.session_id or end.messages_session_id or stream.session_id
    text, own_id = end.text or end.result or stream.text, end.request_id or end.uuid
    told = {"session": session, "request": end.request_id, "text": text, "error": end.message, "ticks": end.total_cost_usd_ticks}
    end_id = own_id if own_id and is_uuid(own_id) else canonical_hash(told)
    return {
        "run_id": stream.run_id or end_id,
        "part_ids": (end_id,) if stream.run_id else (),  # the end alone, saved beside the stream
        "agent": GROK.key,
        "record_kind": RecordKind.STREAM if in_stream else RecordKind.RESULT,
        "rank": 3 if in_stream else 2,
        "session_id": session,
        "models": _models(stream.model, end),
        "duration_ms": round(end.duration_ms) if end.duration_ms else None,
        "duration_api_ms": round(end.duration_api_ms) if end.duration_api_ms else None,
        "num_turns": end.num_turns,
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else outcome is not Outcome.COMPLETED,
        "ended_as": end.stop_reason or end.messages_stop_reason or end.subtype,
        "errors": errors,
        "cost_usd": _cost(end),
        "final_text": text or None,
    }


def _ended(end: GrokEnd) -> tuple[Outcome, list[str]]:
    """How it ended, and the words of its error."""
    said = [text for text in end.errors if isinstance(text, str)] if isinstance(end.errors, list) else []
    if end.type == "error" or end.is_error:
        errors = said or [end.message or end.result or end.subtype or "error"]
        return (Outcome.MAX_TURNS if end.subtype == "error_max_turns" else outcome_of_error(" ".join(errors))), errors
    reason = (end.stop_reason or end.messages_stop_reason or "").replace("_", "").lower()
    return _OUTCOMES.get(reason, Outcome.COMPLETED if end.subtype == "success" else Outcome.UNKNOWN), []


def _cost(end: GrokEnd) -> Decimal | None:
    if end.cost_is_partial or end.usage_is_incomplete:
        return None
    exact = None if end.total_cost_usd_ticks is None else usd(Decimal(end.total_cost_usd_ticks) / _TICKS)
    return (end.total_cost_usd if exact is None else exact) or None


def _models(asked: str | None, end: GrokEnd) -> list[dict[str, Any]]:
    """Tokens by model; reasoning is told for all of them together."""
    basis = (TokensBasis.LOWER_BOUND, _INCOMPLETE) if end.usage_is_incomplete else (TokensBasis.EXACT, None)
    named = {name: usage for name, usage in (end.model_usage or {}).items() if _sum_of(usage)}
    if not named:
        return [_tokens(end.usage).as_model(asked, None, *basis) if end.usage and _sum_of(end.usage) else unrecorded(asked, _NO_TOKENS)]
    whole = _is_whole(end.usage)
    reasoning = end.usage.reasoning_tokens if end.usage and len(named) == 1 else None
    has_cost = _cost(end) is not None
    return [
        _tokens(usage, whole=whole, reasoning=reasoning).as_model(name, None, *basis) | {"cost_usd": usage.cost_usd if has_cost else None}
        for name, usage in named.items()
    ]


def _sum_of(usage: GrokUsage | GrokModelUsage) -> int:
    return (usage.input_tokens or 0) + (usage.output_tokens or 0) + (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)


def _is_whole(usage: GrokUsage | None) -> bool:
    """Whether the input includes the cache: input and output alone are the total."""
    return (
        usage is not None
        and usage.total_tokens is not None
        and usage.total_tokens == (usage.input_tokens or 0) + (usage.output_tokens or 0)
    )


def _tokens(usage: GrokUsage | GrokModelUsage, *, whole: bool | None = None, reasoning: int | None = None) -> Tokens:
    counts = (usage.input_tokens or 0, usage.cache_read_tokens or 0, usage.cache_write_tokens or 0, usage.output_tokens or 0)
    if isinstance(usage, GrokUsage):
        whole, reasoning = _is_whole(usage), usage.reasoning_tokens
    return Tokens.of_whole_input(*counts, reasoning) if whole else Tokens(*counts, reasoning)
