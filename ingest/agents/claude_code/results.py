"""Claude Code's result records → runs, from `claude -p --output-format json` and event streams.

All versions are read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, NamedTuple, cast
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found, Rows, rows_with
from ingest.agents.claude_code.stream import SESSIONS_KEPT, CutOff, StreamContext
from ingest.agents.distilled import complaints, ended
from ingest.agents.shared.costs import model_columns, model_row
from ingest.agents.shared.runs import canonical_hash, merged, milliseconds_between, whole_ms
from ingest.agents.shared.texts import repair
from ingest.agents.shared.tokens import known_sum
from ingest.facts import NO_FACTS, Facts
from ingest.prices.model_ids import parse_model_id
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.agents import CLAUDE_CODE
from schemas.errors import InvalidRecord, RejectReason
from schemas.marks import FIGURES, is_agents_event, is_claudes_result, is_experiment, is_row
from schemas.rows.run import ModelUsageRow, Outcome, RecordKind, RunRow
from schemas.text import paired
from schemas.unread_logs import unread_result
from schemas.wire.claude_code import EARLIER_COST_NAMES, FOLLOWED_BY, ModelUsage, ResultRecord
from schemas.wire.values import DIGITS_LOST

_IN_EVERY_RESULT = '"duration_api_ms"'

MOST_MODELS = 1000
"""Maximum number of models per record. Real records have a handful; each costs a row, a price and a
line in every report.
"""

_RUN = RunRow()

_IS_FOLLOWED, _TELLS_MODELS, _TELLS_SUMMARY = 4, 2, 1
"""Parts of `record_rank`. A list of runs with ids and totals must not replace full records, and a
lone result must not replace one with the results that follow from it.
"""

# How a run ended. The words changed meaning between versions: `is_error` was false on every error
# before SDK 0.2.89, `terminal_reason`
# exists since 0.2.91 and says more than "completed" since 0.3.204, and an API error comes as
# `subtype: success` with `is_error: true` and
# its text in `result`. So the most specific word wins, and the text decides last.

_OUTCOME_BY_SUBTYPE = {
    "error_max_turns": Outcome.MAX_TURNS,
    "error_max_budget_usd": Outcome.MAX_BUDGET,
    "error_max_structured_output_retries": Outcome.MAX_STRUCTURED_OUTPUT_RETRIES,
}
_OUTCOME_BY_TERMINAL_REASON = {
    "max_turns": Outcome.MAX_TURNS,
    "budget_exhausted": Outcome.MAX_BUDGET,
    "structured_output_retry_exhausted": Outcome.MAX_STRUCTURED_OUTPUT_RETRIES,
    "blocking_limit": Outcome.LIMIT_REACHED,
    "aborted_streaming": Outcome.INTERRUPTED,
    "aborted_tools": Outcome.INTERRUPTED,
    "hook_stopped": Outcome.INTERRUPTED,
    "prompt_too_long": Outcome.API_ERROR,
    "image_error": Outcome.API_ERROR,
    "model_error": Outcome.API_ERROR,
    "rapid_refill_breaker": Outcome.EXECUTION_ERROR,
    "malformed_tool_use_exhausted": Outcome.EXECUTION_ERROR,
    "tool_deferred_unavailable": Outcome.EXECUTION_ERROR,
    "turn_setup_failed": Outcome.EXECUTION_ERROR,
}
_LIMIT_TEXT = re.compile(
    r"(you've|you have) (hit|reached) your .{0,40}limit|usage limit "
    r"reached|(session|weekly|5-hour|opus|sonnet) limit reached"
    r"|\blimit reached\b.{0,40}\bresets\b|out of (extra )?usage|output token maximum",
    re.IGNORECASE | re.DOTALL,
)
_RESET_AT_UNIX_TIME = re.compile(r"limit reached\|(\d{9,11})\b", re.IGNORECASE)
_RESET_AT_TIME_OF_DAY = re.compile(
    r"\bresets?(?: at)? (\d{1,2})(?::(\d{2}))? ?(am|pm)? \(([A-Za-z_+-]+(?:/[A-Za-z_+-]+)*)\)",
    re.IGNORECASE,
)


def outcome(record: ResultRecord) -> Outcome:
    """Return how the run ended."""
    named = _OUTCOME_BY_SUBTYPE.get(record.subtype or "") or _OUTCOME_BY_TERMINAL_REASON.get(
        record.terminal_reason or ""
    )
    if named:
        return named
    if record.stop_reason == "refusal":
        return Outcome.REFUSED
    if record.subtype == "error_during_execution":
        return Outcome.EXECUTION_ERROR if record.is_error else Outcome.INTERRUPTED
    if record.subtype not in ("success", None):
        return Outcome.UNKNOWN
    if record.is_error or record.terminal_reason == "api_error":
        return Outcome.LIMIT_REACHED if is_limit(record.result or "") else Outcome.API_ERROR
    if record.subtype is None and record.result is None:
        return Outcome.UNKNOWN
    return Outcome.COMPLETED


def is_limit(text: str) -> bool:
    """Return whether the text of an API error says that a limit was reached.

    Of the account, or of the length of a response.
    """
    return _LIMIT_TEXT.search(text[:2000]) is not None


def reset_time(text: str, logged_at: datetime | None) -> datetime | None:
    """Return when an account limit resets (UTC), from the message about it.

    None if the message has no time.

    Early versions write a Unix time (`Claude AI usage limit reached|1756400400`), later ones a time
    of day with its zone (`You've hit your limit · resets 3pm (Europe/Berlin)`), which means its
    next occurrence after `told_at`. Without a zone the time is unknown. A date belongs to a weekly
    limit, which has no window of hours.
    """
    if unix := _RESET_AT_UNIX_TIME.search(text, 0, 500):
        return datetime.fromtimestamp(int(unix[1]), UTC)
    found = _RESET_AT_TIME_OF_DAY.search(text, 0, 500)
    if not found or not logged_at:
        return None
    hour, minute, half, zone = found.groups()
    hours = int(hour) % 12 + 12 * (half.lower() == "pm") if half else int(hour)
    try:
        here = logged_at.astimezone(ZoneInfo(zone))
        at = here.replace(hour=hours, minute=int(minute or 0), second=0, microsecond=0)
    except (ValueError, OSError, KeyError):  # no such time, or no such zone
        return None
    return (at if at > here else at + timedelta(days=1)).astimezone(UTC)


# Results that follow from an earlier one: a background task, or the agent itself, woke it after its
# answer, and nobody asked for anything.
# So the run is that of the answer, with the tokens, turns and time that came behind it.

FOLLOWING = frozenset(("task-notification", "auto-continuation", "observer", "observer-activity"))
"""Kinds of `origin` of a turn nobody asked for. The other kinds hand the agent a prompt: human,
channel, peer, coordinator.
"""
_CUMULATIVE = ("total_cost_usd", "modelUsage", "duration_api_ms")
_OF_EACH = ("num_turns", "duration_ms")
_USED = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_TOTAL = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_WRITTEN = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")


def _joined_record(earlier: Document, later: Document) -> Document | None:
    """Return two results of a session as one record, or None.

    None if the later one does not follow from the earlier one.

    The later totals must include the earlier ones; the totals of a new process cover its own turn
    only.
    """
    if not later.contains('"origin"'):  # as nearly all: they need not be parsed
        return None
    first, then = earlier.value, later.value
    origin, used, more = then.get("origin"), first.get("usage"), then.get("usage")
    if not isinstance(origin, dict) or origin.get("kind") not in FOLLOWING:
        return None
    if (then.get("total_cost_usd") or 0) < (first.get("total_cost_usd") or 0):
        return None
    own_turn = {name: more.get(name) or 0 for name in _USED} if isinstance(more, dict) else None
    if any(_model_totals(first).values()) and _model_totals(then) == own_turn:
        return None
    whole = (
        first
        | {name: then[name] for name in _CUMULATIVE if then.get(name) is not None}
        | _sums(first, then, _OF_EACH)
        | {
            FOLLOWED_BY: [*first.get(FOLLOWED_BY, ()), then],
            "uuid": first.get("uuid") or canonical_hash(first),
        }
    )
    if isinstance(used, dict) and isinstance(more, dict):
        whole["usage"] = used | _sums(used, more, _USED)
        written, wrote = used.get("cache_creation"), more.get("cache_creation")
        if isinstance(written, dict) and isinstance(wrote, dict):
            whole["usage"]["cache_creation"] = written | _sums(written, wrote, _WRITTEN)
    return Document(earlier.ordinal, earlier.position, json.dumps(whole), earlier.logged_at)


def _model_totals(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the tokens of all models by class; empty if the record has no models."""
    models = [one for one in (record.get("modelUsage") or {}).values() if isinstance(one, dict)]
    return {
        name: sum(one[total] for one in models if _is_figure(one.get(total)))
        for name, total in zip(_USED, _TOTAL, strict=True)
        if models
    }


