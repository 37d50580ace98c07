"""A run distilled from a log → its rows, the same for every agent (`schemas.rows.distilled`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import (
    RESPONSE_COLUMNS,
    AgentReader,
    Found,
    Rows,
    rows_with,
)
from ingest.agents.shared.costs import model_columns, model_row
from ingest.agents.shared.texts import LONGEST_PROMPT, repair
from ingest.agents.shared.tokens import (
    CACHE_INSIDE,
    CUT_OFF,
    CUT_SHORT,
    includes_cache,
    provider_of,
)
from ingest.facts import Facts
from ingest.prices.model_ids import parse_model_id
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.system.secrets import scrubbed_command
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.distilled import KEPT_START, ModelUse, Run
from schemas.rows.run import (
    TOKEN_CLASSES,
    ModelUsageRow,
    Outcome,
    RecordKind,
    RunRow,
    TokensBasis,
)
from schemas.text import paired
from schemas.wire.launch import ENDINGS, outcome_of_process

UNKNOWN = "unknown"


class DistilledRuns(AgentReader):
    """Reads distilled runs, from a rebuild or an export."""

    agent: ClassVar[str] = "kept run"
    priority: ClassVar[int] = -2

    @staticmethod
    def recognises(document: Document) -> bool:
        return document.starts_with(KEPT_START)

    def feed(self, document: Document) -> Iterable[Found]:
        try:
            run = Run.model_validate_json(document.content)
        except ValidationError as error:
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
        return (found(document, run),)


def distilled(values: Mapping[str, Any]) -> Run:
    """Return a validated run. Raises InvalidRecord with every wrong field."""
    try:
        return Run.model_validate(paired(dict(values)))
    except ValidationError as error:
        raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error


def complaints(error: ValidationError) -> str:
    """Return every wrong field as `field.path: message (found …)`."""
    wrong = []
    for item in error.errors(include_url=False):
        found_value = repr(item["input"])
        found_value = found_value if len(found_value) <= 80 else found_value[:79] + "…"
        wrong.append(
            f"{'.'.join(map(str, item['loc'])) or 'record'}: {item['msg']} (found {found_value})"
        )
    return "; ".join(wrong)


def ended(document: Document, values: Mapping[str, Any]) -> Found | Unreadable:
    """Return the run of a stream that ended with `document`, or a reject for invalid values."""
    try:
        return found(document, distilled(values))
    except InvalidRecord as error:
        return document.refused(error.reason, error.detail)


def found(document: Document, run: Run) -> Found:
    """Return the run with the facts in its log; `document` counts as its record."""
    has_zone = all(time is None or time.tzinfo for time in (run.started_at, run.ended_at))
    facts = Facts(
        agent=None if run.agent == UNKNOWN else run.agent,
        agent_version=run.agent_version,
        requested_model=run.requested_model,
        effort=run.effort,
        host=run.host,
        cwd=run.cwd,
        permission_mode=run.permission_mode,
        started_at=_aware(run.started_at),
        ended_at=_aware(run.ended_at),
        # results of trials, telemetry and rows in one file are no results of one process
        in_stream=run.record_kind not in (RecordKind.TRIAL, RecordKind.TELEMETRY, RecordKind.ROW),
        tool_calls=run.tool_calls,
        time_source="stream" if has_zone else "record",
        repo=run.repo,
        task=run.task,
        branch=run.branch,
        base_commit=run.base_commit,
        prompt=run.prompt[:LONGEST_PROMPT] if run.prompt else None,
        part_ids=run.part_ids,
        score=run.score,
    )
    return Found(document, facts, run.duration_ms, partial(_rows, run, document.ordinal))


def _rows(run: Run, ordinal: int, facts: Facts) -> Rows:
    run = _completed(run, facts)
    usage = tuple(_model_row(run.run_id, model) for model in run.models)
    agent = facts.agent or UNKNOWN if run.agent == UNKNOWN else run.agent
    row = RunRow(**_run_columns(run, usage) | {"agent": agent, "source_id": "", "ordinal": ordinal})
    return rows_with(facts, row, usage)


def _aware(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time


def _completed(run: Run, facts: Facts) -> Run:
    """Return the run with facts from its harness that the log lacks.

    The name of its only model, process time, how it ended.

    Counts that cannot be whole or right become bounds. All of it becomes part of the kept record,
    since a rebuild has no other files.
    """
    more: dict[str, Any] = {}
    model = facts.harness_model
    if model and len(run.models) == 1 and run.models[0].model_id is None:
        name = {"model_id": model, "provider": run.models[0].provider or provider_of(model)}
        more["models"] = (run.models[0].model_copy(update=name),)
    if run.duration_ms is None and facts.process_ms is not None:
        more["duration_ms"] = facts.process_ms
    if facts.ended_by and run.outcome in (Outcome.UNKNOWN, Outcome.INTERRUPTED):
        more |= {
            "outcome": ENDINGS.get(facts.ended_by, Outcome.INTERRUPTED),
            "ended_as": facts.ended_by,
        }
    elif facts.exit_code is not None and run.outcome is Outcome.UNKNOWN:
        outcome = outcome_of_process(run.agent, facts.exit_code)
        more |= {"outcome": outcome, "ended_as": run.ended_as or f"exit code {facts.exit_code}"}
    elif facts.is_verified and run.outcome is Outcome.UNKNOWN:
        more |= {"outcome": Outcome.COMPLETED, "is_error": False}
    if facts.is_cut and "ended_as" not in more:  # what the log says of its end before is none
        ends = "outcome" not in more and run.outcome in (Outcome.UNKNOWN, Outcome.COMPLETED)
        more |= {"ended_as": CUT_SHORT} | (
            {"outcome": Outcome.INTERRUPTED, "is_error": None} if ends else {}
        )
    models = more.get("models", run.models)
    if doubts := {
        number: doubt for number, model in enumerate(models) if (doubt := _doubt(model, facts))
    }:
        more["models"] = tuple(
            model.model_copy(update=doubts.get(number)) for number, model in enumerate(models)
        )
    if (
        run.record_kind is RecordKind.SIDECAR and run.title
    ):  # a command line, from a version that kept passwords in it
        more["title"] = scrubbed_command(run.title)
    return run.model_copy(update=more) if more else run


def _doubt(model: ModelUse, facts: Facts) -> dict[str, Any] | None:
    """Return the basis of exact counts that cannot be whole, or cannot be right, with the reason.

    None for others.
    """
    if model.basis is not TokensBasis.EXACT:
        return None
    if includes_cache(model.input_tokens, model.cache_read_tokens, model.cache_write_tokens):
        return {"basis": TokensBasis.UPPER_BOUND, "basis_reason": CACHE_INSIDE}
    return {"basis": TokensBasis.LOWER_BOUND, "basis_reason": CUT_OFF} if facts.is_cut else None


_FROM_WORST = (
    TokensBasis.UNKNOWN,
    TokensBasis.ESTIMATE,
    TokensBasis.LOWER_BOUND,
    TokensBasis.UPPER_BOUND,
    TokensBasis.EXACT,
)


def _run_columns(run: Run, usage: tuple[ModelUsageRow, ...]) -> dict[str, Any]:
    of_models = model_columns(usage)
    result = repair(run.final_text) if run.final_text is not None else None
    answers_once = run.record_kind in (
        RecordKind.RESULT,
        RecordKind.STREAM,
        RecordKind.ROW,
    )  # a process that answered one prompt worked all of its time
    tokens = sum(of_models[name] or 0 for name in TOKEN_CLASSES)
    # Below one step of `Run.rank` the lines or the tokens count: a later log of a run has more.
    rank = run.rank * _RANK + min(tokens if run.lines is None else run.lines, _RANK - 1)
    if run.record_kind is RecordKind.TRIAL:
        rank = _rank_in_trial(run.record_kind, rank, tells_tokens=tokens > 0)
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
        "active_ms": run.duration_ms if run.active_ms is None and answers_once else run.active_ms,
        "duration_api_ms": run.duration_api_ms,
        "duration_api_own_ms": run.duration_api_ms,
        "num_turns": run.num_turns,
        "is_answered": run.is_answered,
        "cost_reported_usd": run.cost_usd,
        "cost_own_usd": run.cost_usd,
        "credits": run.credits,
        "credits_unit": run.credits_unit,
        **of_models,
        "tokens_basis": min(
            (row.tokens_basis for row in usage), key=_FROM_WORST.index, default=TokensBasis.UNKNOWN
        ),
        "chain_id": run.run_id,
        "chain_position": 1,
        "errors": "\n".join(run.errors) or None,
        "result": result,
        "result_repaired": result != run.final_text,
        "record_rank": rank,
        "raw": run.as_json(),
    }


def _model_row(run_id: str, model: ModelUse) -> ModelUsageRow:
    parsed = parse_model_id(model.model_id) if model.model_id else None
    others = {
        "model_id": model.model_id,
        "reasoning_tokens": model.reasoning_tokens,
        "cache_write_5m_tokens": model.cache_write_5m_tokens,
        "cache_write_1h_tokens": model.cache_write_1h_tokens,
        "tokens_basis": model.basis,
        "tokens_basis_reason": model.basis_reason,
    }
    return model_row(
        run_id, parsed, model, others | ({"provider": model.provider} if model.provider else {})
    )


# Logs of a benchmark harness's trial: the harness's result, trajectories in a common format and the
# agent's own log are one run. The record
# that tells tokens is kept; of several the one nearest to the API: the agent's own log before a
# trajectory, and that before the harness's
# result, which repeats their sums.

_RANK = 10**12
_NEAR = 11 * 10**14
_TELLS_TOKENS = 35 * 10**14
"""Added to `record_rank` for nearness and tokens; ranks are below 11 × 10**14 otherwise and have at
most 53 bits.
"""


def _rank_in_trial(kind: RecordKind, rank: int, *, tells_tokens: bool) -> int:
    """Return the `record_rank` of a record of a trial, from its rank alone.

    Kinds other than the harness's are logs of the agent.
    """
    nearness = {RecordKind.TRIAL: 0, RecordKind.SIDECAR: 0, RecordKind.TRAJECTORY: 1}.get(kind, 2)
    return _TELLS_TOKENS * tells_tokens + _NEAR * nearness + rank


def of_trial(rows: Rows) -> Rows:
    """Return the rows as a record of the trial's run (`runs.trial_id`), or unchanged.

    They are changed only if the log lies in the folder of a trial.

    A sub-agent with its own log stays a separate run.
    """
    run = rows.run
    trial = run.trial_id
    if not isinstance(trial, str):  # a wrong value is refused with its column
        return rows
    if run.parent_run_id not in (None, run.run_id):
        return without_trial(rows)
    tells_tokens = run.input_tokens is not None or run.output_tokens is not None
    rank = _rank_in_trial(RecordKind(run.record_kind), run.record_rank, tells_tokens=tells_tokens)
    its = {"run_id": trial}
    return rows._replace(
        run=run.completed(its | {"chain_id": trial, "record_rank": rank}),
        model_usage=tuple(row.completed(its) for row in rows.model_usage),
        tool_calls=tuple(row.completed(its) for row in rows.tool_calls),
        patch_files=tuple(row.completed(its) for row in rows.patch_files),
        patches=tuple(row.completed(its) for row in rows.patches),
    )


def without_trial(rows: Rows) -> Rows:
    """Return the rows as if the log had no trial."""
    return rows._replace(run=rows.run.completed({"trial_id": None}))


_BASIS = RESPONSE_COLUMNS.index("tokens_basis")


def without_end(rows: Rows) -> Rows:
    """Return the rows of a run whose log is cut off.

    What came behind the last response is not known, so it counts as a lower bound.
    """
    if not rows.response_copies:
        return rows
    *before, last = rows.response_copies
    if last[_BASIS] == TokensBasis.EXACT:
        last = (*last[:_BASIS], TokensBasis.LOWER_BOUND, *last[_BASIS + 1 :])
    return rows._replace(response_copies=(*before, last))
