"""A kept run → rows: the same for every agent whose logs are distilled (`schemas.rows.kept_run`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, ContextOf, Found, Process, Rows, RunFacts, columns_of, patch_rows
from ingest.agents.shared.costs import model_columns, model_row
from ingest.agents.shared.texts import LONGEST_PROMPT, repair
from ingest.agents.shared.tokens import provider_of
from ingest.agents.trial_records import rank_in_trial
from ingest.prices.model_ids import parse_model_id
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.system.secrets import scrubbed_command
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.kept_run import KEPT_START, KeptModel, KeptRun
from schemas.rows.run import TOKEN_CLASSES, ModelUsageRow, Outcome, RecordKind, RunRow, TokensBasis, ToolCallRow
from schemas.text import paired
from schemas.wire.launch import ENDINGS

UNKNOWN = "unknown"
"""The agent of a record that names none."""

_RANK = 10**12
"""One step of `KeptRun.rank` in `runs.record_rank`; below it the lines or the tokens count: a later log of a run has more."""

_ONE_TURN = (RecordKind.RESULT, RecordKind.STREAM)
"""Records of a process that answered one prompt: it worked all of its time."""

_FROM_WORST = (TokensBasis.UNKNOWN, TokensBasis.ESTIMATE, TokensBasis.LOWER_BOUND, TokensBasis.UPPER_BOUND, TokensBasis.EXACT)


class KeptRuns(AgentReader):
    """Reads kept runs again: those of a rebuild, and any that somebody exported."""

    agent: ClassVar[str] = "kept run"
    priority: ClassVar[int] = -2

    @staticmethod
    def recognises(document: Document) -> bool:
        return document.starts_with(KEPT_START)

    def feed(self, document: Document) -> Iterable[Found]:
        try:
            run = KeptRun.model_validate_json(document.content)
        except ValidationError as error:
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
        return (found(document, run, self._context_of),)


def kept(values: Mapping[str, Any]) -> KeptRun:
    """A run of these values, checked. Raises InvalidRecord with every wrong field."""
    try:
        return KeptRun.model_validate(paired(dict(values)))
    except ValidationError as error:
        raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error


def complaints(error: ValidationError) -> str:
    """Every wrong field: `field.path: message (found …)`."""
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'record'}: {item['msg']} (found {_shown(item['input'])})"
        for item in error.errors(include_url=False)
    )


def ended(document: Document, values: Mapping[str, Any], context_of: ContextOf) -> Found | Unreadable:
    """The run of an ended stream, whose last event is `document`; a reject of it where its values are wrong."""
    try:
        return found(document, kept(values), context_of)
    except InvalidRecord as error:
        return document.refused(error.reason, error.detail)


def found(document: Document, run: KeptRun, context_of: ContextOf) -> Found:
    """The run with its rows. `document` is the one that counts as its record."""
    context = context_of(_facts(run), run.duration_ms)
    run = _completed(_named(run, context.model), context.process)
    if run.record_kind is RecordKind.SIDECAR and run.title:  # a command line, from a version that kept passwords in it
        run = run.model_copy(update={"title": scrubbed_command(run.title)})
    usage = tuple(_model_row(run.run_id, model) for model in run.models)
    calls = tuple(ToolCallRow(run_id=run.run_id, tool=tool, calls=count, errors=errors) for tool, count, errors in context.tool_calls)
    by_harness = {
        "agent": context.agent or UNKNOWN if run.agent == UNKNOWN else run.agent,
        "score": context.score if run.score is None else run.score,
    }
    row = RunRow.unchecked(**_run_columns(run, usage) | by_harness, **columns_of(context)).completed({"ordinal": document.ordinal})
    return Found(document, Rows(row, usage, calls, **patch_rows(run.run_id, context)))


def _named(run: KeptRun, started_with: str | None) -> KeptRun:
    """The run with a name for its only model, where the log has none: that of the model which the harness started the agent with.

    It stays in the kept record, since a rebuild has no harness beside it.
    """
    if started_with and len(run.models) == 1 and run.models[0].model_id is None:
        name = {"model_id": started_with, "provider": run.models[0].provider or provider_of(started_with)}
        return run.model_copy(update={"models": (run.models[0].model_copy(update=name),)})
    return run


def _completed(run: KeptRun, process: Process) -> KeptRun:
    """The run with what is known of the agent's process, where the log does not tell it: how long it took, and what ended it.

    As above, it stays in the kept record.
    """
    told: dict[str, Any] = {}
    if run.duration_ms is None and process.duration_ms is not None:
        told["duration_ms"] = process.duration_ms
    if process.ended_by and run.outcome in (Outcome.UNKNOWN, Outcome.INTERRUPTED):
        told |= {"outcome": ENDINGS.get(process.ended_by, Outcome.INTERRUPTED), "ended_as": process.ended_by}
    return run.model_copy(update=told) if told else run


def _facts(run: KeptRun) -> RunFacts:
    has_zone = all(time is None or time.tzinfo for time in (run.started_at, run.ended_at))
    return RunFacts(
        agent_version=run.agent_version,
        requested_model=run.requested_model,
        cwd=run.cwd,
        permission_mode=run.permission_mode,
        started_at=_aware(run.started_at),
        ended_at=_aware(run.ended_at),
        in_stream=run.record_kind is not RecordKind.TRIAL,  # trials in one file are no results of one process
        tool_calls=run.tool_calls,
        time_source="stream" if has_zone else "record",
        repo=run.repo,
        task=run.task,
        branch=run.branch,
        base_commit=run.base_commit,
        prompt=run.prompt[:LONGEST_PROMPT] if run.prompt else None,
        part_ids=run.part_ids,
    )


def _aware(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time


def _run_columns(run: KeptRun, usage: tuple[ModelUsageRow, ...]) -> dict[str, Any]:
    of_models = model_columns(usage)
    result = repair(run.final_text) if run.final_text is not None else None
    return {
        "run_id": run.run_id,
        "ordinal": 0,
        "title": run.title,
        "agent": run.agent,
        "session_id": run.session_id,
        "record_kind": run.record_kind,
        "parent_run_id": run.parent_session_id,
        "terminal_reason": run.ended_as,
        "is_error": run.is_error,
        "outcome": run.outcome,
        "score": run.score,
        "duration_ms": run.duration_ms,
        "active_ms": run.duration_ms if run.active_ms is None and run.record_kind in _ONE_TURN else run.active_ms,
        "duration_api_ms": run.duration_api_ms,
        "duration_api_own_ms": run.duration_api_ms,
        "num_turns": run.num_turns,
        "cost_reported_usd": run.cost_usd,
        "cost_own_usd": run.cost_usd,
        "credits": run.credits,
        "credits_unit": run.credits_unit,
        **of_models,
        "tokens_basis": min((row.tokens_basis for row in usage), key=_FROM_WORST.index, default=TokensBasis.UNKNOWN),
        "chain_id": run.run_id,
        "chain_position": 1,
        "errors": "\n".join(run.errors) or None,
        "result": result,
        "result_repaired": result != run.final_text,
        "record_rank": _record_rank(run, sum(of_models[name] or 0 for name in TOKEN_CLASSES)),
        "raw": run.as_json(),
    }


def _record_rank(run: KeptRun, tokens: int) -> int:
    rank = run.rank * _RANK + min(tokens if run.lines is None else run.lines, _RANK - 1)
    return rank_in_trial(run.record_kind, rank, tells_tokens=tokens > 0) if run.record_kind is RecordKind.TRIAL else rank


def _model_row(run_id: str, model: KeptModel) -> ModelUsageRow:
    parsed = parse_model_id(model.model_id) if model.model_id else None
    others = {
        "model_id": model.model_id,
        "reasoning_tokens": model.reasoning_tokens,
        "cache_write_5m_tokens": model.cache_write_5m_tokens,
        "cache_write_1h_tokens": model.cache_write_1h_tokens,
        "tokens_basis": model.basis,
        "tokens_basis_reason": model.basis_reason,
    }
    return model_row(run_id, parsed, model, others | ({"provider": model.provider} if model.provider else {}))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