def _sums(
    first: Mapping[str, Any], then: Mapping[str, Any], names: tuple[str, ...]
) -> dict[str, Any]:
    """Return the sums of the figures that both records have."""
    return {
        name: first[name] + then[name]
        for name in names
        if _is_figure(first.get(name)) and _is_figure(then.get(name))
    }


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# The reader


class _Pending(NamedTuple):
    """The last result of a session, which may be followed by further results of the same run."""

    document: Document
    found: Found


class ClaudeCode(AgentReader):
    """Result records, alone and in streams.

    A run is a result plus the results that follow from it in its stream (`FOLLOWING`), so each
    result is held until the session's next one. A stream without a result is an interrupted run.
    """

    agent: ClassVar[str] = CLAUDE_CODE.key

    def __init__(self) -> None:
        self._stream = StreamContext()
        self._streaming = False
        self._has_records = False
        self._events = 0
        self._last_event: Document | None = None
        self._pending: dict[str | None, _Pending] = {}
        self._responses = 0

    @staticmethod
    def recognises(document: Document) -> bool:
        """Return whether it is a record or event.

        Version 0.2 wrote `role: system` and no type, and some wrappers drop the type.
        """
        if document.is_result:
            return True
        value = document.value
        if "type" in value:
            return isinstance(value["type"], str)
        return (
            "duration_ms" in value
            and not FIGURES.isdisjoint(value)
            and is_claudes_result(value)
            and not is_experiment(value)
        )

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        """Return the session's previous run, which ends here unless this result follows from it.

        Events are context for the results behind them. Distinguishing results from events needs no
        parsing.
        """
        if not document.is_result and document.value.get("type", "result") != "result":
            self._events += 1
            if is_agents_event(document.value) and not is_row(document.value):
                self._last_event = document
            self._streaming = True
            self._stream.see(document.value, document.logged_at, document)
            return ()
        if _is_foreign(document):
            return ()
        record, raw = _read(document)
        session, logged_at = record.session_id, document.logged_at
        facts = (
            self._stream.at_result(session, logged_at) if self._streaming or logged_at else NO_FACTS
        )
        earlier = self._pending.pop(session, None)
        done: tuple[Found, ...] = (earlier.found,) if earlier else ()
        if earlier and (whole := _joined_record(earlier.document, document)):
            facts = _joined_facts(
                earlier.found.log, facts, record.uuid or canonical_hash(document.value)
            )
            document, done = whole, ()
            record, raw = _read(document)
        self._pending[session] = _Pending(document, self._found(document, record, raw, facts))
        self._has_records = True
        if len(self._pending) > SESSIONS_KEPT:
            done = (self._pending.pop(next(iter(self._pending))).found,)
        return done

    def end(self) -> Iterator[Found | Unreadable]:
        """Yield the runs that are still open or were cut off; a reject if there are only events."""
        yield from (pending.found for pending in self._pending.values())
        self._pending.clear()
        for one in self._stream.end():
            self._has_records = True
            yield self._interrupted(one)
        if not self._has_records and self._last_event:
            events = "an agent's event" if self._events == 1 else f"{self._events:,} events"
            detail = f"{events}, but no result record: the run was killed, or the log is truncated"
            yield self._last_event.refused(RejectReason.NO_RECORD, detail)

    def _found(
        self, document: Document, record: ResultRecord, raw: str | bytes, facts: Facts
    ) -> Found:
        run_id = record.uuid or canonical_hash(document.value)
        usage = tuple(
            _model_row(run_id, logged, one, record) for logged, one in _model_usage(record)
        )
        result = repair(record.result) if record.result is not None else None
        main_loop = record.usage
        run = _RUN.completed(
            {
                "run_id": run_id,
                "ordinal": document.ordinal,
                "agent": CLAUDE_CODE.key,
                "session_id": record.session_id,
                "subtype": record.subtype,
                "is_error": record.is_error,
                "api_error_status": record.api_error_status,
                "stop_reason": record.stop_reason,
                "terminal_reason": record.terminal_reason,
                "outcome": outcome(record),
                "duration_ms": whole_ms(record.duration_ms),
                "active_ms": whole_ms(record.duration_ms),
                "duration_api_ms": whole_ms(record.duration_api_ms),
                "duration_api_own_ms": whole_ms(record.duration_api_ms),
                "ttft_ms": whole_ms(record.ttft_ms),
                "num_turns": record.num_turns,
                "cost_reported_usd": record.total_cost_usd,
                "cost_own_usd": record.total_cost_usd,
                **model_columns(usage),
                "usage_input_tokens": main_loop.input_tokens if main_loop else None,
                "usage_output_tokens": main_loop.output_tokens if main_loop else None,
                "usage_cache_read_tokens": main_loop.cache_read_input_tokens if main_loop else None,
                "usage_cache_write_tokens": main_loop.cache_creation_input_tokens
                if main_loop
                else None,
                "chain_id": run_id,
                "chain_position": 1,
                "permission_denials": None
                if record.permission_denials is None
                else len(record.permission_denials),
                "errors": "\n".join(map(str, record.errors)) if record.errors else None,
                "result": result,
                "result_repaired": result != record.result,
                "record_rank": _IS_FOLLOWED * len(record.followed_by or ())
                + _TELLS_MODELS * bool(record.model_usage)
                + _TELLS_SUMMARY * (record.result is not None),
                "raw": raw,
            }
        )

        def rows(around: Facts) -> Rows:
            return rows_with(around, run, usage)

        return Found(document, facts, whole_ms(record.duration_ms), rows)

    def _interrupted(self, one: CutOff) -> Found | Unreadable:
        """Return the run of a stream that was cut off.

        The store sums its responses, as for a transcript.
        """
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
        )
        if not isinstance(run, Found):
            return run
        segment.responses.earlier = self._responses
        rows = tuple(segment.responses.rows(one.session_id or ids[0], stream_id=ids[0]))
        self._responses += len(rows)
        return run._replace(responses=lambda _: rows)


