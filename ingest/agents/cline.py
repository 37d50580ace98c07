"""Tasks of Cline, Roo Code and Kilo Code: their `ui_messages.json` → runs, one per file.

A task's cost and tokens are those of its requests, of requests that were deleted when a checkpoint
was restored, and of sub-agents, as Cline adds them (`getApiMetrics`); Roo Code adds the cost of
compactions, and its sub-tasks have files of their own. Cline counts input without the cache, but
some of its providers with it, and Roo Code with it in all: more cached than given proves that it is
without.
"""

from __future__ import annotations

import re
from collections import defaultdict
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
from ingest.agents.shared.texts import MODEL_TAG, outcome_of_error, text_at
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document, parse
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CLINE, KILO_CODE, ROO_CODE
from schemas.errors import InvalidRecord
from schemas.numbers import WrittenFloat
from schemas.rows.run import TOKEN_CLASSES, Outcome, RecordKind, TokensBasis
from schemas.wire.cline import ClineMessage, ClineRequest

MOST_REQUESTS = 1 << 14
"""Maximum number of requests per task; further ones are not counted."""

_CUT_OFF = "A request or a compaction has no token counts."
_NOT_READ = "A request could not be read."
_NOT_ENDED = "The task has not ended: a request may be under way."
_TOO_MANY = f"The task has more than {MOST_REQUESTS:,} requests."
_WITH_CACHE = "It is not known whether this provider's input includes the cache."

_PAID = ("api_req_started", "api_req_finished", "deleted_api_reqs", "subagent_usage")
_WITHOUT_CACHE = frozenset(
    (
        *("anthropic", "bedrock", "claude-code", "cline", "deepseek", "gemini", "groq"),
        *("minimax", "openai-native", "openrouter", "vercel-ai-gateway", "vertex"),
    )
)
"""Cline's providers whose input leaves out the cache (src/core/api/providers)."""

_DONE = ("completion_result", "resume_completed_task")
_OF_TOOLS = ("command_output", "mcp_server_response", "browser_action_result")
_OF_USERS = ("user_feedback", "user_feedback_diff", "task")
_FOLDERS = {
    agent.home.usual[-1].rpartition("/")[2]: agent.key
    for agent in (ROO_CODE, KILO_CODE, CLINE)
    if agent.home
}
"""The extension's folder among those of the editor → agent."""

_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^\n)]{1,400})\)")

_Key = tuple[str | None, str | None]
"""(provider, model)"""


