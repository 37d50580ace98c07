"""Claude Code's result record → rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, cast

from pydantic import ValidationError

from ingest.agents.base import NO_FACTS, AgentReader, Context, ContextOf, Found, Rows, RunFacts, columns_of, patch_rows
from ingest.agents.claude_code.following import FOLLOWED_BY, following
from ingest.agents.claude_code.outcome import outcome
from ingest.agents.claude_code.stream import SESSIONS_KEPT, CutOff, StreamContext
from ingest.agents.kept_run import complaints, ended
from ingest.agents.shared.runs import canonical_hash, merged, milliseconds_between
from ingest.agents.shared.texts import repair
from ingest.agents.shared.tokens import in_range, known_sum
from ingest.prices.model_ids import ModelId, parse_model_id
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.agents import CLAUDE_CODE
from schemas.errors import InvalidRecord, RejectReason
from schemas.marks import EVENT_TYPES, FIGURES, is_agents_event
from schemas.rows.row import LARGEST_INT, LARGEST_USD
from schemas.rows.run import TOKEN_CLASSES, ModelUsageRow, Outcome, RecordKind, RunRow, ToolCallRow
from schemas.text import paired
from schemas.unread_logs import unread_result
from schemas.wire.claude_code import EARLIER_COST_NAMES, ModelUsage, ResultRecord, Usage
from schemas.wire.values import DIGITS_LOST

_FIGURE_FIELDS = ("total_cost_usd", "num_turns", "model_usage", "usage")

MOST_MODELS = 1000
"""Models of one record. Real ones name a handful; each is a row, a price and a line of every report."""

_tokens_of = attrgetter(*TOKEN_CLASSES)

_RUN = RunRow.unchecked()
_MODEL_ROW = ModelUsageRow.unchecked()
"""Rows with defaults only, completed for each record."""

_IS_FOLLOWED, _TELLS_MODELS, _TELLS_SUMMARY = 4, 2, 1
"""The parts of `record_rank`. A list of runs with ids and totals must not replace the full records, nor a result that with what follows."""

CacheWriteSplit = tuple[int | None, int | None]


class _Pending(NamedTuple):
    """The last result of a session, to which results of the same run may follow."""

    document: Document
    facts: RunFacts
    found: Found


class ClaudeCode(AgentReader):
    """Result records of `claude -p --output-format json`, and of its event streams, every version.

    A run is a result with those that follow from it in its stream (`FOLLOWING`), so each waits for the next one of its session. A stream
    without a result is a run that was interrupted.
    """

    agent: ClassVar[str] = CLAUDE_CODE.key
    event_types: ClassVar[frozenset[str]] = EVENT_TYPES | {"result"}

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._stream = StreamContext()
        self._streaming = False
        self._has_records = False
        self._events = 0
        self._last_event: Document | None = None
        self._pending: dict[str | None, _Pending] = {}
        self._responses = 0

    @staticmethod
    def recognises(document: Document) -> bool:
        if document.is_result:
            return True
        value = document.value
        return isinstance(value.get("type"), str) or _is_untyped_record(value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        """An event is context of the results behind it, a result is a run. Results need not be parsed to be told from events."""
        if not document.is_result and document.value.get("type", "result") != "result":
            self._note(document)
            return ()
        return self._result(document)

    def end(self) -> Iterator[Found | Unreadable]:
        """The runs that are still open, and those that were cut off. Events of neither make a reject."""
        yield from (pending.found for pending in self._pending.values())
        self._pending.clear()
        for one in self._stream.cut_off(at_end=True):
            self._has_records = True
            yield self._interrupted(one)
        if not self._has_records and self._last_event:
            yield self._last_event.refused(RejectReason.NO_RECORD, _no_record_detail(self._events))

    def _note(self, event: Document) -> None:
        self._events += 1
        if is_agents_event(event.value):
            self._last_event = event
        self._streaming = True
        self._stream.see(event.value, event.logged_at, event)

    def _result(self, document: Document) -> Iterable[Found]:
        """The run before of the same session, which ends with this result, unless that follows from it."""
        record, raw = _read(document)
        facts = self._facts(record, document.logged_at)
        session = record.session_id
        earlier = self._pending.pop(session, None)
        done: tuple[Found, ...] = (earlier.found,) if earlier else ()
        if earlier and (whole := following(earlier.document, document)):
            facts = _joined(earlier.facts, facts, record.uuid or canonical_hash(document.value))
            document, done = whole, ()
            record, raw = _read(document)
        self._pending[session] = _Pending(document, facts, self._found(document, record, raw, facts))
        self._has_records = True
        if len(self._pending) > SESSIONS_KEPT:
            done = (self._pending.pop(next(iter(self._pending))).found,)
        return done

    def _found(self, document: Document, record: ResultRecord, raw: str | bytes, facts: RunFacts) -> Found:
        context = self._context_of(facts, _whole(record.duration_ms))
        run_id = record.uuid or canonical_hash(document.value)
        usage = tuple(_model_row(run_id, logged, one, _cache_write_split(one, record)) for logged, one in _model_usage(record))
        calls = tuple(ToolCallRow(run_id=run_id, tool=tool, calls=count, errors=errors) for tool, count, errors in context.tool_calls)
        run = _run(record, run_id, context, usage, ordinal=document.ordinal, raw=raw)
        return Found(document, Rows(run, usage, calls, **patch_rows(run_id, context)))

    def _facts(self, record: ResultRecord, logged_at: datetime | None) -> RunFacts:
        if not self._streaming and not logged_at:
            return NO_FACTS
        return self._stream.at_result(record.session_id, logged_at)

    def _interrupted(self, one: CutOff) -> Found | Unreadable:
        """The run of a stream that was cut off. What its responses come to is summed in the store, as it is for a transcript."""
        segment = one.segment
        ids = segment.ids(one.session_id)
        run = ended(
            cast("Document", segment.last),
            {
                "run_id": ids[0],
                "agent": CLAUDE_CODE.key,
                "record_kind": RecordKind.STREAM,
                "lines": segment.events,
                "part_ids": ids,
                "agent_version": one.init.agent_version,
                "session_id": one.session_id,
                "requested_model": one.init.requested_model,
                "started_at": segment.first,
                "ended_at": segment.latest,
                "duration_ms": milliseconds_between(segment.first, segment.latest) or None,
                "outcome": Outcome.INTERRUPTED,
                "cwd": one.init.cwd,
                "permission_mode": one.init.permission_mode,
                "prompt": segment.prompt,
                "final_text": segment.text,
                "tool_calls": merged(segment.tools),
            },
            self._context_of,
        )
        if not isinstance(run, Found):
            return run
        segment.responses.earlier = self._responses
        rows = tuple(segment.responses.rows(one.session_id or ids[0], stream_id=ids[0]))
        self._responses += len(rows)
        return run._replace(rows=run.rows._replace(response_copies=rows))


def _joined(first: RunFacts, then: RunFacts, record_id: str) -> RunFacts:
    """The facts about a result and one with that id which follows from it."""
    calls, errors = Counter[str](), Counter[str]()
    for tool, count, failed in (*first.tool_calls, *then.tool_calls):
        calls[tool] += count
        errors[tool] += failed or 0
    return replace(
        first,
        ended_at=then.ended_at or first.ended_at,
        tool_calls=tuple((tool, count, errors[tool]) for tool, count in sorted(calls.items())),
        part_ids=(*first.part_ids, *then.part_ids, record_id),
        streamed_tokens=known_sum((first.streamed_tokens, then.streamed_tokens)),
    )


def _no_record_detail(count: int) -> str:
    events = "an agent's event" if count == 1 else f"{count:,} events"
    return f"{events}, but no result record: the run was killed, or the log is truncated"


def _is_untyped_record(value: dict[str, Any]) -> bool:
    """Version 0.2 wrote `role: system` and no type; some wrappers drop the type."""
    return "type" not in value and "duration_ms" in value and any(key in value for key in FIGURES)


def _read(document: Document) -> tuple[ResultRecord, str | bytes]:
    """The validated record and its raw JSON. Raises InvalidRecord, also for the record of another agent."""
    record, raw = _validated(document)
    if record.total_cost_usd is None and not record.model_usage and (log := unread_result(document.value)):
        raise InvalidRecord(RejectReason.LOOK_ALIKE, str(log))
    if record.model_fields_set.isdisjoint(_FIGURE_FIELDS):
        raise InvalidRecord(RejectReason.LOOK_ALIKE, "a result record without cost, turns or tokens: of an unknown agent, or cut down")
    return record, raw


def _validated(document: Document) -> tuple[ResultRecord, str | bytes]:
    try:
        record, raw = _strict_or_mended(document)
        return _with_cost(record, document), raw
    except ValidationError as error:
        raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
    except (ValueError, RecursionError) as error:  # the line only looked whole
        raise InvalidRecord(RejectReason.NOT_JSON, f"invalid JSON: {error}") from error


def _strict_or_mended(document: Document) -> tuple[ResultRecord, str | bytes]:
    try:
        return ResultRecord.model_validate_json(document.content), document.content
    except ValidationError as error:
        kinds = {detail["type"] for detail in error.errors(include_url=False, include_context=False)}
        if "json_invalid" in kinds:
            return ResultRecord.model_validate(paired(document.written)), document.text
        if DIGITS_LOST in kinds:
            return ResultRecord.model_validate(paired(document.written)), document.content
        raise


def _with_cost(record: ResultRecord, document: Document) -> ResultRecord:
    """The record; validated again where its cost is null under one name and given under another."""
    if record.total_cost_usd is not None or all((record.model_extra or {}).get(name) is None for name in EARLIER_COST_NAMES):
        return record
    known = {name: value for name, value in document.written.items() if value is not None}
    return ResultRecord.model_validate(paired(known))


def _model_usage(record: ResultRecord) -> list[tuple[str | None, ModelUsage]]:
    """(model id, usage) of each model; None for an empty id. An old record without `modelUsage` has one model without id: its `usage`."""
    if record.model_usage is not None and len(record.model_usage) > MOST_MODELS:
        detail = f"modelUsage: {len(record.model_usage):,} models; the maximum is {MOST_MODELS:,}"
        raise InvalidRecord(RejectReason.TOO_MUCH, detail)
    if record.model_usage is not None:
        return [(logged or None, usage) for logged, usage in record.model_usage.items()]
    return [(None, _as_model_usage(record.usage))] if record.usage else []


def _as_model_usage(usage: Usage) -> ModelUsage:
    return ModelUsage(
        inputTokens=usage.input_tokens,
        outputTokens=usage.output_tokens,
        cacheReadInputTokens=usage.cache_read_input_tokens,
        cacheCreationInputTokens=usage.cache_creation_input_tokens,
    )


def _model_id(logged: str | None, usage: ModelUsage) -> ModelId | None:
    return parse_model_id(logged, usage.provider, usage.canonical_model) if logged else None


def _model_row(run_id: str, logged: str | None, usage: ModelUsage, split: CacheWriteSplit) -> ModelUsageRow:
    parsed = _model_id(logged, usage)
    return _MODEL_ROW.completed(
        {
            "run_id": run_id,
            "model_id": logged,
            "model": parsed.model if parsed else None,
            "provider": parsed.provider if parsed else None,
            "region": parsed.region if parsed else None,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "reasoning_tokens": usage.thinking_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "cache_write_5m_tokens": split[0],
            "cache_write_1h_tokens": split[1],
            "web_search_requests": usage.web_search_requests,
            "cost_reported_usd": usage.cost_usd,
            "cost_own_usd": usage.cost_usd,
            "own_input_tokens": usage.input_tokens,
            "own_output_tokens": usage.output_tokens,
            "own_cache_read_tokens": usage.cache_read_tokens,
            "own_cache_write_tokens": usage.cache_write_tokens,
            "cost_basis": usage.cost_basis,
            "context_window": usage.context_window,
        }
    )


def _cache_write_split(usage: ModelUsage, record: ResultRecord) -> CacheWriteSplit:
    """Cache writes for 5 minutes and for 1 hour; None where the record does not separate them.

    Newer records have them per model. Older ones have them in `usage.cache_creation`, for the main loop of the last turn group: that is
    the model's split only if it adds up to all the model wrote.
    """
    if usage.cache_write_5m_tokens is not None or usage.cache_write_1h_tokens is not None:
        return usage.cache_write_5m_tokens, usage.cache_write_1h_tokens
    if usage.cache_write_tokens == 0:
        return 0, 0
    creation = record.usage.cache_creation if record.usage else None
    if creation is None:
        return None, None
    short, long = creation.ephemeral_5m_input_tokens or 0, creation.ephemeral_1h_input_tokens or 0
    return (short, long) if short + long == usage.cache_write_tokens else (None, None)


def _run(
    record: ResultRecord, run_id: str, context: Context, usage: tuple[ModelUsageRow, ...], *, ordinal: int, raw: str | bytes
) -> RunRow:
    main = _main_model(usage)
    result = repair(record.result) if record.result is not None else None
    return _RUN.completed(
        {
            "run_id": run_id,
            "ordinal": ordinal,
            "agent": CLAUDE_CODE.key,
            "session_id": record.session_id,
            "subtype": record.subtype,
            "is_error": record.is_error,
            "api_error_status": record.api_error_status,
            "stop_reason": record.stop_reason,
            "terminal_reason": record.terminal_reason,
            "outcome": outcome(record),
            "duration_ms": _whole(record.duration_ms),
            "active_ms": _whole(record.duration_ms),
            "duration_api_ms": _whole(record.duration_api_ms),
            "duration_api_own_ms": _whole(record.duration_api_ms),
            "ttft_ms": _whole(record.ttft_ms),
            "num_turns": record.num_turns,
            "cost_reported_usd": record.total_cost_usd,
            "cost_own_usd": record.total_cost_usd,
            "model": main.model if main else None,
            "provider": main.provider if main else None,
            "region": main.region if main else None,
            **_costs_by_model(usage),
            **_totals(usage),
            **_usage_columns(record.usage),
            "chain_id": run_id,
            "chain_position": 1,
            "permission_denials": None if record.permission_denials is None else len(record.permission_denials),
            "errors": _error_text(record),
            "result": result,
            "result_repaired": result != record.result,
            "record_rank": _IS_FOLLOWED * len((record.model_extra or {}).get(FOLLOWED_BY) or ())
            + _TELLS_MODELS * bool(record.model_usage)
            + _TELLS_SUMMARY * (record.result is not None),
            "raw": raw,
            "score": context.score,
            **columns_of(context),
        }
    )


def _usage_columns(usage: Usage | None) -> dict[str, Any]:
    if usage is None:
        return {}
    return {
        "usage_input_tokens": usage.input_tokens,
        "usage_output_tokens": usage.output_tokens,
        "usage_cache_read_tokens": usage.cache_read_input_tokens,
        "usage_cache_write_tokens": usage.cache_creation_input_tokens,
    }


def _main_model(usage: tuple[ModelUsageRow, ...]) -> ModelUsageRow | None:
    """The model that cost the most; ties go to more output, then to the first by name."""
    if len(usage) == 1:
        return usage[0]
    ranked = sorted(usage, key=lambda row: row.model_id or "")
    return max(ranked, key=lambda row: (row.cost_reported_usd or 0, row.output_tokens or 0), default=None)


def _costs_by_model(usage: tuple[ModelUsageRow, ...]) -> dict[str, Any]:
    """The names of the models, and the cost of each; one model may be logged under several ids."""
    if len(usage) == 1 and usage[0].model:
        return {"models": (usage[0].model,), "model_costs_usd": (usage[0].cost_own_usd,)}
    costs: dict[str, Decimal | None] = {}
    for row in usage:
        if row.model:
            earlier = costs.get(row.model)
            costs[row.model] = earlier if row.cost_own_usd is None else in_range(row.cost_own_usd + (earlier or 0), LARGEST_USD, "USD")
    names = sorted(costs)
    return {"models": tuple(names), "model_costs_usd": tuple(costs[name] for name in names)}


def _totals(usage: tuple[ModelUsageRow, ...]) -> dict[str, Any]:
    """Tokens by class over all models: the sum of the known counts, None where none is known."""
    if len(usage) == 1:
        return dict(zip(TOKEN_CLASSES, _tokens_of(usage[0]), strict=True))
    return {name: _sum_of_models(counts) for name, *counts in zip(TOKEN_CLASSES, *map(_tokens_of, usage), strict=True)}


def _sum_of_models(counts: list[int | None]) -> int | None:
    total = known_sum(counts)
    return total if total is None else in_range(total, LARGEST_INT, "tokens")


def _whole(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds)


def _error_text(record: ResultRecord) -> str | None:
    return "\n".join(map(str, record.errors)) if record.errors else None
