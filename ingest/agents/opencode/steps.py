"""What both logs of OpenCode share: tokens and cost of steps, tool calls, how a run ended, and ids.

`output` includes reasoning until spring 2026 (anomalyco/opencode#17566, #24268), later it does not. Where there is a `total`, it tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ingest.agents.shared.runs import ToolCounts, canonical_hash
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens, unrecorded
from schemas.rows.run import Outcome, TokensBasis
from schemas.wire.opencode import OpenCodeError, OpenCodePart, OpenCodeTokens

STOPPED = "stop"
UNSURE_OUTPUT = "The log does not say whether its output tokens include reasoning."
_ABORTED = "MessageAbortedError"
_SESSION_ID = re.compile(r"ses_([0-9a-f]{12})[0-9A-Za-z]{14}")
_MESSAGE_ID = re.compile(r"msg_([0-9a-f]{12})[0-9A-Za-z]{14}")
_FIRST_MESSAGE_MS = 3000


@dataclass
class Steps:
    """Tokens and cost of the steps of one model. `doubts`: why the tokens are no exact ones."""

    count: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal | None = None
    doubts: list[str] = field(default_factory=list)

    def add(self, tokens: OpenCodeTokens) -> None:
        """One step more."""
        self.count += 1
        self.tokens += Tokens(tokens.input, tokens.cache.read, tokens.cache.write, _generated(tokens), tokens.reasoning)
        if tokens.reasoning and tokens.total is None:
            self.doubt(UNSURE_OUTPUT)

    def pay(self, cost: Decimal | None) -> None:
        """Add what a step or a message cost."""
        if cost is not None:
            self.cost = cost + (self.cost or 0)

    def doubt(self, reason: str) -> None:
        """Note why there may be more tokens."""
        if reason not in self.doubts:
            self.doubts.append(reason)

    def as_model(self, model: str | None, provider: str | None) -> dict[str, Any]:
        """The steps as a `KeptModel` of that model."""
        why = " ".join(self.doubts) or None
        if not self.count:
            told = unrecorded(model, why or "No step of the run ended.", provider)
        else:
            told = self.tokens.as_model(model, provider, TokensBasis.LOWER_BOUND if why else TokensBasis.EXACT, why)
        return told | {"cost_usd": self.cost}


def _generated(tokens: OpenCodeTokens) -> int:
    """Output with reasoning: what is left of the total; without a total, `output`, unless reasoning cannot be inside it."""
    outside = tokens.output + tokens.reasoning
    if tokens.total is not None:
        left = tokens.total - tokens.input - tokens.cache.read - tokens.cache.write
        if tokens.output <= left <= outside:
            return left
    return outside if tokens.reasoning > tokens.output else tokens.output


def note_tool(tools: ToolCounts, part: OpenCodePart) -> None:
    """Count a tool call, and its error."""
    tools.called(part.call_id, part.tool or "tool")
    if part.call_id and part.state and part.state.status == "error":
        tools.failed(part.call_id)


def message_of(error: OpenCodeError) -> str:
    """An error in words."""
    message = error.data.message if error.data else None
    status = f"HTTP {error.data.status_code}" if error.data and error.data.status_code else None
    return ": ".join(filter(None, (error.name, status, message))) or "error"


def outcome_of(error: OpenCodeError | None, reason: str | None) -> Outcome:
    """How a run ended, by its error, else by why its last step ended."""
    if error and error.name != _ABORTED:
        return outcome_of_error(message_of(error))
    return Outcome.COMPLETED if reason == STOPPED and not error else Outcome.INTERRUPTED


def run_id(session_id: str, first_message: str | None = None, told: object = None) -> str:
    """The session, where its id is OpenCode's own. A stream that continues a session is a run of its own: `first_message` is its first one.

    Ids begin with their time in 12 digits: ms × 4096 and a counter; those of sessions count backwards (packages/opencode/src/id/id.ts).
    So the first message of a session is as old as the session. `told` tells other sessions apart.
    """
    session, message = _SESSION_ID.fullmatch(session_id), _MESSAGE_ID.fullmatch(first_message or "")
    if not session:
        return canonical_hash({"session": session_id, "message": first_message, "told": told})
    if message and (int(session[1], 16) + int(message[1], 16) + 1) % (1 << 48) >> 12 > _FIRST_MESSAGE_MS:
        return canonical_hash({"session": session_id, "message": first_message})
    return session_id