@dataclass
class _Task(OpenRun):
    """The open task. `requests`: by time and kind, the model and the last state of each.

    `doubts`: reasons why there may be more tokens.
    """

    outcome: Outcome = Outcome.INTERRUPTED
    file: str = ""
    lines: int = 0
    first: dict[str, Any] = field(default_factory=dict)
    key: _Key = (None, None)
    protocol: str | None = None
    is_kilo: bool = False
    requests: dict[tuple[str, str], tuple[_Key, ClineRequest]] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)

    def has_content(self) -> bool:
        return bool(self.requests)

    def note(self, message: ClineMessage) -> None:
        self.lines += 1
        what = message.say or message.ask or ""
        by = By.TOOL if what in _OF_TOOLS else By.MODEL
        if what in _OF_USERS or what in _PAID or not self.first:
            by = By.OTHERS
        self.note_time(event_time(message.ts), by)
        is_prompt = not self.first
        if is_prompt:
            self.first = {"ts": message.ts, "text": message.text}
            self.prompt = message.text
        if message.model_info and message.model_info.model_id:
            self.key = (message.model_info.provider_id, message.model_info.model_id)
        if what in _PAID:
            self._note_request(message)
        elif what == "condense_context" and message.context_condense:
            self._add(message, ClineRequest(cost=message.context_condense.cost))
        elif message.partial is True or is_prompt:
            return
        elif what in ("tool", "command", "use_mcp_server", "browser_action"):
            name = _field(message.text, "tool") if what == "tool" else None
            self.tools.called(str(message.ts), name or what)
        elif what in ("text", "completion_result") and message.text and message.say:
            self.final_text = message.text
        self._note_end(what, message)

    def _note_request(self, message: ClineMessage) -> None:
        try:
            value = parse(message.text or "", WrittenFloat)
            request = ClineRequest.model_validate(value)
        except ValueError:
            self._doubt(_NOT_READ)
            return
        text = request.request or ""
        if found := MODEL_TAG.search(text):
            self.key = (self.key[0], found[1])
        if found := _CWD.search(text):
            self.cwd = self.cwd or found[1]
        if message.say == "api_req_started" and request.cancel_reason:
            self.errors = [request.streaming_failed_message or request.cancel_reason]
        self.protocol = request.api_protocol or self.protocol
        self.is_kilo = self.is_kilo or request.usage_missing is not None
        self._add(message, request.model_copy(update={"request": None}))

    def _add(self, message: ClineMessage, request: ClineRequest) -> None:
        """Add a request, or its later state."""
        at = (str(message.ts), message.say or "")
        if at in self.requests or len(self.requests) < MOST_REQUESTS:
            self.requests[at] = self.key, request
        else:
            self._doubt(_TOO_MANY)

    def _note_end(self, what: str, message: ClineMessage) -> None:
        """Note how the task stands: it has ended once its result was given."""
        if what in _DONE:
            self.outcome, self.ended_as, self.errors = Outcome.COMPLETED, what, []
        elif what == "api_req_failed":
            self.errors = [_field(message.text, "message") or message.text or what]
            self.outcome, self.ended_as = outcome_of_error(self.errors[0]), what
        elif what in ("api_req_started", "resume_task", "user_feedback"):
            self.outcome, self.ended_as = Outcome.INTERRUPTED, what

    def _doubt(self, reason: str) -> None:
        if reason not in self.doubts:
            self.doubts.append(reason)

    def _models(self) -> list[dict[str, Any]]:
        groups: dict[_Key, list[ClineRequest]] = defaultdict(list)
        for key, request in self.requests.values():
            groups[key].append(request)
        return [self._model(key, group) for key, group in groups.items()]

    def _model(self, key: _Key, requests: list[ClineRequest]) -> dict[str, Any]:
        """Return the values of a `ModelUse`: tokens and cost of a model's requests."""
        provider, model = key
        doubts = list(self.doubts)
        counted = [one for one in requests if one.tokens_in is not None]
        if len(counted) < len(requests):
            doubts.append(_CUT_OFF)
        cached = [(one.cache_reads or 0) + (one.cache_writes or 0) for one in counted]
        without = any(
            inside > (one.tokens_in or 0) for one, inside in zip(counted, cached, strict=True)
        )
        make = Tokens.of_whole_input if self.protocol and not without else Tokens
        tokens = sum(
            (
                make(
                    *(one.tokens_in or 0, one.cache_reads or 0, one.cache_writes or 0),
                    *(one.tokens_out or 0, None),
                )
                for one in counted
            ),
            Tokens(),
        )
        costs = [one.cost for one in requests if one.cost is not None]
        cost = {"cost_usd": sum(costs) if costs else None}
        if not tokens.total:
            return unrecorded(model, " ".join(doubts) or _CUT_OFF, provider) | cost
        basis = TokensBasis.LOWER_BOUND if doubts else TokensBasis.EXACT
        if any(cached) and not (without or self.protocol or provider in _WITHOUT_CACHE):
            basis = TokensBasis.ESTIMATE if doubts else TokensBasis.UPPER_BOUND
            doubts.append(_WITH_CACHE)
        return tokens.as_model(model, provider, basis, " ".join(doubts) or None) | cost

    def _agent(self) -> str:
        """Return who wrote the task, by the folder of the extension, else by its fields."""
        found = next((agent for name, agent in _FOLDERS.items() if name in self.file), None)
        by_fields = KILO_CODE if self.is_kilo else ROO_CODE if self.protocol else CLINE
        return found or by_fields.key

    def values(self) -> dict[str, Any]:
        if self.outcome is Outcome.INTERRUPTED and self.ended_as != "resume_task":
            self._doubt(_NOT_ENDED)
        models = self._models()
        costs = [one["cost_usd"] for one in models if one["cost_usd"] is not None]
        if self.outcome is Outcome.INTERRUPTED and self.errors[:1] == ["user_cancelled"]:
            self.errors = []
        return super().values() | {
            "run_id": canonical_hash({"cline_task": self.first}),
            "agent": self._agent(),
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 3,
            # a later state may have fewer messages, where a checkpoint was restored
            "lines": self.lines + sum(map(_all_tokens, models)),
            "models": models,
            "num_turns": sum(what == "api_req_started" for _, what in self.requests) or None,
            "is_error": is_failed(self.outcome),
            "cost_usd": sum(costs) if costs else None,
        }


def _all_tokens(model: dict[str, Any]) -> int:
    return sum(model.get(name) or 0 for name in TOKEN_CLASSES)


def _field(text: str | None, name: str) -> str | None:
    """Return a text in the JSON of a message's text; None if it has none."""
    try:
        return text_at(parse(text or ""), name)
    except ValueError:
        return None


class Cline(StreamReader[_Task]):
    """Messages of a task, in an array or on lines."""

    agent: ClassVar[str] = CLINE.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        kind = value.get("type")
        return kind in ("say", "ask") and isinstance(value.get(kind), str)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        task = self._open.setdefault(None, _Task(document, file=self.around.name))
        try:
            task.note(wire_record(ClineMessage, document))
            task.last = document
        except InvalidRecord as error:
            return (document.refused(error.reason, error.detail),)
        return ()