def _joined_facts(first: Facts, then: Facts, record_id: str) -> Facts:
    """Merge the facts of a result with those of the result `record_id` that follows from it."""
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


def _is_foreign(document: Document) -> bool:
    """Return whether an object is the row of another program that has a type of that name."""
    try:
        return not document.contains(_IN_EVERY_RESULT) and not is_claudes_result(document.value)
    except (ValueError, RecursionError):  # `_read` says what is wrong
        return False


def _read(document: Document) -> tuple[ResultRecord, str | bytes]:
    """Return the validated record and its raw JSON.

    Raises InvalidRecord, also for the record of another agent.
    """
    raw = document.content
    try:
        try:
            record = ResultRecord.model_validate_json(raw)
        except ValidationError as error:
            kinds = {
                detail["type"] for detail in error.errors(include_url=False, include_context=False)
            }
            if kinds.isdisjoint(("json_invalid", DIGITS_LOST)):
                raise
            raw = document.text if "json_invalid" in kinds else raw
            record = ResultRecord.model_validate(paired(document.written))
        if record.total_cost_usd is None and any(
            document.value.get(name) is not None for name in EARLIER_COST_NAMES
        ):
            # null under one name, given under another
            known = {name: value for name, value in document.written.items() if value is not None}
            record = ResultRecord.model_validate(paired(known))
    except ValidationError as error:
        raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
    except (ValueError, RecursionError) as error:  # the line only looked whole
        raise InvalidRecord(RejectReason.NOT_JSON, f"invalid JSON: {error}") from error
    if (
        record.total_cost_usd is None
        and not record.model_usage
        and (log := unread_result(document.value))
    ):
        raise InvalidRecord(RejectReason.LOOK_ALIKE, str(log))
    if record.model_fields_set.isdisjoint(("total_cost_usd", "num_turns", "model_usage", "usage")):
        raise InvalidRecord(
            RejectReason.LOOK_ALIKE,
            "a result record without cost, turns or tokens: of an unknown agent, or cut down",
        )
    return record, raw


