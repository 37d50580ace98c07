"""OpenHands → runs: SDK conversations, lines of evaluations, and results of the OpenHands Index.

A conversation is a stream of events, or the state in `base_state.json`; its totals are cumulative,
so the last ones count. A line of `output.jsonl` is one run on one task: `metrics` has the totals
and the share of each call. `output.critic_attempt_N.jsonl` have the same lines as the final file.
Before the SDK a history was flat events with an `action` or an `observation`, at first in pairs.

litellm counts cache reads inside the input, and cache writes inside or beside it by version: inside
in 1.65 and since 1.78, beside in 1.70 to 1.74. More cached than input proves that they are beside.
Under an ACP agent (Claude Code, Codex, Gemini) reads are beside, and the tokens do not match the
cost, since they are summed on another path (OpenHands/benchmarks #583).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.distilled import UNKNOWN, complaints, distilled, ended, found
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_failed, merged
from ingest.agents.shared.texts import outcome_of_trial_error
from ingest.agents.shared.tokens import known_sum, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time, written_time
from schemas.agents import OPENHANDS
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.row import LARGEST_USD, usd
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.openhands import (
    ConversationState,
    EvalLine,
    EvalMetadata,
    IndexResult,
    LlmMetrics,
    SdkEvent,
    Stats,
    TokenUsage,
)

# Conversations of the SDK

_OUTCOMES = {
    "finished": Outcome.COMPLETED,
    "stuck": Outcome.EXECUTION_ERROR,
    "running": Outcome.INTERRUPTED,
    "paused": Outcome.INTERRUPTED,
    "waiting_for_confirmation": Outcome.INTERRUPTED,
    "deleting": Outcome.INTERRUPTED,
}
_SOURCES = frozenset(("agent", "user", "environment", "hook"))
_STATE = frozenset(("execution_status", "stats", "agent"))


class OpenHandsEvents(AgentReader):
    """Event streams with one or more conversations each, and final states (`base_state.json`).

    The states are those of conversations.
    """

    agent: ClassVar[str] = OPENHANDS.key

    def __init__(self) -> None:
        self._conversation = _Conversation()
        self._last: Document | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return _is_event(document.value) or document.value.keys() >= _STATE

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        value = document.value
        if not _is_event(value):
            conversation = _Conversation()
            try:
                conversation.note_state(ConversationState.model_validate(value))
            except ValidationError as error:
                raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
            return (
                found(document, distilled(conversation.values(RecordKind.RESULT) | {"rank": 1})),
            )
        closed: tuple[Found | Unreadable, ...] = ()
        state, current = (
            value.get("value") if value.get("key") == "full_state" else None,
            self._conversation.state.id,
        )
        if (
            isinstance(state, dict) and state.get("id") and current and state["id"] != current
        ):  # another conversation begins
            closed = tuple(self.end())
        try:
            self._conversation.note(value)
            self._last = document
        except ValidationError as error:
            return (
                *closed,
                document.refused(
                    RejectReason.INVALID_RECORD, f"{value['kind']}: {complaints(error)}"
                ),
            )
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """Yield the open conversation.

        A lone event without totals or a status, as in `events/*.json`, makes no run.
        """
        conversation, last = self._conversation, self._last
        self._conversation, self._last = _Conversation(), None
        if last and (conversation.events > 1 or conversation.stats or conversation.status):
            yield ended(last, conversation.values(RecordKind.STREAM))


def _is_event(value: dict[str, Any]) -> bool:
    return (
        all(isinstance(value.get(name), str) for name in ("id", "kind", "source", "timestamp"))
        and value["source"] in _SOURCES
    )


@dataclass
class _Conversation:
    """An open conversation. `is_stale`: the last update of the totals could not be read."""

    events: int = 0
    first_id: str | None = None
    state: ConversationState = field(default_factory=ConversationState)
    status: str | None = None
    stats: Stats | None = None
    is_stale: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    last_response: str | None = None
    turns: int = 0
    is_finished: bool = False
    prompt: str | None = None
    final_text: str | None = None
    error: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)

    @property
    def totals(self) -> list[LlmMetrics]:
        """Return the running totals, one per use of a model."""
        return list(self.stats.usage_to_metrics.values()) if self.stats else []

    def outcome(self) -> Outcome:
        """Return the outcome by the last status, else by whether the agent declared itself done."""
        if self.status in _OUTCOMES:
            return _OUTCOMES[self.status]
        if self.status == "error" or self.error:
            return _outcome_of(self.error or "")
        return Outcome.COMPLETED if self.is_finished else Outcome.UNKNOWN

    def note(self, value: Mapping[str, Any]) -> None:
        """Add an event. Raises ValidationError for invalid totals."""
        event = SdkEvent.model_validate(value)
        self.events += 1
        self.first_id = self.first_id or event.id
        if time := event_time(event.timestamp):
            self.started_at = min(self.started_at or time, time)
            self.ended_at = max(self.ended_at or time, time)
        by_agent = event.kind == "ActionEvent" or (
            event.kind == "MessageEvent" and event.source == "agent"
        )
        if by_agent and event.llm_response_id and event.llm_response_id != self.last_response:
            self.last_response = (
                event.llm_response_id
            )  # one reply of the model may make several actions, one after the other
            self.turns += 1
        if event.kind == "ConversationStateUpdateEvent":
            self._note_update(event)
        elif event.kind == "ActionEvent":
            self.tools.called(event.tool_call_id, event.tool_name or "tool")
            self.is_finished = event.tool_name == "finish"
            if self.is_finished and event.action and event.action.message:
                self.final_text = event.action.message
        elif event.kind == "MessageEvent":
            parts = (event.llm_message.content if event.llm_message else None) or ()
            text = "\n".join(part.text for part in parts if part.text)
            if event.source == "agent":
                self.final_text = text if text.strip() else self.final_text
            elif event.source == "user":
                self.prompt = self.prompt or text or None
        elif event.kind == "AgentErrorEvent" or (
            event.kind == "ObservationEvent" and event.observation and event.observation.is_error
        ):
            if event.tool_call_id:
                self.tools.failed(event.tool_call_id)
        elif event.kind == "ConversationErrorEvent":
            self.error = ": ".join(filter(None, (event.code, event.detail))) or "error"

    def note_state(self, state: ConversationState) -> None:
        self.state = state
        self.status = state.execution_status or self.status
        self._note_stats(state.stats)

    def _note_update(self, event: SdkEvent) -> None:
        if event.key in ("execution_status", "agent_status") and isinstance(event.value, str):
            self.status = event.value
            self.error = self.error if event.value == "error" else None
        elif event.key in ("stats", "full_state") and event.value is not None:
            self.is_stale = True
            if event.key == "stats":
                self._note_stats(Stats.model_validate(event.value))
            else:
                self.note_state(ConversationState.model_validate(event.value))
            self.is_stale = False

    def _note_stats(self, stats: Stats | None) -> None:
        if stats and stats.usage_to_metrics:
            self.stats = stats

    def values(self, kind: RecordKind) -> dict[str, Any]:
        outcome, agent = self.outcome(), self.state.agent
        requested = agent.llm.model if agent and agent.llm else None
        is_acp = bool(agent and (agent.kind or "").startswith("ACP"))
        return {
            "run_id": self.state.id
            or self.first_id
            or canonical_hash({"openhands": str(self.started_at)}),
            "agent": OPENHANDS.key,
            "record_kind": kind,
            "rank": 2 if self.totals else 0,
            "session_id": self.state.id,
            "requested_model": requested,
            "models": _models(self.totals, is_acp=is_acp, is_stale=self.is_stale, model=requested),
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "num_turns": self.turns or None,
            "outcome": outcome,
            "is_error": is_failed(outcome),
            "ended_as": self.status,
            "errors": [self.error] if self.error and outcome is not Outcome.COMPLETED else [],
            "cost_usd": _cost_of(total.accumulated_cost for total in self.totals),
            "prompt": self.prompt,
            "final_text": self.final_text,
            "tool_calls": merged(self.tools),
        }


def _outcome_of(error: str) -> Outcome:
    message = error.lower().replace(" ", "")
    if (
        "maxiteration" in message
        or "maximumiteration" in message
        or "maximumnumberofiterations" in message
    ):
        return Outcome.MAX_TURNS
    if "maxbudget" in message or "maximumbudget" in message or "budgetfortask" in message:
        return Outcome.MAX_BUDGET
    return outcome_of_trial_error(error)


# Evaluations

_NO_TOOLS = frozenset(
    (
        "message",
        "finish",
        "think",
        "system",
        "recall",
        "reject",
        "change_agent_state",
        "condensation",
        "condensation_request",
        "null",
        "",
    )
)
_ENDS = {"finished": True, "error": False, "rejected": False, "stopped": False}


class OpenHandsOutput(AgentReader):
    """Lines of `output.jsonl`."""

    agent: ClassVar[str] = OPENHANDS.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        beside = ("history", "metrics", "instruction", "metadata")
        return (
            "instance_id" in value
            and "test_result" in value
            and any(name in value for name in beside)
        )

    def feed(self, document: Document) -> Iterable[Found]:
        try:
            values = _of_line(EvalLine.model_validate(document.value))
        except ValidationError as error:
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
        return (found(document, distilled(values)),)


def _of_line(line: EvalLine) -> dict[str, Any]:
    metadata, runtimes = line.metadata or EvalMetadata(), line.runtime_runs or ()
    named = (metadata.llm.model if metadata.llm else None) or (
        metadata.llm_config.model if metadata.llm_config else None
    )
    requested = named or metadata.model_name
    events = list(_flat(line.history))
    first: Any
    if any(isinstance(event.get("kind"), str) for event in events):
        conversation = _Conversation()
        for event in events:
            conversation.note(event)
        of_history = conversation.values(RecordKind.TRIAL)
        of_history |= {
            "run_id": conversation.state.id or conversation.first_id,
            "outcome": conversation.outcome(),
        }
        if of_history["outcome"] is Outcome.UNKNOWN:
            of_history["outcome"] = Outcome.COMPLETED
        first, totals = conversation.first_id, conversation.totals
    else:
        history = _History()
        for event in events:
            history.note(event)
        of_history = history.values()
        first, totals = history.first, [history.metrics] if history.metrics else []
    totals = [line.metrics] if line.metrics else totals
    outcome = _outcome_of(line.error) if line.error else of_history["outcome"]
    # The task, and the first event with its id and time; without events the totals and when the
    # evaluation began. With the SDK the id is
    # that of the conversation, as in the log of its events.
    identity: dict[str, Any] = {"instance_id": line.instance_id, "first": first}
    if first is None:
        started = [str(run.started_at) for run in runtimes] or metadata.start_time
        identity |= {
            "started": started,
            "totals": [total.model_dump(mode="json") for total in totals],
            "error": line.error,
        }
    calls = sum(
        max(map(len, (total.token_usages or (), total.response_latencies or (), total.costs or ())))
        for total in totals
    )
    waited = sum(call.latency or 0 for total in totals for call in total.response_latencies or ())
    grades = line.test_result if isinstance(line.test_result, dict) else {}
    resolved = [
        place.get("resolved")
        for place in (grades.get("result"), grades.get("report"), grades)
        if isinstance(place, dict)
    ]
    return {name: of_history[name] for name in _FROM_HISTORY if name in of_history} | {
        "run_id": of_history.get("run_id") or canonical_hash({"openhands": identity}),
        "agent": OPENHANDS.key,
        "record_kind": RecordKind.TRIAL,
        "agent_version": metadata.openhands_sdk_version,
        "requested_model": requested,
        "models": _models(
            totals, is_acp=(metadata.agent_type or "").startswith("acp"), model=requested
        ),
        "started_at": of_history["started_at"]
        or next(filter(None, (event_time(run.started_at) for run in runtimes)), None),
        "duration_api_ms": round(waited * 1000) or None,
        "num_turns": of_history.get("num_turns") or calls or None,
        "outcome": outcome,
        "is_error": is_failed(outcome),
        "errors": [line.error] if line.error else [],
        "cost_usd": _cost_of(total.accumulated_cost for total in totals),
        "score": next((float(one) for one in resolved if isinstance(one, bool)), None),
        "task": line.instance_id,
        "prompt": line.instruction or of_history["prompt"],
    }


_FROM_HISTORY = ("session_id", "ended_at", "ended_as", "final_text", "tool_calls")


def _flat(history: object) -> Iterator[dict[str, Any]]:
    """Yield the events of a history, including those of pairs."""
    for item in history if isinstance(history, list) else ():
        if isinstance(item, dict):
            yield item
        elif isinstance(item, list):
            yield from _flat(item)


@dataclass
class _History:
    """Events before the SDK.

    `first`: id and time of the first event; `is_finished`: None if no event states how it ended.
    """

    first: tuple[Any, Any] | None = None
    times: list[datetime] = field(default_factory=list)
    prompt: str | None = None
    final_text: str | None = None
    is_finished: bool | None = None
    metrics: LlmMetrics | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)

    def note(self, event: dict[str, Any]) -> None:
        """Add an event. `llm_metrics` of an event are the totals so far."""
        self.first = self.first or (event.get("id"), event.get("timestamp"))
        time = written_time(event.get("timestamp"))  # local, of an unknown zone
        if time and not any(other.tzinfo != time.tzinfo for other in self.times):
            self.times = [min([*self.times, time]), max([*self.times, time])]
        if totals := event.get("llm_metrics"):
            try:
                self.metrics = LlmMetrics.model_validate(totals)
            except ValidationError:
                self.metrics = None
        action, args = event.get("action"), event.get("args")
        if isinstance(action, str):
            self._note_action(event, action, args if isinstance(args, dict) else {})
        elif isinstance(event.get("observation"), str):
            extras = event.get("extras")
            self._note_observation(event, extras if isinstance(extras, dict) else {})

    def _note_action(self, event: dict[str, Any], action: str, args: dict[str, Any]) -> None:
        words = (args.get(name) for name in ("final_thought", "message", "thought", "content"))
        text = next((text for text in words if isinstance(text, str) and text.strip()), None)
        if action == "message" and event.get("source") == "user":
            self.prompt = self.prompt or text
        elif action == "finish" or (action == "message" and event.get("source") == "agent"):
            self.final_text = text or self.final_text
        if action == "finish":
            self.is_finished = True
        if action not in _NO_TOOLS and event.get("source") in ("agent", None):
            self.tools.called(None if event.get("id") is None else str(event["id"]), action)

    def _note_observation(self, event: dict[str, Any], extras: dict[str, Any]) -> None:
        if event["observation"] == "agent_state_changed":
            self.is_finished = _ENDS.get(str(extras.get("agent_state")), self.is_finished)
        inner = extras.get("metadata")
        code = (inner if isinstance(inner, dict) else extras).get("exit_code")
        if (event["observation"] == "error" or (isinstance(code, int) and code > 0)) and event.get(
            "cause"
        ) is not None:
            self.tools.failed(str(event["cause"]))

    def values(self) -> dict[str, Any]:
        outcome = Outcome.COMPLETED if self.first else Outcome.UNKNOWN
        return {
            "started_at": self.times[0] if self.times else None,
            "ended_at": self.times[-1] if self.times else None,
            "outcome": Outcome.EXECUTION_ERROR if self.is_finished is False else outcome,
            "prompt": self.prompt,
            "final_text": self.final_text,
            "tool_calls": merged(self.tools),
        }


# The OpenHands Index


class OpenHandsIndex(AgentReader):
    """Results of a benchmark by instance, `instance_results/BENCHMARK.json`: each is a run.

    They have cost and score only. Agent and model come from the `metadata.json` above
    (`ingest.context.trials`). The instances have no ids: a run's id is made of its instance and the
    whole file, so publishing a file again with other results makes other runs.
    """

    agent: ClassVar[str] = OPENHANDS.key

    @staticmethod
    def recognises(document: Document) -> bool:
        first = next(iter(document.value.values()), None)
        return isinstance(first, dict) and first.keys() == {"cost", "resolved"}

    def feed(self, document: Document) -> Iterator[Found | Unreadable]:
        """Yield the instances; each one that cannot be read becomes a reject of its own."""
        instances = document.written
        whole = canonical_hash(instances)
        for number, (name, value) in enumerate(instances.items()):
            try:
                result = IndexResult.model_validate(value)
            except ValidationError as error:
                yield document.moved(number).refused(
                    RejectReason.INVALID_RECORD, f"{name}: {complaints(error)}"
                )
                continue
            values = {
                "run_id": canonical_hash({"instance": name, "results": whole}),
                "agent": UNKNOWN,
                "record_kind": RecordKind.TRIAL,
                "models": [
                    unrecorded(None, "Results of the OpenHands Index have no token counts.")
                    | {"cost_usd": result.cost}
                ],
                "cost_usd": result.cost,
                "score": None if result.resolved is None else float(result.resolved),
                "task": name,
            }
            yield ended(document, values)


# Tokens and cost

_CLASSES = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
_ACP = (
    "The tokens are those that another agent reported to OpenHands turn by turn; they do not match "
    "its cost."
)
_ASSUMED_INSIDE = (
    "Cache writes are taken to be a part of the input, as litellm counts them in most versions."
)
_LAST_UNREAD = "Later token counts of the log could not be read."


def _models(
    totals: Iterable[LlmMetrics], *, is_acp: bool, is_stale: bool = False, model: str | None
) -> list[dict[str, Any]]:
    """Return values of a `ModelUse` per model. `is_stale`: later counts were unreadable.

    `model`: default name.
    """
    usages: dict[str | None, list[TokenUsage]] = {}
    costs: dict[str | None, list[float]] = {}
    for total in totals:
        whole, calls = total.accumulated_token_usage, total.token_usages or []
        name = _name(total.model_name) or _name(whole.model if whole else None) or model
        # The calls count if they add up to the total, since they name their models.
        if calls and (whole is None or _summed(calls) == _summed([whole])):
            for call in calls:
                usages.setdefault(_name(call.model) or name, []).append(call)
        elif whole:
            usages.setdefault(name, []).append(whole)
        paid = total.accumulated_cost
        parts = [(_name(part.model) or name, part.cost) for part in total.costs or () if part.cost]
        if paid is not None and not (parts and abs(sum(cost for _, cost in parts) - paid) < 1e-6):
            parts = [(name, paid)]
        for each, cost in parts if paid is not None else ():
            costs.setdefault(each, []).append(cost)

    models: list[dict[str, Any]] = []
    for each in dict.fromkeys((*usages, *costs)):
        used, cost_usd = _summed(usages.get(each, ())), _cost_of(costs.get(each, ()))
        values: dict[str, Any] = {"model_id": each, "cost_usd": cost_usd}
        if any(used.values()):
            given, read, written = (
                used[name] or 0
                for name in ("prompt_tokens", "cache_read_tokens", "cache_write_tokens")
            )
            uncached, basis, reason = given, TokensBasis.EXACT, None
            if is_acp:
                basis, reason = TokensBasis.ESTIMATE, _ACP
            elif written and given >= read + written:
                uncached, basis, reason = (
                    given - read - written,
                    TokensBasis.LOWER_BOUND,
                    _ASSUMED_INSIDE,
                )
            elif read <= given:
                uncached = given - read
            if is_stale:
                basis, reason = TokensBasis.LOWER_BOUND, _LAST_UNREAD
            values |= {
                "input_tokens": uncached,
                "output_tokens": used["completion_tokens"],
                "reasoning_tokens": used["reasoning_tokens"],
                "cache_read_tokens": used["cache_read_tokens"],
                "cache_write_tokens": used["cache_write_tokens"],
                "basis": basis,
                "basis_reason": reason,
            }
        elif not cost_usd:  # zeros beside a cost: not recorded
            continue
        models.append(values)
    return models


def _name(name: str | None) -> str | None:
    return None if name in ("default", "unknown", "") else name


def _summed(usages: Iterable[TokenUsage]) -> dict[str, int | None]:
    counts = [[getattr(usage, name) for name in _CLASSES] for usage in usages]
    return (
        dict(zip(_CLASSES, map(known_sum, zip(*counts, strict=True)), strict=True))
        if counts
        else dict.fromkeys(_CLASSES)
    )


def _cost_of(amounts: Iterable[float | None]) -> Decimal | None:
    """Return a sum in USD, or None if no amount is known."""
    known = [Decimal(repr(float(amount))) for amount in amounts if amount is not None]
    total = sum(known, Decimal())
    return None if not known else usd(total) if total <= LARGEST_USD else total
