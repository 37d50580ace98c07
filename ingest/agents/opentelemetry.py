"""OpenTelemetry (OTLP/JSON) → runs.

Events and metrics of coding agents, and spans of agents by GenAI's conventions or OpenInference.

A file has the sessions of many programs, interleaved, and a rotated file may begin within one. So
what a file tells of a session, or of a trace without one, is a part of its run
(`ingest.agents.shared.telemetry`); the run's id is a hash of the session, else of the trace. Where
a session has other records as well, the store makes its telemetry a record of their run.

Of one session, events count; metrics, the same figures by interval, only without events; spans of
requests only without both.

Cached input is beside the input in Claude Code's telemetry, and inside in all other: a call with
more cached than all input proves that its program counts it beside. A program that calls a model is
not an agent: what is within no agent's span is no run. Where the span above a request was not read,
that may be the agent's: a run without it, whose tokens are lower bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.distilled import complaints, ended
from ingest.agents.shared.runs import canonical_hash, wire_record
from ingest.agents.shared.telemetry import (
    AGENT,
    ERROR,
    LLM_SPAN,
    MODEL,
    OTHER,
    REQUEST,
    TOOL,
    Signal,
    Spans,
    TelemetryPart,
    count_fields,
)
from ingest.agents.shared.texts import LONGEST_PROMPT, outcome_of_error
from ingest.agents.shared.tokens import Counts, Tokens, google_tokens, provider_named
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import unix_time
from schemas.agents import AGENTS, CLAUDE_CODE, CODEX, GEMINI, OPEN_TELEMETRY, QWEN
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.row import LARGEST_INT, LARGEST_USD, usd
from schemas.rows.run import Outcome
from schemas.wire.handed_on import HandedOnModel, HandedOnRun
from schemas.wire.otlp import DELTA, OWN, PROVIDERS, OtlpExport, OtlpLogRecord, OtlpPoint, OtlpSpan

_PROVIDERS = {theirs: ours for ours, theirs in PROVIDERS.items()} | {
    "gcp.vertex_ai": "google",
    "gcp.gen_ai": "google",
    "unknown": "",
}

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
        amount = (
            Decimal(str(value))
            if isinstance(value, int | float | str | Decimal) and not isinstance(value, bool)
            else Decimal("NaN")
        )
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= LARGEST_INT else None


def _dollars(value: Any) -> Decimal | None:
    amount = _amount(value)
    return usd(amount) if amount is not None and amount <= LARGEST_USD else None


def _text(values: Values, *names: str) -> str | None:
    """Return the first of some attributes that is a text with any content."""
    return next(
        (value for name in names if isinstance(value := values.get(name), str) and value.strip()),
        None,
    )


def _first_count(values: Values, names: tuple[str, ...]) -> int | None:
    return next((count for name in names if (count := _count(values.get(name))) is not None), None)


def _micros(nanoseconds: Any) -> int | None:
    """Return the microseconds of a `…UnixNano`; None if that is no time, such as 0."""
    if isinstance(nanoseconds, str) and nanoseconds.isdecimal():
        nanoseconds = int(nanoseconds[:20])
    is_time = (
        type(nanoseconds) is int and nanoseconds < 1 << 63 and unix_time(nanoseconds // 1000 / 1e6)
    )
    return nanoseconds // 1000 if is_time else None


# Requests to models, by the names of each program and convention


def _claudes_request(attributes: Values) -> Counts:
    """Return the counts of Claude Code's event `api_request` and span `llm_request`.

    Their input excludes the cache.
    """
    given, read, written = (
        _count(attributes.get(name))
        for name in ("input_tokens", "cache_read_tokens", "cache_creation_tokens")
    )
    cached = (read or 0, written or 0)
    return Counts(
        (given or 0) + sum(cached),
        *cached,
        _count(attributes.get("output_tokens")),
        None,
        _dollars(attributes.get("cost_usd")),
    )


def _codexs_request(attributes: Values) -> Counts:
    names = (
        "input_token_count",
        "cached_token_count",
        "cache_write_token_count",
        "output_token_count",
        "reasoning_token_count",
    )
    given, read, written, output, reasoning = (_count(attributes.get(name)) for name in names)
    return Counts(given, read or 0, written or 0, output, reasoning)


def _geminis_request(attributes: Values) -> Counts:
    names = ("input", "cached_content", "output", "thoughts", "tool", "total")
    tokens: Tokens = google_tokens(
        *(_count(attributes.get(f"{name}_token_count")) for name in names)
    )
    return Counts(tokens.uncached + tokens.read, tokens.read, 0, tokens.output, tokens.reasoning)


_PROGRAMS = {
    "claude_code": (CLAUDE_CODE.key, "api_request", _claudes_request),
    "codex": (CODEX.key, "sse_event", _codexs_request),
    "gemini_cli": (GEMINI.key, "api_response", _geminis_request),
    "qwen-code": (QWEN.key, "api_response", _geminis_request),
}
"""Prefix of a program's events → its agent, the event of a request that was answered, and how that
is read.
"""

_TOOL_EVENTS = ("tool_result", "tool_call")

_GIVEN = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_READ = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "llm.token_count.prompt_details.cache_read",
)
_WRITTEN = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.input_tokens.cache_write",
    "llm.token_count.prompt_details.cache_write",
)
_OUTPUT = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
)
_REASONING = (
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.output_tokens.reasoning",
    "llm.token_count.completion_details.reasoning",
)
_COST = ("gen_ai.usage.cost", "gen_ai.cost.total_tokens", "llm.cost.total")
"""Attributes of spans by GenAI's conventions, of older versions and Sentry, and by OpenInference.
"""

_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_AGENT = ("gen_ai.agent.name", "agent.name")
_SESSION = ("gen_ai.conversation.id", "session.id")

_KINDS = {
    "invoke_agent": AGENT,
    "AGENT": AGENT,
    "chat": MODEL,
    "text_completion": MODEL,
    "generate_content": MODEL,
    "LLM": MODEL,
    "execute_tool": TOOL,
    "TOOL": TOOL,
}
"""`gen_ai.operation.name` or `openinference.span.kind` → what the span is about. Others are
ignored.
"""


def _request_of_span(attributes: Values) -> Counts:
    given, read, written, output, reasoning = (
        _first_count(attributes, names) for names in (_GIVEN, _READ, _WRITTEN, _OUTPUT, _REASONING)
    )
    if given is not None and (read or 0) + (written or 0) > given:
        given += (read or 0) + (written or 0)
    cost = next(
        (amount for name in _COST if (amount := _dollars(attributes.get(name))) is not None), None
    )
    return Counts(given, read, written, output, reasoning, cost)


def _message_text(attributes: Values, messages: str, plain: str) -> str | None:
    """Return the text of the messages of a span; by OpenInference it is plain."""
    value = attributes.get(messages)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    parts = (
        [part for one in value for part in one.get("parts") or () if isinstance(one, dict)]
        if isinstance(value, list)
        else []
    )
    texts = [
        part["content"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("content"), str)
    ]
    return ("\n".join(texts) or _text(attributes, plain) or "")[:LONGEST_PROMPT] or None


_TOKENS, _COSTS = "claude_code.token.usage", "claude_code.cost.usage"
_CLAUDES_SPAN = "claude_code.llm_request"


@dataclass
class _Read:
    """A part of a run, and the last line that has some of it."""

    part: TelemetryPart
    last: Document

    def take_in(self, other: _Read) -> None:
        """Add the content of a later line."""
        self.part.take_in(other.part)
        self.last = other.last


# The reader


class OpenTelemetry(AgentReader):
    """Exports of a collector, one on each line.

    Their runs come at the end of the file, since any line may be of any session.
    """

    agent: ClassVar[str] = OPEN_TELEMETRY.key

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], _Read] = {}
        self._traces: dict[str, dict[str | None, _Read]] = {}
        self._others = bytearray()
        self._programs: dict[str, Document] = {}

    def feed(self, document: Document) -> tuple[Found | Unreadable, ...]:
        """Read an export apart from the earlier ones: an unreadable one leaves nothing behind."""
        alone = OpenTelemetry()
        alone._read(document)
        for key, read in alone._sessions.items():
            self._sessions.setdefault(key, _Read(TelemetryPart(*key), read.last)).take_in(read)
        for trace, of_trace in alone._traces.items():
            for run, read in of_trace.items():
                self._traces.setdefault(trace, {}).setdefault(
                    run, _Read(TelemetryPart(None, read.part.session_id), read.last)
                ).take_in(read)
        self._others += alone._others
        self._programs = alone._programs | self._programs
        return ()

    def _read(self, document: Document) -> None:
        export, last = wire_record(OtlpExport, document), document.beginning()
        for logs in export.resource_logs:
            for record in (record for scope in logs.scope_logs for record in scope.log_records):
                attributes = logs.resource.attributes | record.attributes
                if event := _event_of(record, attributes):
                    agent, name = event
                    if part := self._session(
                        agent, attributes, _micros(record.time_unix_nano), last
                    ):
                        _note_event(part, agent, name, record, attributes)
        for metrics in export.resource_metrics:
            for metric in (metric for scope in metrics.scope_metrics for metric in scope.metrics):
                if metric.name in (_TOKENS, _COSTS) and metric.sum:
                    for point in metric.sum.data_points:
                        attributes = metrics.resource.attributes | point.attributes
                        amount = _amount(
                            point.as_int if point.as_double is None else point.as_double
                        )
                        part = self._session(
                            CLAUDE_CODE.key, attributes, _micros(point.time_unix_nano), last
                        )
                        if part and amount is not None:
                            is_delta = metric.sum.aggregation_temporality in DELTA
                            _note_point(
                                part,
                                "cost" if metric.name == _COSTS else str(attributes.get("type")),
                                attributes,
                                point,
                                amount,
                                is_delta,
                            )
        for spans in export.resource_spans:
            for span in (span for scope in spans.scope_spans for span in scope.spans):
                self._note_span(span, spans.resource.attributes | span.attributes, last)

    def _session(
        self, agent: str, attributes: Values, at: int | None, last: Document
    ) -> TelemetryPart | None:
        """Return the part of the session that an event is of; None if it names none."""
        self._programs.setdefault(agent, last)
        session_id = _text(attributes, "session.id", "conversation.id")
        if session_id is None:
            return None
        read = self._sessions.setdefault(
            (agent, session_id), _Read(TelemetryPart(agent, session_id), last)
        )
        read.last = last
        read.part.name("agent_version", at, _text(attributes, "app.version", "service.version"))
        return read.part

    def _note_span(self, span: OtlpSpan, attributes: Values, last: Document) -> None:
        at, until = _micros(span.start_time_unix_nano), _micros(span.end_time_unix_nano)
        if span.name == _CLAUDES_SPAN:
            if part := self._session(CLAUDE_CODE.key, attributes, at, last):
                key, counts = (
                    _text(attributes, "request_id") or span.span_id,
                    count_fields(_claudes_request(attributes)),
                )
                ms = _count(attributes.get("duration_ms"))
                part.observed.add(
                    Signal(
                        LLM_SPAN, at, until, key, model=_text(attributes, "model"), ms=ms, **counts
                    )
                )
            return
        kind = _KINDS.get(
            _text(attributes, "gen_ai.operation.name", "openinference.span.kind") or ""
        )
        if kind and span.trace_id and span.span_id:
            session_id = _text(attributes, *_SESSION)
            # Programs choose ids of sessions as short as "1": two services may have the same.
            run = session_id and canonical_hash(
                {"session": session_id, "service": _text(attributes, "service.name")}
            )
            read = self._traces.setdefault(span.trace_id, {}).setdefault(
                run, _Read(TelemetryPart(None, session_id), last)
            )
            read.last = last
            _note_agents_span(read.part, kind, span, attributes, at, until)
        elif span.span_id:
            ids = f"{span.trace_id} {span.span_id} {span.parent_span_id or ''}"
            if ids.isascii() and ids.isprintable() and ids.count(" ") == 2:
                self._others += f"{ids}\n".encode()

    def end(self) -> Iterator[Found | Unreadable]:
        """Yield the runs.

        Several with the same last line take a number each: the second one and later count as
        documents of their own.
        """
        runs = {
            canonical_hash({"agent": key[0], "session": key[1]}): read
            for key, read in self._sessions.items()
        }
        part_ids: dict[str, set[str]] = {}
        others: Spans = {}
        for trace, span, parent in (
            (line.split(" ") for line in self._others.decode().splitlines()) if self._traces else ()
        ):
            if trace in self._traces:
                others[trace, span] = Signal(OTHER, None, None, span, trace, parent)
        for trace_id, of_trace in self._traces.items():
            trace = canonical_hash({"trace": trace_id})
            whole = next(
                (read.part.own.run_id for read in of_trace.values() if read.part.own), None
            )
            home = max(filter(None, of_trace), default=trace)
            between = others | {
                (one.trace, one.id): one for read in of_trace.values() for one in read.part.observed
            }
            for run_id, read in of_trace.items():
                if not whole:
                    read.part.trim(between)
                    part_ids.setdefault(run_id or home, set()).add(trace)
                if run := runs.setdefault(whole or run_id or home, read):
                    run.part.take_in(read.part)
                    run.last = max(run.last, read.last, key=lambda document: document.ordinal)
        taken, has_runs = set(), False
        for run_id, read in runs.items():
            if not read.part.has_content():
                continue
            has_runs, last = True, read.last
            if last.ordinal in taken:
                last = copy(last)
                last.is_refused = True
            taken.add(last.ordinal)
            parts = tuple(sorted(part_ids.get(run_id, set()) - {run_id}))
            yield ended(last, {"run_id": run_id, "part_ids": parts} | read.part.values())
        if not has_runs:
            for agent, first in self._programs.items():
                detail = (
                    f"telemetry of {AGENTS[agent].label} without the session or the tokens of "
                    "any request"
                )
                yield first.refused(RejectReason.NO_RECORD, detail)


def _note_event(
    part: TelemetryPart, agent: str, name: str, record: OtlpLogRecord, attributes: Values
) -> None:
    """Read an event of a program: of a request, a tool, a prompt or an error."""
    _, request, read = next(program for program in _PROGRAMS.values() if program[0] == agent)
    at = _micros(record.time_unix_nano) or _micros(record.observed_time_unix_nano)
    if name == request and (
        request != "sse_event" or attributes.get("event.kind") == "response.completed"
    ):
        counts, ms, model = (
            count_fields(read(attributes)),
            _count(attributes.get("duration_ms")),
            _text(attributes, "model"),
        )
        place = canonical_hash(
            [
                attributes.get("event.sequence"),
                attributes.get("event.timestamp"),
                record.time_unix_nano,
                model,
                counts,
            ]
        )
        key = _text(attributes, "request_id", "response_id") or place[:16]
        part.observed.add(
            Signal(
                REQUEST, at - ms * 1000 if at and ms else at, at, key, model=model, ms=ms, **counts
            )
        )
    elif name in _TOOL_EVENTS:
        call = (
            _text(attributes, "tool_use_id", "call_id")
            or f"{record.time_unix_nano} {attributes.get('event.sequence')}"
        )
        outcome = (
            Outcome.EXECUTION_ERROR.value if attributes.get("success") in (False, "false") else None
        )
        part.observed.add(
            Signal(
                TOOL,
                at,
                at,
                call,
                name=_text(attributes, "tool_name", "function_name"),
                failure=outcome,
            )
        )
    elif name == "api_error":
        failure = _text(attributes, "error", "error.message") or "API error"
        part.observed.add(Signal(ERROR, at, at, failure=outcome_of_error(failure).value))
        part.text("error", -(at or 0), failure)
    else:
        part.observed.add(Signal(OTHER, at, at))
        prompt = _text(attributes, "prompt") if name == "user_prompt" else None
        part.text(
            "prompt", at, prompt[:LONGEST_PROMPT] if prompt and prompt != "<REDACTED>" else None
        )


def _note_point(
    part: TelemetryPart,
    what: str,
    attributes: Values,
    point: OtlpPoint,
    amount: Decimal,
    is_delta: bool,
) -> None:
    """Read a point of Claude Code's counters of tokens and costs."""
    series = canonical_hash(sorted((name, str(one)) for name, one in attributes.items()))[:16]
    since, until = (
        _micros(time) or 0 for time in (point.start_time_unix_nano, point.time_unix_nano)
    )
    part.count(
        (_text(attributes, "model"), what, series, since, until if is_delta else 0), amount, until
    )


