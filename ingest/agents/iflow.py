"""iFlow CLI's session transcripts → runs.

They look like Claude Code's, but all token counts are 0, which means unknown.

Its sessions are called `session-…`, its requests `request-…` (https://github.com/kenn-io/agentsview
reads them).
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from ingest.agents.claude_code.transcript import ClaudeTranscript, is_line
from ingest.agents.shared.tokens import unrecorded
from ingest.sources.document import Document
from schemas.agents import IFLOW
from schemas.wire.claude_code import Line, Message

MODELS_KEPT = 100
_SESSION = re.compile(r"session-[0-9a-f]{8}-")
_ZEROS = "iFlow CLI writes 0 for all tokens."


class IFlowTranscript(ClaudeTranscript):
    """Session transcripts, `~/.iflow/projects/*/session-*.jsonl`."""

    agent: ClassVar[str] = IFLOW.key
    priority: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self._models: dict[str, None] = {}

    @staticmethod
    def recognises(document: Document) -> bool:
        return _is_iflows(document.value)

    def note(self, event: dict[str, Any]) -> bool:
        return _is_iflows(event) and super().note(event)

    def _assistant(self, line: Line, message: Message) -> None:
        """Read a message; without tokens it makes no response, but its model is kept."""
        usage, model = message.get("usage"), message.get("model")
        if type(usage) is dict and not any(usage.values()):
            if isinstance(model, str) and model and len(self._models) < MODELS_KEPT:
                self._models.setdefault(model)
            message = {name: value for name, value in message.items() if name != "usage"}
        super()._assistant(line, message)

    def _kept(self, run_id: str, *, is_subagents: bool) -> dict[str, Any]:
        values = super()._kept(run_id, is_subagents=is_subagents)
        return values | {
            "models": [unrecorded(model, _ZEROS) for model in self._models],
            "num_turns": self._messages or None,
        }


def _is_iflows(value: dict[str, Any]) -> bool:
    session = value.get("sessionId")
    return isinstance(session, str) and _SESSION.match(session) is not None and is_line(value)
