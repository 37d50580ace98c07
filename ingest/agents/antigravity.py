"""What Antigravity's command line prints, `agy -p --output-format json` or `stream-json` → runs.

Input leaves out the cache, output includes thinking; there are no times and no cost. A result may
sum up all turns of a conversation: it counts if the conversation began in this stream, otherwise
the steps do; alone, with several turns, it is an upper bound. A success without tokens is the end
by `--print-timeout`: its answer is a part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ingest.agents.base import Found
from ingest.agents.distilled import distilled, found
from ingest.agents.shared.runs import OpenRun, StreamReader, canonical_hash, is_failed, wire_record
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.agents import ANTIGRAVITY
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.antigravity import AgyEvent, AgyResult, AgyStep, AgyUsage

STEPS_KEPT = 4096

_UNREAD = "A step could not be read."
_NO_RESULT = "The stream has no result."
_ALL_TURNS = "The result may sum up all turns of its conversation."
_NO_TOKENS = "The result has no tokens, only the steps have."


@dataclass
class _Run(OpenRun):
    """The open run of a stream. `used`: the tokens of all steps, `steps`: those of the last ones.

    `doubts`: reasons why there may be more tokens.
    """

    outcome: Outcome = Outcome.INTERRUPTED
    first_step: int | None = None
    used: Tokens = field(default_factory=Tokens)
    steps: dict[int | None, Tokens] = field(default_factory=dict)
    text_step: int | None = None
    result: AgyResult | None = None
    doubts: list[str] = field(default_factory=list)

    def has_content(self) -> bool:
        return self.first_step is not None or self.result is not None

    def note(self, event: AgyEvent) -> None:
        if event.init:
            self.requested_model = event.init.model or self.requested_model
            self.cwd = event.init.cwd or self.cwd
            self.permission_mode = event.init.permission_mode or self.permission_mode
        if event.step_update:
            self._note_step(event.step_update)
        if event.result:
            self._note_result(event.result)

    def _note_step(self, step: AgyStep) -> None:
        number = step.step_index
        if self.first_step is None:
            self.first_step = number or 0
        if step.usage:
            self.steps[number] = _tokens(step.usage)
            if len(self.steps) > STEPS_KEPT:
                self.used += self.steps.pop(next(iter(self.steps)))
        if step.step_type == "agent_response" and step.text_delta:
            begun = self.final_text or "" if number == self.text_step else ""
            self.text_step, self.final_text = number, begun + step.text_delta
        elif step.step_type == "tool":
            call = f"step {number}"
            self.tools.called(call, step.tool_name or "tool")
            if step.state == "ERROR" or (step.tool_info and step.tool_info.error):
                self.tools.failed(call)

    def _note_result(self, result: AgyResult) -> None:
        self.result, self.ended_as = result, result.status
        self.final_text = result.response or self.final_text
        self.errors = [result.error] if result.error else []
        is_whole = _tokens(result.usage).total > 0
        self.outcome = {
            "SUCCESS": Outcome.COMPLETED if is_whole else Outcome.INTERRUPTED,
            "CANCELLED": Outcome.INTERRUPTED,
            "ERROR": outcome_of_error(result.error or ""),
        }.get(result.status or "", Outcome.UNKNOWN)

    def values(self) -> dict[str, Any]:
        result = self.result
        session = (result.conversation_id if result else None) or self.session_id
        turns = result.num_turns if result else None
        begins = self.first_step == 0 or (self.first_step is None and turns == 1)
        tokens, doubts = sum(self.steps.values(), self.used), [*self.doubts]
        basis = TokensBasis.EXACT
        if result is None:
            doubts.append(_NO_RESULT)
        elif not _tokens(result.usage).total:
            doubts.append(_NO_TOKENS)
        elif begins or self.first_step is None:
            tokens, doubts = _tokens(result.usage), []
        if doubts:
            basis = TokensBasis.LOWER_BOUND
        elif self.first_step is None and not begins:
            basis, doubts = TokensBasis.UPPER_BOUND, [_ALL_TURNS]
        why = " ".join(doubts) or None
        begun = {"conversation": session, "first": self.first_step, "turns": turns}
        if not session:
            begun |= {"said": self.final_text, "error": "".join(self.errors)}
        return super().values() | {
            "run_id": session if session and begins else canonical_hash({"agy": begun}),
            "agent": ANTIGRAVITY.key,
            "session_id": session,
            "record_kind": RecordKind.STREAM if self.first_step is not None else RecordKind.RESULT,
            "rank": 2 if result is None or self.first_step is None else 3,
            "models": [
                tokens.as_model(self.requested_model, None, basis, why)
                if tokens.total
                else unrecorded(self.requested_model, "No request of the model ended.")
            ],
            "duration_ms": None
            if result is None or result.duration_seconds is None
            else round(result.duration_seconds * 1000),
            "num_turns": turns,
            "is_answered": bool(tokens.total or not self.errors),
            "is_error": is_failed(self.outcome),
            "active_ms": None,
        }


def _tokens(usage: AgyUsage) -> Tokens:
    return Tokens(
        *(usage.input_tokens, usage.cache_read_tokens, 0),
        *(usage.output_tokens, usage.thinking_tokens),
    )


class Antigravity(StreamReader[_Run]):
    """Streams, and results alone."""

    agent: ClassVar[str] = ANTIGRAVITY.key

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        value = document.value
        if "event" not in value:
            result = wire_record(AgyResult, document)
            if not result.conversation_id and result.status == "SUCCESS":
                return ()  # of a command such as /usage, which asks no model
            run = _Run(document)
            run.note(AgyEvent(event="result", result=result))
            return (found(document, distilled(run.values())),)
        closed = self._close(None) if value["event"] == "init" else ()
        run = self._open.setdefault(None, _Run(document))
        try:
            event = wire_record(AgyEvent, document)
        except InvalidRecord as error:
            run.doubts = [_UNREAD]
            return (*closed, document.refused(error.reason, error.detail))
        if event.event == "init":
            run.session_id = event.conversation_id
        run.note(event)
        run.last = document
        return closed