def _model_usage(record: ResultRecord) -> list[tuple[str | None, ModelUsage]]:
    """Return (model id, usage) per model; None for an empty id.

    An old record without `modelUsage` has one nameless model: `usage`.
    """
    if record.model_usage is not None:
        if len(record.model_usage) > MOST_MODELS:
            detail = (
                f"modelUsage: {len(record.model_usage):,} models; the maximum is {MOST_MODELS:,}"
            )
            raise InvalidRecord(RejectReason.TOO_MUCH, detail)
        return [(logged or None, usage) for logged, usage in record.model_usage.items()]
    if record.usage is None:
        return []
    usage = ModelUsage(
        inputTokens=record.usage.input_tokens,
        outputTokens=record.usage.output_tokens,
        cacheReadInputTokens=record.usage.cache_read_input_tokens,
        cacheCreationInputTokens=record.usage.cache_creation_input_tokens,
    )
    return [(None, usage)]


def _model_row(
    run_id: str, logged: str | None, usage: ModelUsage, record: ResultRecord
) -> ModelUsageRow:
    """Return the row of a model.

    Newer records split cache writes into 5 minutes and 1 hour per model. Older ones do so in
    `usage.cache_creation`, for the main loop of the last turn group: it is used only if it adds up
    to all that the model wrote.
    """
    parsed = parse_model_id(logged, usage.provider, usage.canonical_model) if logged else None
    short, long = usage.cache_write_5m_tokens, usage.cache_write_1h_tokens
    creation = record.usage.cache_creation if record.usage else None
    if short is None and long is None and usage.cache_write_tokens == 0:
        short = long = 0
    elif short is None and long is None and creation is not None:
        main_short, main_long = (
            creation.ephemeral_5m_input_tokens or 0,
            creation.ephemeral_1h_input_tokens or 0,
        )
        if main_short + main_long == usage.cache_write_tokens:
            short, long = main_short, main_long
    others = {
        "model_id": logged,
        "reasoning_tokens": usage.thinking_tokens,
        "cache_write_5m_tokens": short,
        "cache_write_1h_tokens": long,
        "web_search_requests": usage.web_search_requests,
        "cost_basis": usage.cost_basis,
        "context_window": usage.context_window,
    }
    return model_row(run_id, parsed, usage, others)


