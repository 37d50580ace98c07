"""Kimi's session logs, `wire.jsonl` → runs.

The lines of Kimi Code, and those of its predecessor Kimi CLI.

Neither logs its session, which is only the name of its folder: the id of a session is made of its
first time and first prompt. Kimi Code logs the tokens of each request, including those that
summarize, under the model's name in the settings; Kimi CLI those of each step, again as they grow,
and never the model. Sub-agents have logs of their own. A fork begins with a copy of the log, which
a line `forked` ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ingest.agents.base import Found
from ingest.agents.shared.runs import (
    By,
    OpenRun,
    StreamReader,
    canonical_hash,
    is_failed,
    wire_record,
)
from ingest.agents.shared.texts import lines_of, outcome_of_error
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import KIMI
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.kimi import CLI_TYPES, KimiCliLine, KimiCliPayload, KimiCodeLine, KimiUsage

RESPONSES_KEPT = 4096
"""Maximum number of responses with tokens that may be updated; beyond it, the oldest are final."""

_MADE_BY = {
    **dict.fromkeys(
        ("usage.record", "content.part", "tool.call", "step.end", "turn.ended"), By.MODEL
    ),
    **dict.fromkeys(("ContentPart", "ToolCall", "StatusUpdate", "TurnEnd"), By.MODEL),
    **dict.fromkeys(("tool.result", "ToolResult"), By.TOOL),
}

_Key = tuple[str | None, str | None]
"""(model, provider)"""


@dataclass
class _Session(OpenRun):
    """One open session. `began`: what identifies it. `said`: the text of this step."""

    outcome: Outcome = Outcome.INTERRUPTED
    began: dict[str, Any] = field(default_factory=dict)
    key: _Key = (None, None)
    used: dict[_Key, Tokens] = field(default_factory=dict)
    responses: dict[str, tuple[_Key, Tokens]] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    turns: int = 0
    in_step: bool = False
    step_text: str = ""

    def has_content(self) -> bool:
        """Return whether it is a run: a log with only its first line is none."""
        return bool(self.turns or self.used or self.responses)

    def begin_turn(self, prompt: Any, written: object) -> None:
        text = lines_of(prompt)
        self.turns += 1
        self.prompt = self.prompt or text
        self.began.setdefault("turn", [written, text])
        self.end_turn(Outcome.INTERRUPTED)

    def end_turn(
        self, outcome: Outcome, reason: str | None = None, error: str | None = None
    ) -> None:
        """Store how the turn ended; until then it counts as interrupted."""
        self.in_step = False
        self.outcome, self.ended_as, self.errors = outcome, reason, [error] if error else []

    def begin_step(self) -> None:
        self.in_step, self.step_text = True, ""

    def say(self, text: str | None) -> None:
        self.step_text += text or ""
        self.final_text = self.step_text if self.step_text.strip() else self.final_text

    def spend(self, usage: KimiUsage, key: _Key, response: str | None = None) -> None:
        """Add the tokens of a request; for a known response they replace its earlier ones."""
        tokens = Tokens(
            usage.input_other, usage.input_cache_read, usage.input_cache_creation, usage.output
        )
        if response is None:
            self.used[key] = self.used.get(key, Tokens()) + tokens
            return
        self.responses[response] = key, tokens
        if len(self.responses) > RESPONSES_KEPT:
            key, tokens = self.responses.pop(next(iter(self.responses)))
            self.used[key] = self.used.get(key, Tokens()) + tokens

    def note(self, line: KimiCodeLine) -> None:
        """Read a line of Kimi Code without tokens."""
        event = line.event
        if line.type == "config.update":
            self.cwd = line.cwd or self.cwd
        elif line.type == "turn.prompt":
            self.begin_turn(line.input, line.time)
        elif line.type == "turn.cancel":
            self.end_turn(Outcome.INTERRUPTED, "cancelled")
        elif line.type.startswith("turn."):
            error = (
                (line.error.message or str(line.error.code))
                if line.error
                else "failed"
                if line.reason == "failed"
                else None
            )
            outcome = {"completed": Outcome.COMPLETED, "cancelled": Outcome.INTERRUPTED}.get(
                line.reason or "", Outcome.UNKNOWN
            )
            self.end_turn(outcome, line.reason, error)
        elif event is None:
            return
        elif event.type == "step.begin":
            self.begin_step()
            self.outcome = Outcome.INTERRUPTED
        elif event.type == "step.end":
            self.in_step = False
            self.outcome = (
                Outcome.INTERRUPTED if event.finish_reason == "tool_use" else Outcome.UNKNOWN
            )
            self.ended_as = event.finish_reason
        elif event.type == "content.part" and event.part and event.part.type == "text":
            self.say(event.part.text)
        elif event.type == "tool.call":
            self.tools.called(event.tool_call_id, event.name or "tool")
        elif (
            event.type == "tool.result"
            and event.tool_call_id
            and event.result
            and event.result.is_error
        ):
            self.tools.failed(event.tool_call_id)

    def note_message(
        self, kind: str | None, payload: KimiCliPayload, written: object, *, is_older: bool
    ) -> None:
        """Read a message of Kimi CLI. `is_older`: turns have no logged end."""
        if kind == "TurnBegin":
            self.begin_turn(payload.user_input, written)
            self.outcome = Outcome.UNKNOWN if is_older else Outcome.INTERRUPTED
        elif kind == "TurnEnd":
            self.end_turn(self.outcome if self.ended_as else Outcome.COMPLETED, self.ended_as)
        elif kind == "StepBegin":
            self.begin_step()
        elif kind == "StepInterrupted":
            self.end_turn(Outcome.INTERRUPTED, "step interrupted")
        elif kind == "ContentPart" and payload.type == "text":
            self.say(payload.text)
        elif kind == "ToolCall":
            self.tools.called(
                payload.id, (payload.function.name if payload.function else None) or "tool"
            )
        elif (
            kind == "ToolResult"
            and payload.tool_call_id
            and payload.return_value
            and payload.return_value.is_error
        ):
            self.tools.failed(payload.tool_call_id)
        elif kind == "StatusUpdate" and payload.token_usage:
            self.in_step = False
            self.spend(payload.token_usage, self.key, payload.message_id)
        elif kind == "SubagentEvent":
            self.doubts[
                (
                    "Sub-agents of Kimi CLI may have logs of their own: their tokens are not "
                    "counted here."
                )
            ] = None

    def values(self) -> dict[str, Any]:
        used = dict(self.used)
        for key, tokens in self.responses.values():
            used[key] = used.get(key, Tokens()) + tokens
        reasons = [*self.doubts, *(["The last step has no end."] if self.in_step else [])]
        basis = (
            (TokensBasis.LOWER_BOUND, " ".join(reasons)) if reasons else (TokensBasis.EXACT, None)
        )
        models = [tokens.as_model(*key, *basis) for key, tokens in used.items()]
        outcome = outcome_of_error(self.errors[0]) if self.errors else self.outcome
        return super().values() | {
            "run_id": canonical_hash({"kimi": self.began}),
            "agent": KIMI.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 3,
            "models": models
            or [unrecorded(self.key[0], "No response of the model is in the log.", self.key[1])],
            "num_turns": self.turns or None,
            "outcome": outcome,
            "is_error": is_failed(outcome),
        }


class KimiWire(StreamReader[_Session]):
    """Session logs."""

    agent: ClassVar[str] = KIMI.key

    def __init__(self) -> None:
        super().__init__()
        self._models: dict[str | None, _Key] = {}
        self._is_older = False

    @staticmethod
    def recognises(document: Document) -> bool:
        """Recognise lines of Kimi Code by a time or a small set of names.

        Most are meaningless outside a session.
        """
        value = document.value
        if not isinstance(value.get("type"), str):
            message = value.get("message")
            kind = message.get("type") if isinstance(message, dict) else None
            return (
                isinstance(kind, str)
                and kind in CLI_TYPES
                and isinstance(message.get("payload"), dict)
            )
        if value["type"] == "metadata":
            return isinstance(value.get("protocol_version"), str)
        return "time" in value or value["type"] == "turn.ended" or _tells_tokens(document)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        kind, session = document.value.get("type"), self._open.get(None)
        try:
            if not isinstance(kind, str):
                self._note_message(session or _Session(document), document)
            elif session or kind == "metadata" or _tells_tokens(document):
                return self._note_line(session, document)
            return ()  # or the line of another program, or in front of what is left of a session
        except InvalidRecord:
            if session:
                session.doubts["Some lines could not be read."] = None
            raise

    def _note_message(self, session: _Session, document: Document) -> None:
        line = wire_record(KimiCliLine, document)
        self._open[None], session.last = session, document
        session.began.setdefault("first", line.timestamp)
        session.note_time(
            event_time(line.timestamp), _MADE_BY.get(line.message.type or "", By.OTHERS)
        )
        session.note_message(
            line.message.type, line.message.payload, line.timestamp, is_older=self._is_older
        )

    def _note_line(
        self, session: _Session | None, document: Document
    ) -> Iterable[Found | Unreadable]:
        line = wire_record(KimiCodeLine, document)
        if line.type == "metadata":
            closed = self._close()
            self._models = {}
            session = self._open[None] = _Session(document, began={"created": line.created_at})
            session.note_time(event_time(line.created_at), By.OTHERS)
            # Kimi CLI's protocol tells the end of a turn since 1.2. A version that is no such
            # number is newer than all.
            version = document.value["protocol_version"].split(".")
            is_number = all(part.isascii() and part.isdigit() and len(part) < 6 for part in version)
            self._is_older = is_number and tuple(map(int, version)) < (1, 2)
            return closed
        session = self._open[None] = session or _Session(document, began={"first": line.time})
        session.last = document
        session.note_time(
            event_time(line.time),
            _MADE_BY.get((line.event and line.event.type) or line.type, By.OTHERS),
        )
        if line.type == "forked":  # what came before is a copy of another session's log
            began = {**session.began, "forked": line.time}
            session = self._open[None] = _Session(
                document, began=began, cwd=session.cwd, key=session.key, prompt=session.prompt
            )
            session.note_time(event_time(line.time), By.OTHERS)
        elif line.type == "llm.request":
            provider = (
                "moonshotai" if line.provider == "kimi" else line.provider
            )  # as price lists call it
            self._models[line.model_alias or line.model] = session.key = line.model, provider
        elif line.usage:
            session.spend(line.usage, self._models.get(line.model, (line.model, None)))
        else:
            session.note(line)
        return ()


def _tells_tokens(document: Document) -> bool:
    usage = document.value.get("usage")
    return (
        document.value["type"] == "usage.record"
        and isinstance(usage, dict)
        and "inputOther" in usage
    )