def _note_agents_span(
    part: TelemetryPart,
    kind: str,
    span: OtlpSpan,
    attributes: Values,
    at: int | None,
    until: int | None,
) -> None:
    """Read a span of an agent, a model or a tool."""
    parent = span.parent_span_id or ""
    part.name("service", at, _text(attributes, "service.name"))
    failure = _text(attributes, "error.type") or (
        "error" if span.status.code in (2, "STATUS_CODE_ERROR") else None
    )
    name = (
        _text(attributes, "gen_ai.tool.name", "tool.name")
        if kind == TOOL
        else _text(attributes, *_AGENT)
        if kind == AGENT
        else None
    )
    model = _text(attributes, *_MODEL)
    provider = (
        _text(attributes, "gen_ai.provider.name", "gen_ai.system", "llm.provider")
        if kind != TOOL
        else None
    )
    provider = provider and (_PROVIDERS.get(provider, provider_named(provider)) or None)
    if kind == AGENT and failure:
        failure = f"{failure}: {span.status.message}" if span.status.message else failure
        part.text("error", -(until or 0), failure)
    observed = Signal(
        kind,
        at,
        until,
        span.span_id,
        span.trace_id,
        parent,
        name,
        failure=failure and outcome_of_error(failure).value,
    )
    if kind != TOOL:
        ms = (until - at + 500) // 1000 if kind == MODEL and at and until and until >= at else None
        observed = observed._replace(
            model=model, provider=provider, ms=ms, **count_fields(_request_of_span(attributes))
        )
    part.observed.add(observed)
    if kind == AGENT and not parent:
        part.name("agent_version", at, _text(attributes, "gen_ai.agent.version", "service.version"))
        part.name("requested_model", at, _text(attributes, "gen_ai.request.model"))
        part.text("prompt", at, _message_text(attributes, "gen_ai.input.messages", "input.value"))
        part.text(
            "final_text",
            -(at or 0),
            _message_text(attributes, "gen_ai.output.messages", "output.value"),
        )
    own = {
        name.removeprefix(OWN): value for name, value in attributes.items() if name.startswith(OWN)
    }
    try:
        if "tokens_basis" in own:
            part.facts[model] = HandedOnModel.model_validate(own)
        if "run_id" in own:
            part.own = HandedOnRun.model_validate(own)
    except ValidationError as error:
        raise InvalidRecord(
            RejectReason.INVALID_RECORD, f"attributes {OWN}…: {complaints(error)}"
        ) from error


def _event_of(record: OtlpLogRecord, attributes: Values) -> tuple[str, str] | None:
    """Return the agent and the name of an event of a program in `_PROGRAMS`, else None."""
    own_name = attributes.get("event.name")
    for name in (record.event_name, own_name, record.body):
        prefix, dot, event = name.partition(".") if isinstance(name, str) else ("", "", "")
        if dot and prefix in _PROGRAMS:
            return _PROGRAMS[prefix][0], event
    is_claudes = (
        attributes.get("service.name") == CLAUDE_CODE.key or "cache_creation_tokens" in attributes
    )
    return (CLAUDE_CODE.key, own_name) if is_claudes and isinstance(own_name, str) else None
