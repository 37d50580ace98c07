"""OpenTelemetry (OTLP/JSON) → runs: events and metrics of coding agents, and spans of agents by GenAI's conventions or OpenInference.

A file has the sessions of many programs, interleaved, and a rotated file may begin within one. So a run is what one file tells of a
session; its id is a hash of the session and its first request, which an appended file keeps and the next file of a rotation changes.
Where a session has other records as well, the store makes its telemetry a record of their run.

Of one session, events count; metrics, the same figures by interval, only without events; spans of requests only without both. `rank`
says which of them the run is from.

Cached input is beside the input in Claude Code's telemetry, and inside in all other: a call with more cached than all input proves that
its program counts it beside. Only a trace with an agent's span is a run, as a program that calls a model is not an agent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import UNKNOWN, ended
from ingest.agents.shared.runs import By, OpenRun, canonical_hash, is_failed, wire_record
from ingest.agents.shared.texts import LONGEST_PROMPT, outcome_of_error
from ingest.agents.shared.tokens import Counts, Tokens, disjoint, google_tokens, handed_on, known_sum, provider_named, summed
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import shifted, unix_time
from schemas.agents import AGENTS, CLAUDE_CODE, CODEX, GEMINI, OPEN_TELEMETRY, QWEN, agent_key
from schemas.errors import RejectReason
from schemas.rows.row import LARGEST_INT, LARGEST_USD, usd
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.handed_on import COPY, LIST_PRICE, HandedOnModel, HandedOnRun
from schemas.wire.otlp import DELTA, OWN, PROVIDERS, OtlpExport, OtlpLogRecord, OtlpMetric, OtlpSpan

_EVENTS, _METRICS, _SPANS = -1, -2, -3
"""Ranks, all of them behind those of other records."""

_PROVIDERS = {theirs: ours for ours, theirs in PROVIDERS.items()} | {"gcp.vertex_ai": "google", "gcp.gen_ai": "google", "unknown": ""}

Values = Mapping[str, Any]


def _count(value: Any) -> int | None:
    """Return a whole number, in some exporters a text or a float; None for anything else."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:20])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= LARGEST_INT else None


def _amount(value: Any) -> Decimal | None:
    """Return a number that is not negative, in some exporters a text; None for anything else."""
    try:
        amount = Decimal(str(value)) if isinstance(value, int | float | str | Decimal) and not isinstance(value, bool) else Decimal("NaN")
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= LARGEST_INT else None


def _dollars(value: Any) -> Decimal | None:
    amount = _amount(value)
    return usd(amount) if amount is not None and amount <= LARGEST_USD else None


def _text(values: Values, *names: str) -> str | None:
    """Return the first of some attributes that is a text with any content."""
    return next((value for name in names if isinstance(value := values.get(name), str) and value.strip()), None)


def _first_count(values: Values, names: tuple[str, ...]) -> int | None:
    return next((count for name in names if (count := _count(values.get(name))) is not None), None)


