"""Output of Grok Build's `grok -p` → runs, one per end.

An object, a stream of its own, or a stream like Claude Code's.

Every run that resumes a session repeats its id. Input excludes the cache, unless the total shows
otherwise. An incomplete cost is not logged, and 0 means no cost. A stream without an end was
interrupted: its tokens are those of its responses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.distilled import distilled, ended, found
from ingest.agents.shared.runs import OpenRun, canonical_hash, is_failed, is_uuid, wire_record
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
_CLAUDE_CODES = frozenset(
    ("claude_code_version", "qwen_code_version", "output_style", "plugins", "permission_denials")
)
"""Fields that its Claude-like stream leaves out, by its documentation."""
_OUTCOMES = {
    "endturn": Outcome.COMPLETED,
    "stopsequence": Outcome.COMPLETED,
    "maxtokens": Outcome.LIMIT_REACHED,
    "maxturnrequests": Outcome.MAX_TURNS,
    "refusal": Outcome.REFUSED,
    "cancelled": Outcome.INTERRUPTED,
}
"""Stop reason, in the `snake_case` and `CamelCase` of different versions, → outcome."""
_NO_TOKENS = "The log has no token counts."
_NOTHING = (
    "a stream of Grok Build without a response or an end: the run was killed, or the log is "
    "truncated"
)


@dataclass
class _Stream(OpenRun):
    """One open stream.

    `run_id`: from its first event with an id, stable as the stream grows; `used`: tokens of its
    responses.
    """

    outcome: Outcome = Outcome.INTERRUPTED
    run_id: str | None = None
    text: str = ""
    has_thoughts: bool = False
    responses: int = 0
    used: Tokens = field(default_factory=Tokens)

    def note(self, event: GrokEvent, document: Document) -> None:
        if time := document.logged_at:
            self.started_at, self.ended_at = self.started_at or time, time
        if event.type in ("tool_call", "usage", "system"):
            self.run_id = (
                self.run_id
                or event.uuid
                or canonical_hash({"text": self.text, "event": document.value})
            )
        self.has_thoughts = self.has_thoughts or event.type == "thought"
        if event.type == "text":
            self.text += event.data or ""
        elif event.type == "tool_call":
            self.text = ""
            self.tools.called(event.tool_call_id, event.tool_name or event.kind or "tool")
        elif event.type == "tool_call_update" and event.status == "failed" and event.tool_call_id:
            self.tools.failed(event.tool_call_id)
        elif event.type == "usage" and event.usage:
            self._note_usage(event.usage)
        elif event.type == "system":
            self.session_id, self.requested_model, self.cwd = (
                event.session_id,
                event.model,
                event.cwd,
            )
            self.permission_mode = event.permission_mode
        elif event.message:
            self._note_message(event.type, event.message, document)

    def _note_usage(self, usage: GrokUsage) -> None:
        self.responses += 1
        self.used += _tokens(
            usage, includes_cache=_includes_cache(usage), reasoning=usage.reasoning_tokens
        )

    def _note_message(self, kind: str, message: dict[str, Any], document: Document) -> None:
        """Read a message of the Claude-like stream."""
        content = message.get("content")
        blocks = (
            [block for block in content if isinstance(block, dict)]
            if isinstance(content, list)
            else []
        )
        for block in blocks:
            if block.get("type") == "tool_use":
                call, tool = block.get("id"), block.get("name")
                self.tools.called(
                    call if isinstance(call, str) else None,
                    tool if isinstance(tool, str) and tool else "tool",
                )
        for block in blocks:
            if block.get("is_error") is True and isinstance(call := block.get("tool_use_id"), str):
                self.tools.failed(call)
        if kind == "user":
            self.prompt = self.prompt or prompt_of(document.value)
            return
        self.text = (
            "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
            or self.text
        )
        if isinstance(
            usage := message.get("usage"), dict
        ):  # which has other fields than counts too
            counts = {
                name: count for name, count in usage.items() if type(count) is int and count >= 0
            }
            self._note_usage(GrokUsage.model_validate(counts))

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run` without an end."""
        model, cut = (
            self.requested_model,
            "The stream ended before its totals: these are its responses.",
        )
        used = (
            self.used.as_model(model, None, TokensBasis.LOWER_BOUND, cut)
            if self.used.total
            else unrecorded(model, _NO_TOKENS)
        )
        return super().values() | {
            "run_id": self.run_id or "",
            "agent": GROK.key,
            "record_kind": RecordKind.STREAM,
            "rank": 1,
            "models": [used],
            "duration_ms": None,
            "num_turns": self.responses or None,
            "final_text": self.text or None,
        }


