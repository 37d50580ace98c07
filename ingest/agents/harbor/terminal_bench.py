"""terminal-bench's results → a run for each trial.

The results of a run repeat those of its trials, with the same ids. They tell neither agent nor model. No tokens means that they were not
recorded: installed agents and trials that ran out of time never have any. A trial may be solved although its time ran out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.harbor.inclusive_tokens import disjoint
from ingest.agents.kept_run import UNKNOWN, complaints, ended
from ingest.agents.shared.runs import canonical_hash, is_uuid, milliseconds_between
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import TERMINAL_BENCH
from schemas.errors import RejectReason
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.terminal_bench import TerminalTrial

_TRIAL = ("trial_name", "failure_mode")

_OUTCOMES = {
    None: Outcome.UNKNOWN,
    "unknown": Outcome.UNKNOWN,
    "parse_error": Outcome.UNKNOWN,
    "agent_installation_failed": Outcome.UNKNOWN,
    "unset": Outcome.COMPLETED,
    "none": Outcome.COMPLETED,
    "test_timeout": Outcome.COMPLETED,
    "agent_timeout": Outcome.LIMIT_REACHED,
    "context_length_exceeded": Outcome.LIMIT_REACHED,
    "output_length_exceeded": Outcome.LIMIT_REACHED,
}
"""`failure_mode` → outcome; any other is an error. Where the harness failed to install the agent or to read what the tests printed, the end
of the agent is unknown. Tests that ran out of time ran after the agent had ended."""


class TerminalBench(AgentReader):
    """Results of terminal-bench, `results.json`."""

    agent: ClassVar[str] = TERMINAL_BENCH.key

    @staticmethod
    def recognises(document: Document) -> bool:
        results = document.value.get("results")
        return _is_trial(document.value) or (isinstance(results, list) and bool(results) and _is_trial(results[0]))

    def feed(self, document: Document) -> Iterator[Found | Unreadable]:
        """A trial that cannot be read is a reject of its own."""
        value = document.value
        for number, trial in enumerate((value,) if _is_trial(value) else value["results"]):
            try:
                yield ended(document, _kept(TerminalTrial.model_validate(trial)), self._context_of)
            except ValidationError as error:
                place = "" if trial is value else f"results.{number}: "
                yield document.moved(number).refused(RejectReason.INVALID_RECORD, place + complaints(error))

    def end(self) -> Iterator[Found]:
        yield from ()


def run_of_logs(result: dict[str, Any]) -> str | None:
    """The id of the run that the agent's logs beside this result belong to; None where it is not that of one trial."""
    if not _is_trial(result):
        return None
    with suppress(ValidationError):
        return _run_id(TerminalTrial.model_validate(result))
    return None


def _is_trial(value: object) -> bool:
    return isinstance(value, dict) and all(name in value for name in _TRIAL)


def _kept(trial: TerminalTrial) -> dict[str, Any]:
    tokens = disjoint(trial.total_input_tokens or None, None, None, trial.total_output_tokens)
    outcome = _OUTCOMES.get(trial.failure_mode, Outcome.EXECUTION_ERROR)
    return {
        "run_id": _run_id(trial),
        "agent": UNKNOWN,
        "record_kind": RecordKind.TRIAL,
        "models": [tokens] if tokens else [],
        "started_at": event_time(trial.trial_started_at),
        "ended_at": event_time(trial.trial_ended_at),
        "duration_ms": milliseconds_between(event_time(trial.agent_started_at), event_time(trial.agent_ended_at)),
        "outcome": outcome,
        "is_error": None if outcome is Outcome.UNKNOWN else outcome is not Outcome.COMPLETED,
        "ended_as": trial.failure_mode,
        "score": None if trial.is_resolved is None else float(trial.is_resolved),
        "task": trial.task_id,
        "prompt": trial.instruction,
    }


def _run_id(trial: TerminalTrial) -> str:
    """The id; of older trials the name, which ends with the time of the run."""
    if trial.id and is_uuid(trial.id):
        return trial.id
    return canonical_hash({"trial": trial.trial_name, "start": trial.trial_started_at})
