"""What both logs of Kimi tell of a session, and the run that it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.agents.shared.runs import ActiveTime, By, ToolCounts, canonical_hash, merged, milliseconds_between
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.times import event_time
from schemas.agents import KIMI
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.kimi import KimiUsage

RESPONSES_KEPT = 4096
"""Responses whose tokens may be told again. Of more, the oldest count as they were."""

UNREADABLE = "Some lines could not be read."
_IN_STEP = "The last step has no end."
_NO_TOKENS = "No response of the model is in the log."

Key = tuple[str | None, str | None]
"""(model, provider)"""


@dataclass
class Session:
    """One session so far. `began`: what tells it from others. `said`: the text of this step, `text`: that of the last one with a text."""

    last: Document
    began: dict[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    ended_at: datetime | None = None
    active: ActiveTime = field(default_factory=ActiveTime)
    cwd: str | None = None
    key: Key = (None, None)
    used: dict[Key, Tokens] = field(default_factory=dict)
    responses: dict[str, tuple[Key, Tokens]] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    turns: int = 0
    in_step: bool = False
    outcome: Outcome = Outcome.INTERRUPTED
    ended_as: str | None = None
    error: str | None = None
    prompt: str | None = None
    said: str = ""
    text: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)

    def note_time(self, written: object, by: By = By.OTHERS) -> None:
        """Every line has its time. `by`: who made what it tells."""
        if time := event_time(written):
            self.started_at = min(time, self.started_at or time)
            self.ended_at = max(time, self.ended_at or time)
            self.active.note(time, by)

    def forked(self, document: Document, written: object) -> Session:
        """The session that begins here: what came before is a copy of another one's log."""
        session = Session(document, {**self.began, "forked": written}, cwd=self.cwd, key=self.key, prompt=self.prompt)
        session.note_time(written)
        return session

    def begin_turn(self, prompt: Any, written: object) -> None:
        """The user asked for something."""
        text = _text_of(prompt)
        self.turns += 1
        self.prompt = self.prompt or text
        self.began.setdefault("turn", [written, text])
        self.end_turn(Outcome.INTERRUPTED)

    def end_turn(self, outcome: Outcome, reason: str | None = None, error: str | None = None) -> None:
        """How the turn ended; interrupted until its end is told."""
        self.in_step = False
        self.outcome, self.ended_as, self.error = outcome, reason, error

    def begin_step(self) -> None:
        """A request to the model."""
        self.in_step, self.said = True, ""

    def say(self, text: str | None) -> None:
        """A piece of a text."""
        self.said += text or ""
        self.text = self.said if self.said.strip() else self.text

    def spend(self, usage: KimiUsage, key: Key, response: str | None = None) -> None:
        """Tokens of one request; those of a known response replace what was told of it before."""
        tokens = Tokens(usage.input_other, usage.input_cache_read, usage.input_cache_creation, usage.output)
        if response is None:
            self._count(key, tokens)
            return
        self.responses[response] = key, tokens
        if len(self.responses) > RESPONSES_KEPT:
            self._count(*self.responses.pop(next(iter(self.responses))))

    def _count(self, key: Key, tokens: Tokens) -> None:
        self.used[key] = self.used.get(key, Tokens()) + tokens

    def kept(self) -> dict[str, Any]:
        """The values of its `KeptRun`."""
        outcome = outcome_of_error(self.error) if self.error else self.outcome
        return {
            "run_id": canonical_hash({"kimi": self.began}),
            "agent": KIMI.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 3,
            "models": self._models(),
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "duration_ms": milliseconds_between(self.started_at, self.ended_at),
            "active_ms": self.active.ms,
            "num_turns": self.turns or None,
            "outcome": outcome,
            "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else outcome is not Outcome.COMPLETED,
            "ended_as": self.ended_as,
            "errors": [self.error] if self.error else [],
            "cwd": self.cwd,
            "prompt": self.prompt,
            "final_text": self.text,
            "tool_calls": merged(self.tools),
        }

    def _models(self) -> list[dict[str, Any]]:
        for key, tokens in self.responses.values():
            self._count(key, tokens)
        self.responses = {}
        if not self.used:
            return [unrecorded(*self.key[:1], _NO_TOKENS, *self.key[1:])]
        reasons = [*self.doubts, *([_IN_STEP] if self.in_step else [])]
        basis = (TokensBasis.LOWER_BOUND, " ".join(reasons)) if reasons else (TokensBasis.EXACT, None)
        return [tokens.as_model(*key, *basis) for key, tokens in self.used.items()]


def _text_of(parts: Any) -> str | None:
    """A text, or the texts of parts."""
    items = parts if isinstance(parts, list) else [{"text": parts}]
    texts = [item.get("text") for item in items if isinstance(item, dict)]
    return "\n".join(text for text in texts if isinstance(text, str)) or None