def _time(nanoseconds: Any) -> datetime | None:
    """Return the time of a `…UnixNano`, to the microsecond; 0 is no time."""
    if isinstance(nanoseconds, str) and nanoseconds.isdecimal():
        nanoseconds = int(nanoseconds[:20])
    return unix_time(nanoseconds // 1000 / 1e6) if type(nanoseconds) is int and nanoseconds < 1 << 63 else None


# Requests to models, by the names of each program and convention


def _claudes_request(told: Values) -> Counts:
    """Return the counts of Claude Code's event `api_request` and span `llm_request`, whose input excludes the cache."""
    given, read, written = (_count(told.get(name)) for name in ("input_tokens", "cache_read_tokens", "cache_creation_tokens"))
    cached = (read or 0, written or 0)
    return Counts((given or 0) + sum(cached), *cached, _count(told.get("output_tokens")), None, _dollars(told.get("cost_usd")))


def _codexs_request(told: Values) -> Counts:
    names = ("input_token_count", "cached_token_count", "cache_write_token_count", "output_token_count", "reasoning_token_count")
    given, read, written, output, reasoning = (_count(told.get(name)) for name in names)
    return Counts(given, read or 0, written or 0, output, reasoning)


def _geminis_request(told: Values) -> Counts:
    names = ("input", "cached_content", "output", "thoughts", "tool", "total")
    tokens: Tokens = google_tokens(*(_count(told.get(f"{name}_token_count")) for name in names))
    return Counts(tokens.uncached + tokens.read, tokens.read, 0, tokens.output, tokens.reasoning)


_PROGRAMS = {
    "claude_code": (CLAUDE_CODE.key, "api_request", _claudes_request),
    "codex": (CODEX.key, "sse_event", _codexs_request),
    "gemini_cli": (GEMINI.key, "api_response", _geminis_request),
    "qwen-code": (QWEN.key, "api_response", _geminis_request),
}
"""Prefix of a program's events → its agent, the event of a request that was answered, and how that is read."""

_TOOL_EVENTS = ("tool_result", "tool_call")

_GIVEN = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_READ = (
    "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.input_tokens.cached",
    "llm.token_count.prompt_details.cache_read",
)  # fmt: skip
_WRITTEN = (
    "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.input_tokens.cache_write",
    "llm.token_count.prompt_details.cache_write",
)  # fmt: skip
_OUTPUT = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
_REASONING = (
    "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.output_tokens.reasoning", "llm.token_count.completion_details.reasoning",
)  # fmt: skip
_COST = ("gen_ai.usage.cost", "gen_ai.cost.total_tokens", "llm.cost.total")
"""Attributes of spans by GenAI's conventions, of older versions and Sentry, and by OpenInference."""

_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_AGENT = ("gen_ai.agent.name", "agent.name")
_SESSION = ("gen_ai.conversation.id", "session.id")

_AGENTS_SPAN, _MODELS_SPAN, _TOOLS_SPAN = "agent", "model", "tool"
_KINDS = {
    "invoke_agent": _AGENTS_SPAN,
    "AGENT": _AGENTS_SPAN,
    "chat": _MODELS_SPAN,
    "text_completion": _MODELS_SPAN,
    "generate_content": _MODELS_SPAN,
    "LLM": _MODELS_SPAN,
    "execute_tool": _TOOLS_SPAN,
    "TOOL": _TOOLS_SPAN,
}
"""`gen_ai.operation.name` or `openinference.span.kind` → what the span is about. Others are ignored."""


def _request_of_span(told: Values) -> Counts:
    given, read, written, output, reasoning = (_first_count(told, names) for names in (_GIVEN, _READ, _WRITTEN, _OUTPUT, _REASONING))
    if given is not None and (read or 0) + (written or 0) > given:
        given += (read or 0) + (written or 0)
    cost = next((amount for name in _COST if (amount := _dollars(told.get(name))) is not None), None)
    return Counts(given, read, written, output, reasoning, cost)


@dataclass
class _Requests:
    """Requests by model. `seen`: their ids, as exporters may send one again."""

    by_model: dict[str | None, Counts] = field(default_factory=dict)
    facts: dict[str | None, HandedOnModel] = field(default_factory=dict)
    providers: dict[str | None, str | None] = field(default_factory=dict)
    seen: set[Any] = field(default_factory=set)
    count: int = 0
    first: datetime | None = None
    api_ms: int | None = None

    def add(self, key: Any, model: str | None, counts: Counts, at: datetime | None, ms: int | None = None) -> None:
        if key in self.seen:
            return
        self.seen.add(key)
        self.count += 1
        self.by_model[model] = summed((self.by_model.get(model, Counts()), counts))
        self.first = min(filter(None, (self.first, at)), default=None)
        self.api_ms = known_sum((self.api_ms, ms))

    def take_in(self, other: _Requests) -> None:
        """Add the requests of another trace."""
        for model, counts in other.by_model.items():
            self.by_model[model] = summed((self.by_model.get(model, Counts()), counts))
        self.facts |= other.facts
        self.providers |= other.providers
        self.count += other.count
        self.api_ms = known_sum((self.api_ms, other.api_ms))

    def models(self) -> list[dict[str, Any]]:
        """Return the values of a `KeptModel` of each model."""
        found = []
        for model, counts in self.by_model.items():
            if facts := self.facts.get(model):
                found.append(handed_on(model, counts, facts))
            else:
                tokens = disjoint(*counts[:5]) or {}
                found.append({"model_id": model, "provider": self.providers.get(model), "cost_usd": counts.cost, **tokens})
        return found


# Sessions of coding agents, by their own events and metrics


@dataclass
class _Session(OpenRun):
    """One session of a program in `_PROGRAMS`.

    `points`: (model, what is counted, cumulative or not) → the last value of each series, or each point of a series of deltas.
    """

    agent: str = ""
    events: _Requests = field(default_factory=_Requests)
    spans: _Requests = field(default_factory=_Requests)
    points: dict[tuple[str | None, str], dict[Any, Decimal]] = field(default_factory=dict)
    first_point: datetime | None = None
    failure: str | None = None

    def has_content(self) -> bool:
        return bool(self.events.count or self.points or self.spans.count)

    def note_event(self, name: str, record: OtlpLogRecord, told: Values) -> None:
        """Read an event: of a request, a tool, a prompt or an error."""
        _, request, read = next(program for program in _PROGRAMS.values() if program[0] == self.agent)
        at = _time(record.time_unix_nano) or _time(record.observed_time_unix_nano)
        is_request = name == request and (request != "sse_event" or told.get("event.kind") == "response.completed")
        self.note_time(at, By.MODEL if is_request else By.TOOL if name in _TOOL_EVENTS else By.OTHERS)
        if is_request:
            counts, ms = read(told), _count(told.get("duration_ms"))
            model = _text(told, "model")
            place = (*map(str, (told.get("event.sequence"), told.get("event.timestamp"), record.time_unix_nano)), model, counts)
            self.events.add(_text(told, "request_id", "response_id") or place, model, counts, at, ms)
            if at and ms:
                self.note_time(shifted(at, -ms))
            self.failure = None
        elif name in _TOOL_EVENTS:
            call = _text(told, "tool_use_id", "call_id") or f"{record.time_unix_nano} {told.get('event.sequence')}"
            self.tools.called(call, _text(told, "tool_name", "function_name") or "tool")
            if told.get("success") in (False, "false"):
                self.tools.failed(call)
        elif name == "user_prompt":
            prompt = _text(told, "prompt")
            self.prompt = self.prompt or (prompt[:LONGEST_PROMPT] if prompt and prompt != "<REDACTED>" else None)
        elif name == "api_error":
            self.failure = _text(told, "error", "error.message") or "API error"

    def note_point(self, metric: OtlpMetric, told: Values, since: Any, until: Any, value: Any) -> None:
        """Read a point of Claude Code's counters of tokens and costs."""
        amount = _amount(value)
        if metric.sum is None or amount is None:
            return
        what = "cost" if metric.name == _COSTS else str(told.get("type"))
        series = (tuple(sorted((name, str(one)) for name, one in told.items())), str(since))
        is_delta = metric.sum.aggregation_temporality in DELTA
        points = self.points.setdefault((_text(told, "model"), what), {})
        key = (*series, str(until)) if is_delta else series
        points[key] = max(points.get(key, Decimal()), amount)
        self.first_point = min(filter(None, (self.first_point, _time(since), _time(until))), default=None)
        self.note_time(_time(until))
        self.note_time(_time(since))

    def _metered(self) -> _Requests:
        """Return the sums of the counters."""
        sums = {key: sum(points.values(), Decimal()) for key, points in self.points.items()}
        found = _Requests(first=self.first_point)
        for model in dict.fromkeys(model for model, _ in sums):
            given, read, written, output = (int(sums.get((model, kind), 0)) for kind in ("input", "cacheRead", "cacheCreation", "output"))
            cost = _dollars(sums.get((model, "cost")))
            found.by_model[model] = Counts(given + read + written, read, written, output, None, cost)
        return found

    def values(self) -> dict[str, Any]:
        rank, requests = (
            (_EVENTS, self.events) if self.events.count else (_METRICS, self._metered()) if self.points else (_SPANS, self.spans)
        )
        if self.failure:
            self.outcome, self.errors = outcome_of_error(self.failure), [self.failure]
        return super().values() | {
            "run_id": canonical_hash({"agent": self.agent, "session": self.session_id, "first": str(requests.first), "signal": rank}),
            "agent": self.agent,
            "record_kind": RecordKind.TELEMETRY,
            "rank": rank,
            "models": requests.models(),
            "num_turns": requests.count or None,
            "duration_api_ms": requests.api_ms,
            "is_error": is_failed(self.outcome),
            "cost_usd": known_sum(counts.cost for counts in requests.by_model.values()),
        }


_TOKENS, _COSTS = "claude_code.token.usage", "claude_code.cost.usage"

# Traces


@dataclass
class _Trace(OpenRun):
    """The spans of one trace that are about an agent, or of several of one conversation.

    `agents`: id of an agent's span → its own counts, its model and its name. `parents`: id of a span → that of its parent.
    """

    trace_id: str = ""
    own: HandedOnRun | None = None
    agents: dict[str, tuple[Counts, str | None, str | None]] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    requests: _Requests = field(default_factory=_Requests)
    service: str | None = None
    failure: str | None = None

    def note(self, kind: str, span: OtlpSpan, told: Values) -> None:
        """Read a span, once."""
        if span.span_id in self.parents:
            return
        self.parents[span.span_id] = span.parent_span_id
        at, until = _time(span.start_time_unix_nano), _time(span.end_time_unix_nano)
        self.note_time(at)
        self.note_time(until, {_MODELS_SPAN: By.MODEL, _TOOLS_SPAN: By.TOOL}.get(kind, By.OTHERS))
        self.session_id = self.session_id or _text(told, *_SESSION)
        self.service = self.service or _text(told, "service.name")
        failure = _text(told, "error.type") or ("error" if span.status.code in (2, "STATUS_CODE_ERROR") else None)
        model = _text(told, *_MODEL)
        if kind == _TOOLS_SPAN:
            self.tools.called(span.span_id, _text(told, "gen_ai.tool.name", "tool.name") or "tool")
            if failure:
                self.tools.failed(span.span_id)
            return
        if kind == _MODELS_SPAN:
            ms = round((until - at).total_seconds() * 1000) if at and until and until >= at else None
            self.requests.add(span.span_id, model, _request_of_span(told), at, ms)
        else:
            self.agents[span.span_id] = (_request_of_span(told), model, _text(told, *_AGENT))
            if not span.parent_span_id:
                self.failure = f"{failure}: {span.status.message}" if failure and span.status.message else failure
                self.agent_version = self.agent_version or _text(told, "gen_ai.agent.version", "service.version")
                self.requested_model = self.requested_model or _text(told, "gen_ai.request.model")
                self.prompt = self.prompt or _said(told, "gen_ai.input.messages", "input.value")
                self.final_text = _said(told, "gen_ai.output.messages", "output.value") or self.final_text
        if provider := _text(told, "gen_ai.provider.name", "gen_ai.system", "llm.provider"):
            self.requests.providers.setdefault(model, _PROVIDERS.get(provider, provider_named(provider)) or None)
        own = {name.removeprefix(OWN): value for name, value in told.items() if name.startswith(OWN)}
        if own:
            if "tokens_basis" in own:
                self.requests.facts[model] = HandedOnModel.model_validate(own)
            if "run_id" in own:
                self.own = HandedOnRun.model_validate(own)

    def take_in(self, other: _Trace) -> None:
        """Add a later trace of the conversation."""
        self.note_time(other.started_at)
        self.note_time(other.ended_at)
        self.active.join(other.active)
        self.agents |= other.agents
        self.parents |= other.parents
        self.requests.take_in(other.requests)
        for tool, (calls, errors) in other.tools.counts.items():
            mine = self.tools.counts.setdefault(tool, [0, 0])
            mine[0], mine[1] = mine[0] + calls, mine[1] + errors
        self.prompt = self.prompt or other.prompt
        self.final_text = other.final_text or self.final_text
        self.failure = other.failure
        self.last = max(self.last, other.last, key=lambda document: document.ordinal)

    @property
    def name(self) -> str | None:
        """Return the name of the agent, or that of the program; None if no span is an agent's."""
        names = [self.agents[span][2] for span in self._roots()]
        return next(filter(None, names), self.service or UNKNOWN) if names else None

    def values(self) -> dict[str, Any]:
        """Return the values of a `KeptRun`: tokens of the requests, or of the agents' spans if no request tells any."""
        outermost = _Requests(facts=self.requests.facts, providers=self.requests.providers)
        for span in self._roots():
            counts, model, _ = self.agents[span]
            if model in self.requests.facts or (not self.own and (model or any(counts))):
                outermost.add(span, model, counts, None)
        total = summed(self.agents[span][0] for span in self._roots())
        tells_tokens = any(counts.given or counts.output for counts in self.requests.by_model.values())
        requests = self.requests if tells_tokens or (self.own and self.requests.count) else outermost
        self.outcome = outcome_of_error(self.failure) if self.failure else Outcome.COMPLETED
        self.errors = [self.failure] if self.failure else []
        told = super().values() | {
            "run_id": canonical_hash({"trace": self.trace_id, "session": self.session_id}),
            "agent": agent_key(self.name or UNKNOWN),
            "record_kind": RecordKind.TELEMETRY,
            "rank": _SPANS,
            "models": requests.models(),
            "num_turns": self.requests.count or None,
            "duration_api_ms": self.requests.api_ms,
            "cost_usd": known_sum(counts.cost for counts in requests.by_model.values()) if total.cost is None else total.cost,
        }
        if self.own:
            told |= dict.fromkeys(("num_turns", "duration_ms", "active_ms", "duration_api_ms")) | self.own.values() | {"rank": COPY}
            if self.own.cost_basis == LIST_PRICE:
                told["cost_usd"] = None
        return told | {"is_error": is_failed(told["outcome"])}

    def _roots(self) -> list[str]:
        """Return the agents' spans that are within no other agent's, outermost first."""
        roots = []
        for span in self.agents:
            above, passed = self.parents.get(span), {span}
            while above and above not in self.agents and above not in passed:
                passed.add(above)
                above = self.parents.get(above)
            if not above or above not in self.agents:
                roots.append(span)
        return roots


def _said(told: Values, messages: str, plain: str) -> str | None:
    """Return the text of the messages of a span; by OpenInference it is plain."""
    value = told.get(messages)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    parts = [part for one in value for part in one.get("parts") or () if isinstance(one, dict)] if isinstance(value, list) else []
    texts = [part["content"] for part in parts if isinstance(part, dict) and isinstance(part.get("content"), str)]
    return ("\n".join(texts) or _text(told, plain) or "")[:LONGEST_PROMPT] or None


# The reader


class OpenTelemetry(AgentReader):
    """Exports of a collector, one on each line; their runs come at the end of the file, since any line may be of any session."""

    agent: ClassVar[str] = OPEN_TELEMETRY.key

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._sessions: dict[tuple[str, str], _Session] = {}
        self._traces: dict[str, _Trace] = {}
        self._programs: dict[str, Document] = {}

    def feed(self, document: Document) -> tuple[Found | Unreadable, ...]:
        export, last = wire_record(OtlpExport, document), document.beginning()
        for logs in export.resource_logs:
            for record in (record for scope in logs.scope_logs for record in scope.log_records):
                told = logs.resource.attributes | record.attributes
                if event := _event_of(record, told):
                    agent, name = event
                    if session := self._session(agent, told, last):
                        session.note_event(name, record, told)
        for metrics in export.resource_metrics:
            for metric in (metric for scope in metrics.scope_metrics for metric in scope.metrics):
                if metric.name in (_TOKENS, _COSTS) and metric.sum:
                    for point in metric.sum.data_points:
                        told = metrics.resource.attributes | point.attributes
                        if session := self._session(CLAUDE_CODE.key, told, last):
                            value = point.as_int if point.as_double is None else point.as_double
                            session.note_point(metric, told, point.start_time_unix_nano, point.time_unix_nano, value)
        for spans in export.resource_spans:
            for span in (span for scope in spans.scope_spans for span in scope.spans):
                self._note_span(span, spans.resource.attributes | span.attributes, last)
        return ()

    def _session(self, agent: str, told: Values, last: Document) -> _Session | None:
        """Return the session of an event; None if it names none."""
        self._programs.setdefault(agent, last)
        session_id = _text(told, "session.id", "conversation.id")
        if session_id is None:
            return None
        session = self._sessions.setdefault((agent, session_id), _Session(last, session_id=session_id, agent=agent))
        session.last = last
        session.agent_version = session.agent_version or _text(told, "app.version", "service.version")
        return session

    def _note_span(self, span: OtlpSpan, told: Values, last: Document) -> None:
        if span.name == _CLAUDES_SPAN:
            if session := self._session(CLAUDE_CODE.key, told, last):
                at, until = _time(span.start_time_unix_nano), _time(span.end_time_unix_nano)
                session.note_time(at)
                session.note_time(until, By.MODEL)
                key = _text(told, "request_id") or span.span_id
                session.spans.add(key, _text(told, "model"), _claudes_request(told), at, _count(told.get("duration_ms")))
            return
        kind = _KINDS.get(_text(told, "gen_ai.operation.name", "openinference.span.kind") or "")
        if kind and span.trace_id and span.span_id:
            trace = self._traces.setdefault(span.trace_id, _Trace(last, trace_id=span.trace_id))
            trace.last = last
            trace.note(kind, span, told)

    def end(self) -> Iterator[Found | Unreadable]:
        """Yield the runs. Several with the same last line take a number each: the second one and later count as documents of their own."""
        runs: list[_Session | _Trace] = [session for session in self._sessions.values() if session.has_content()]
        conversations: dict[Any, _Trace] = {}
        for trace in sorted(self._traces.values(), key=lambda trace: (str(trace.started_at), trace.trace_id)):
            has_model = bool(trace.requests.by_model) or any(model or any(counts[:4]) for counts, model, _ in trace.agents.values())
            if trace.name is None or not (has_model or trace.own):
                continue
            key = trace.own.run_id if trace.own else (trace.name, trace.session_id) if trace.session_id else trace.trace_id
            if key in conversations:
                conversations[key].take_in(trace)
            else:
                conversations[key] = trace
        runs += conversations.values()
        taken = set()
        for run in runs:
            last = run.last
            if last.ordinal in taken:
                last = copy(last)
                last.is_refused = True
            taken.add(last.ordinal)
            yield ended(last, run.values(), self._context_of)
        if not runs:
            for agent, first in self._programs.items():
                detail = f"telemetry of {AGENTS[agent].label} without the session or the tokens of any request"
                yield first.refused(RejectReason.NO_RECORD, detail)


_CLAUDES_SPAN = "claude_code.llm_request"


def _event_of(record: OtlpLogRecord, told: Values) -> tuple[str, str] | None:
    """Return the agent and the name of an event of a program in `_PROGRAMS`, else None."""
    own_name = told.get("event.name")
    for name in (record.event_name, own_name, record.body):
        prefix, dot, event = name.partition(".") if isinstance(name, str) else ("", "", "")
        if dot and prefix in _PROGRAMS:
            return _PROGRAMS[prefix][0], event
    is_claudes = told.get("service.name") == CLAUDE_CODE.key or "cache_creation_tokens" in told
    return (CLAUDE_CODE.key, own_name) if is_claudes and isinstance(own_name, str) else None