class Grok(AgentReader):
    """Output of `grok -p` in its three JSON formats."""

    agent: ClassVar[str] = GROK.key
    has_claude_codes_cost: ClassVar[bool] = True
    priority: ClassVar[int] = 1  # before Codex, whose streams have an `error` like its own

    def __init__(self) -> None:
        self._stream: _Stream | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        """Recognise the first event and the end of a Claude-like stream.

        The events between are assigned by their session.
        """
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
                return (
                    value.get("subtype") == "init"
                    and str(value.get("model")).startswith(_MODEL)
                    and _CLAUDE_CODES.isdisjoint(value)
                )
            case "result":
                models = value.get("modelUsage")
                has_own = (
                    isinstance(models, dict)
                    and models
                    and all(str(model).startswith(_MODEL) for model in models)
                )
                return bool(has_own) and _CLAUDE_CODES.isdisjoint(value)
            case _:
                return False

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        kind, stream = document.value.get("type"), self._stream
        # Any program's log has lines with an `error`: it is an end in a stream of Grok's own, or
        # with figures.
        is_own = stream is not None and (stream.has_thoughts or stream.run_id is not None)
        has_figures = not document.value.keys().isdisjoint(
            ("usage", "modelUsage", "total_cost_usd_ticks")
        )
        if kind in ("end", "result", None) or (kind == "error" and (is_own or has_figures)):
            self._stream = None
            values = stream.values() if stream else {}
            values |= _of_end(
                stream or _Stream(document),
                wire_record(GrokEnd, document),
                in_stream=stream is not None,
            )
            return (found(document, distilled(values)),)
        if kind == "error":
            return ()
        event = wire_record(GrokEvent, document)
        closed = tuple(self.end()) if kind == "system" else ()
        self._stream = self._stream or _Stream(document)
        self._stream.last = document
        self._stream.note(event, document)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """Yield the streams without an end. Pieces of text alone may come from any program."""
        stream, self._stream = self._stream, None
        if stream and stream.run_id:
            yield ended(stream.last, stream.values())
        elif stream and stream.has_thoughts:
            yield stream.last.refused(RejectReason.NO_RECORD, _NOTHING)


def _of_end(stream: _Stream, end: GrokEnd, *, in_stream: bool) -> dict[str, Any]:
    """Return the values of a `Run` from its end."""
    errors: list[str] = []
    reason = (end.stop_reason or end.messages_stop_reason or "").replace("_", "").lower()
    outcome = _OUTCOMES.get(
        reason, Outcome.COMPLETED if end.subtype == "success" else Outcome.UNKNOWN
    )
    if end.type == "error" or end.is_error:
        errors = (
            [text for text in end.errors if isinstance(text, str)]
            if isinstance(end.errors, list)
            else []
        )
        errors = errors or [end.message or end.result or end.subtype or "error"]
        outcome = (
            Outcome.MAX_TURNS
            if end.subtype == "error_max_turns"
            else outcome_of_error(" ".join(errors))
        )

    cost = None
    if not end.cost_is_partial and not end.usage_is_incomplete:
        ticks = end.total_cost_usd_ticks
        cost = (
            end.total_cost_usd if ticks is None else usd(Decimal(ticks) / Decimal(10) ** 10)
        ) or None
    basis: tuple[TokensBasis, str | None] = (TokensBasis.EXACT, None)
    if end.usage_is_incomplete:
        basis = (TokensBasis.LOWER_BOUND, "Tokens of some sub-agents are missing, as the log says.")
    # Reasoning, and whether the input includes the cache, are given for all models together.
    usage, requested = end.usage, stream.requested_model
    includes_cache, reasoning = (
        usage is not None and _includes_cache(usage),
        usage.reasoning_tokens if usage else None,
    )
    by_model = {
        name: counts for name, counts in (end.model_usage or {}).items() if _tokens(counts).total
    }
    models = []
    for name, counts in by_model.items():
        tokens = _tokens(
            counts,
            includes_cache=includes_cache,
            reasoning=reasoning if len(by_model) == 1 else None,
        )
        models.append(
            tokens.as_model(name, None, *basis)
            | {"cost_usd": counts.cost_usd if cost is not None else None}
        )
    if not models and usage and _tokens(usage).total:
        models = [
            _tokens(usage, includes_cache=includes_cache, reasoning=reasoning).as_model(
                requested, None, *basis
            )
        ]

    session = end.session_id or end.messages_session_id or stream.session_id
    text, own_id = end.text or end.result or stream.text, end.request_id or end.uuid
    identity = {
        "session": session,
        "request": end.request_id,
        "text": text,
        "error": end.message,
        "ticks": end.total_cost_usd_ticks,
    }
    end_id = own_id if own_id and is_uuid(own_id) else canonical_hash(identity)
    return {
        "run_id": stream.run_id or end_id,
        "part_ids": (end_id,) if stream.run_id else (),  # the end alone, saved beside the stream
        "agent": GROK.key,
        "record_kind": RecordKind.STREAM if in_stream else RecordKind.RESULT,
        "rank": 3 if in_stream else 2,
        "session_id": session,
        "models": models or [unrecorded(requested, _NO_TOKENS)],
        "duration_ms": round(end.duration_ms) if end.duration_ms else None,
        "duration_api_ms": round(end.duration_api_ms) if end.duration_api_ms else None,
        "num_turns": end.num_turns,
        "outcome": outcome,
        "is_error": is_failed(outcome),
        "ended_as": end.stop_reason or end.messages_stop_reason or end.subtype,
        "errors": errors,
        "cost_usd": cost,
        "final_text": text or None,
    }


def _includes_cache(usage: GrokUsage) -> bool:
    """Return whether the input includes the cache: input and output alone are the total."""
    return usage.total_tokens is not None and usage.total_tokens == (usage.input_tokens or 0) + (
        usage.output_tokens or 0
    )


def _tokens(
    usage: GrokUsage | GrokModelUsage, *, includes_cache: bool = False, reasoning: int | None = None
) -> Tokens:
    counts = (
        usage.input_tokens or 0,
        usage.cache_read_tokens or 0,
        usage.cache_write_tokens or 0,
        usage.output_tokens or 0,
    )
    return (
        Tokens.of_whole_input(*counts, reasoning) if includes_cache else Tokens(*counts, reasoning)
    )