# Records without what was said in them, for --no-text

LIMIT_WORDS = ("output token maximum", "usage limit reached")
"""Texts kept for an error about a limit, since the outcome and its reason depend on them: the first
that the error has, else the last.
"""

_WORDS = frozenset(
    (
        "type",
        "role",
        "subtype",
        "stop_reason",
        "terminal_reason",
        "session_id",
        "uuid",
        "user_message_uuid",
        "kind",
        "service_tier",
        "speed",
        "inference_geo",
        "model",
        "costBasis",
        "canonicalModel",
        "provider",
        "status",
        "tool_name",
        "tool_use_id",
        "fast_mode_state",
        "fast_mode_disabled_reason",
    )
)
"""Fields with a fixed word, an id or a name: their texts are kept."""
_PARTS = frozenset(
    (
        "usage",
        "modelUsage",
        "cache_creation",
        "server_tool_use",
        "output_tokens_details",
        "iterations",
        "permission_denials",
        "fallback_credit",
        "origin",
    )
)
"""Objects that are kept without their texts."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def result_without_text(record: Mapping[str, Any], run_id: str) -> tuple[str, str | None]:
    """Return the record as JSON without free text, and its summary: None, "" or one of LIMIT_WORDS.

    All tables except those of texts can be rebuilt from it. It gets the id of its run, which may
    have been a hash of the whole record.
    """
    summary = record.get("result")
    has_limit = record.get("is_error") and is_limit(str(summary))
    result = (
        None
        if summary is None
        else next((words for words in LIMIT_WORDS if words in str(summary)), LIMIT_WORDS[-1])
        if has_limit
        else ""
    )
    kept = (
        _without_text(record)
        | ({} if summary is None else {"result": result})
        | ({} if record.get("uuid") else {"uuid": run_id})
    )
    return json.dumps(kept, separators=(",", ":")), result


def _without_text(value: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, one in value.items():
        if isinstance(one, str):
            if name in _WORDS or _NUMBER.fullmatch(one):
                kept[name] = one
        elif not isinstance(one, dict | list):
            kept[name] = one
        elif name not in _PARTS:
            continue
        elif isinstance(one, list):
            kept[name] = [_without_text(item) for item in one if isinstance(item, dict)]
        elif name == "modelUsage":  # by ids of models
            kept[name] = {
                model: _without_text(used) for model, used in one.items() if isinstance(used, dict)
            }
        else:
            kept[name] = _without_text(one)
    return kept
