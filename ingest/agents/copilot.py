"""GitHub's Copilot CLI: session events, printed streams, and older session files.

Session events are in `events.jsonl`; the streams come from `copilot -p --output-format json`.

Tokens are only logged at a shutdown: a session without one, as a crash and `/new` leave it
(github/copilot-cli#3994), and the printed stream, which ends with a `result`, have only the output
of their messages. Users pay for premium requests, and since 2026-06-01 for AI credits: Copilot
bills by use, and a credit is $0.01 (docs.github.com, usage-based billing).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import Found
from ingest.agents.distilled import complaints, distilled, found
from ingest.agents.shared.runs import (
    By,
    OpenRun,
    RecordReader,
    StreamReader,
    ToolCounts,
    canonical_hash,
    is_uuid,
    merged,
    milliseconds_between,
    whole_ms,
    wire_record,
)
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens, output_alone
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import COPILOT, COPILOT_READ_TYPES
from schemas.errors import RejectReason
from schemas.rows.row import usd
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.copilot import CopilotData, CopilotHistory, CopilotPlace, CopilotResult

PREMIUM_REQUESTS, AI_CREDITS = "premium requests", "AI credits"
_NANO = 10**9
_USD_PER_NANO_CREDIT = Decimal("0.01") / _NANO
_BILLED_SINCE = datetime(2026, 6, 1, tzinfo=UTC)
_MOST_ITEMS = 1000
"""Cap on the rank by number of items: an older session file is rewritten as the session goes on, so
more items mean a later state.
"""

Figures = dict[str, float]
"""`premium`, `aiu` (billionths of an AI credit), `api_ms`, and `aiu MODEL` for each model."""


@dataclass
class _Totals:
    """What a session used, from its shutdowns and the checkpoints between.

    Every shutdown of a resumed session has figures. Newer versions continue counting, older ones
    restart, and so does a compaction. So figures below the previous ones are added to them; others
    replace them. `earlier_*`: sums of the counters that were restarted. `unbilled`: the figures
    before credits were dollars.
    """

    earlier_figures: Figures = field(default_factory=dict)
    earlier_tokens: dict[str, Tokens] = field(default_factory=dict)
    last_figures: Figures = field(default_factory=dict)
    last_tokens: dict[str, Tokens] = field(default_factory=dict)
    unbilled: Figures = field(default_factory=dict)
    is_billed: bool = False

    def note(self, data: CopilotData, at: datetime | None, *, is_shutdown: bool) -> None:
        """Read the figures of a shutdown, or of a checkpoint, which has no tokens.

        Credits are dollars depending on the date.
        """
        named = {"premium": data.premium_requests, "aiu": data.nano_aiu, "api_ms": data.api_ms}
        named |= {f"aiu {model}": one.nano_aiu for model, one in (data.models or {}).items()}
        figures = {name: value for name, value in named.items() if value is not None}
        tokens: dict[str, Tokens] = {}
        for model, one in (data.models or {}).items() if is_shutdown else ():
            if usage := one.usage:
                cached = (usage.cache_read_tokens, usage.cache_write_tokens)
                tokens[model] = Tokens.of_whole_input(
                    usage.input_tokens, *cached, usage.output_tokens, usage.reasoning_tokens
                )
        if is_shutdown:
            goes_on = all(
                figures.get(name, 0) >= value for name, value in self.last_figures.items()
            )
            goes_on = goes_on and all(
                model in tokens and _covers(tokens[model], was)
                for model, was in self.last_tokens.items()
            )
        else:
            goes_on = all(
                value >= self.last_figures.get(name, 0) for name, value in figures.items()
            )
        if not goes_on:
            self.earlier_figures, self.earlier_tokens = self.figures(), self.tokens()
        if goes_on and not is_shutdown:
            self.last_figures = self.last_figures | figures
        else:
            self.last_figures, self.last_tokens = figures, tokens
        if at is not None and at >= _BILLED_SINCE:
            self.is_billed = self.is_billed or "aiu" in self.last_figures
        else:
            self.unbilled = self.figures()

    def figures(self) -> Figures:
        """Return the figures of all counters."""
        names = self.earlier_figures.keys() | self.last_figures.keys()
        return {
            name: self.earlier_figures.get(name, 0) + self.last_figures.get(name, 0)
            for name in sorted(names)
        }

    def tokens(self) -> dict[str, Tokens]:
        """Return the tokens of all counters, by model."""
        names = dict.fromkeys((*self.earlier_tokens, *self.last_tokens))
        return {
            model: self.earlier_tokens.get(model, Tokens()) + self.last_tokens.get(model, Tokens())
            for model in names
        }

    def credits(self) -> tuple[float | None, str | None]:
        """Return the amount and unit paid.

        Premium requests, or AI credits if these are billed or the only ones logged.
        """
        figures = self.figures()
        if "premium" in figures and not self.is_billed:
            return figures["premium"], PREMIUM_REQUESTS
        return (figures["aiu"] / _NANO, AI_CREDITS) if "aiu" in figures else (None, None)

    def cost(self, model: str | None = None) -> Decimal | None:
        """Return the cost in USD, in all or for a model.

        None if credits were not billed yet or are not logged.
        """
        name, figures = f"aiu {model}" if model else "aiu", self.figures()
        if not self.is_billed or name not in figures:
            return None
        billed = Decimal(repr(figures[name])) - Decimal(repr(self.unbilled.get(name, 0)))
        return usd(billed * _USD_PER_NANO_CREDIT)


def _covers(later: Tokens, earlier: Tokens) -> bool:
    """Return whether a counter continued: no class has fallen."""
    return (
        later.uncached >= earlier.uncached
        and later.read >= earlier.read
        and later.written >= earlier.written
        and later.output >= earlier.output
        and (later.reasoning or 0) >= (earlier.reasoning or 0)
    )


_MADE_BY = {
    "assistant.message": By.MODEL,
    "assistant.turn_end": By.MODEL,
    "tool.execution_start": By.MODEL,
    "tool.execution_complete": By.TOOL,
}


@dataclass
class _Session(OpenRun):
    """A session.

    `first_id`: the id of its first event; `is_over`: nothing happened since its last shutdown or
    result.
    """

    first_id: str | None = None
    start: CopilotData = field(default_factory=CopilotData)
    place: CopilotPlace = field(default_factory=CopilotPlace)
    has_start: bool = False
    is_over: bool = False
    totals: _Totals = field(default_factory=_Totals)
    model: str | None = None
    effort: str | None = None
    output_by_model: dict[str | None, int] = field(default_factory=dict)
    prompts: int = 0
    answers: int = 0
    error: str | None = None
    aborted: bool = False

    def note(self, kind: str, data: CopilotData, at: datetime | None) -> None:
        """Read an event. Messages of sub-agents count neither as prompts nor as the final text."""
        is_main = data.parent_tool_call_id is None
        if kind == "tool.execution_start":
            self.tools.called(data.tool_call_id, data.tool_name or "tool")
        elif kind == "tool.execution_complete":
            if data.success is False and data.tool_call_id:
                self.tools.failed(data.tool_call_id)
        elif kind == "assistant.message":
            model = data.model or self.model
            self.output_by_model[model] = self.output_by_model.get(model, 0) + (
                data.output_tokens or 0
            )
            self.is_over = False
            if is_main:
                self.answers += 1
                self.error, self.aborted = None, False
                self.final_text = (
                    data.content if data.content and data.content.strip() else self.final_text
                )
        elif kind == "user.message" and is_main:
            self.prompts += 1
            self.prompt = self.prompt or data.content
            self.is_over, self.error, self.aborted = False, None, False
        elif kind == "session.start":
            self.start, self.has_start, self.place = data, True, data.context or self.place
            self.session_id, self.agent_version = data.session_id, data.version
            self.started_at = event_time(data.start_time) or self.started_at
            self.model, self.effort = data.selected_model, data.reasoning_effort
        elif kind == "session.resume":
            self.model = data.selected_model or self.model
            self.effort = data.reasoning_effort or self.effort
        elif kind == "session.model_change":
            self.model = data.new_model or self.model
            self.effort = data.reasoning_effort or self.effort
        elif kind == "session.task_complete":
            self.final_text = data.summary or self.final_text
        elif kind == "session.error":
            status = f"HTTP {data.status_code}" if data.status_code else None
            self.error = ": ".join(filter(None, (status, data.message))) or "error"
        elif kind == "abort":
            self.aborted = True
        elif kind == "session.usage_checkpoint":
            self.totals.note(data, at, is_shutdown=False)
        elif kind == "session.shutdown":
            self.totals.note(data, at, is_shutdown=True)
            self.is_over, self.ended_as = True, data.shutdown_type
            if data.shutdown_type == "error":
                self.error = data.error_reason or self.error or "error"

    def values(self) -> dict[str, Any]:
        """Return the values of a Run. A session without a shutdown was interrupted."""
        if not self.is_over or self.aborted:
            self.outcome = Outcome.INTERRUPTED
        elif self.error:
            self.outcome = outcome_of_error(self.error)
        elif self.answers:
            self.outcome = Outcome.COMPLETED
        self.errors = [self.error] if self.error else []
        amount, unit = self.totals.credits()
        return super().values() | {
            "run_id": _run_id(self.session_id, self.first_id),
            "agent": COPILOT.key,
            "record_kind": RecordKind.TRANSCRIPT if self.has_start else RecordKind.STREAM,
            "rank": 4 if self.totals.last_tokens else 2,
            "requested_model": self.start.selected_model or self.model,
            "effort": self.effort,
            "models": self._models(),
            "duration_api_ms": whole_ms(self.totals.figures().get("api_ms")),
            "num_turns": self.prompts or None,
            "is_error": None
            if self.outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN)
            else self.error is not None,
            "cost_usd": self.totals.cost(),
            "credits": amount,
            "credits_unit": unit,
            "repo": self.place.repository,
            "branch": self.place.branch,
            "base_commit": self.place.head_commit,
            "cwd": self.place.cwd,
        }

    def _models(self) -> list[dict[str, Any]]:
        """Return tokens and cost by model.

        Only the output of the messages if no shutdown logged the tokens.
        """
        tokens = self.totals.tokens()
        if not tokens:
            output = self.output_by_model or ({self.model: 0} if self.model else {})
            return [output_alone(model, count) for model, count in output.items()]
        basis, doubt = TokensBasis.EXACT, None
        if not self.is_over:
            basis, doubt = (
                TokensBasis.LOWER_BOUND,
                "The session went on after the last count of its tokens.",
            )
        elif sum(self.output_by_model.values()) > sum(each.output for each in tokens.values()):
            doubt = (
                "Its messages have more output than its token counts: the counters began again "
                "in between."
            )
            basis = TokensBasis.LOWER_BOUND
        costs = {
            model: self.totals.cost(model) if len(tokens) > 1 else self.totals.cost()
            for model in tokens
        }
        return [
            each.as_model(model, basis=basis, reason=doubt) | {"cost_usd": costs[model]}
            for model, each in tokens.items()
        ]

    def values_with(self, result: CopilotResult, result_id: str) -> dict[str, Any]:
        """Return the values of a Run for a printed stream that ended with this result.

        The session may be named in the result only, and other processes may have continued it.
        """
        self.is_over = True
        if result.exit_code:
            self.error = self.error or f"exit code {result.exit_code}"
        values = self.values() | {
            "record_kind": RecordKind.STREAM,
            "rank": 3,
            "session_id": self.session_id or result.session_id,
        }
        if self.first_id is None:
            values |= {"run_id": result_id}
        else:
            values |= {"run_id": _run_id(None, self.first_id), "part_ids": (result_id,)}
        if result.exit_code is not None:
            values["ended_as"] = f"exit code {result.exit_code}"
        if usage := result.usage:
            if usage.session_ms is not None:
                values["duration_ms"] = round(usage.session_ms)
            if usage.api_ms is not None:
                values["duration_api_ms"] = round(usage.api_ms)
            if usage.premium_requests is not None and not self.totals.is_billed:
                values |= {"credits": usage.premium_requests, "credits_unit": PREMIUM_REQUESTS}
        return values


def _run_id(session_id: str | None, first: str | None) -> str:
    """Return the session if its id is a UUID; otherwise a hash that includes `first`."""
    return (
        session_id
        if session_id and is_uuid(session_id)
        else canonical_hash({"session": session_id, "first": first})
    )


class CopilotEvents(StreamReader[_Session]):
    """Sessions of the Copilot CLI, stored or printed."""

    agent: ClassVar[str] = COPILOT.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        if value.get("type") != "result":
            return isinstance(value.get("data"), dict) and ("parentId" in value or "id" in value)
        usage = value.get("usage")
        return isinstance(usage, dict) and not usage.keys().isdisjoint(
            ("premiumRequests", "sessionDurationMs")
        )

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        value = document.value
        kind = value["type"]
        closed = self._close() if kind == "session.start" else ()
        session = self._open.get(None)
        if session is None:
            own_id = value.get("id")
            session = self._open[None] = _Session(
                document, first_id=own_id if isinstance(own_id, str) else None
            )
        time = event_time(value.get("timestamp"))
        session.note_time(time, _MADE_BY.get(kind, By.OTHERS))
        try:
            if kind == "result":
                del self._open[None]
                result = CopilotResult.model_validate(value)
                values = session.values_with(result, canonical_hash(value))
                return (found(document, distilled(values)),)
            if kind in COPILOT_READ_TYPES:
                session.note(kind, CopilotData.model_validate(value["data"]), time)
            session.last = document
        except ValidationError as error:
            return (
                *closed,
                document.refused(RejectReason.INVALID_RECORD, f"{kind}: {complaints(error)}"),
            )
        return closed


class CopilotHistories(RecordReader):
    """Session files until late 2025, one object each, without tokens.

    They are `history-session-state/session_*.json`.
    """

    agent: ClassVar[str] = COPILOT.key

    def _values(self, document: Document) -> dict[str, Any]:
        """Return the values of a Run; its outcome is unknown.

        A tool call is requested and completed under one id.
        """
        record = wire_record(CopilotHistory, document)
        times = [time for item in record.timeline if (time := event_time(item.timestamp))]
        started_at = event_time(record.start_time) or min(times, default=None)
        ended_at = max(times, default=None)
        prompts = [item.text for item in record.timeline if item.type == "user"]
        answers = [
            item.text
            for item in record.timeline
            if item.type == "copilot" and item.text and item.text.strip()
        ]
        tools = ToolCounts()
        for item in record.timeline:
            if item.type in ("tool_call_requested", "tool_call_completed"):
                tools.called(item.call_id, item.name or "tool")
                if item.call_id and item.result and item.result.get("type", "success") != "success":
                    tools.failed(item.call_id)
        return {
            "run_id": _run_id(record.session_id, str(record.start_time)),
            "agent": COPILOT.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": min(len(record.timeline), _MOST_ITEMS),
            "session_id": record.session_id,
            "started_at": started_at,
            "ended_at": ended_at,
            "duration_ms": milliseconds_between(started_at, ended_at),
            "num_turns": len(prompts) or None,
            "errors": [item.text for item in record.timeline if item.type == "error" and item.text],
            "prompt": next(filter(None, prompts), None),
            "final_text": answers[-1] if answers else None,
            "tool_calls": merged(tools),
        }
