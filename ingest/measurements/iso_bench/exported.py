"""`hf_export/*.csv`: one row per commit and agent, with columns `{baseline,human,agent}_{metric}` and the three logs.

Most rows were merged from several experiments, such as those of `codex_modal`, which repeat the baseline of another agent's row: only where
`data_source` names one experiment is a row a batch. The table names no units: times are ms; `throughput` is
the rate of output tokens in serving benchmarks, that of the engine's log in latency benchmarks, and in throughput benchmarks now requests,
now tokens per second, so that its unit stays unknown there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.comma_separated import columns, lines
from ingest.measurements.iso_bench import place
from ingest.measurements.iso_bench.outcome import Outcome, Together
from ingest.measurements.iso_bench.workload import kind_of, measured_at, substituted
from ingest.measurements.measured import Measured, Origin
from schemas.rows.claim import Scope
from schemas.rows.measurement import Variant
from schemas.units import Flagged
from schemas.wire.iso_bench import agent_named, model_named, run_folder

_WORDS = ("baseline", "human", "agent")
_COLUMNS = frozenset(("commit_hash", "agent_name", *(f"{word}_throughput" for word in _WORDS)))
_NO_VALUES = frozenset(("agent_name", "agent_model", "baseline_raw", "human_raw", "agent_raw"))
_DERIVED = ("human_improvement_", "agent_improvement_", "agent_vs_human_")
_FAILED = "FAILED:"
_ONE_EXPERIMENT = ("modal", "docker", "separate", "claude_code_rerun_fixable")


def _recognises(file: MeasuredFile) -> bool:
    return frozenset(columns(file.text)) >= _COLUMNS


def _read(file: MeasuredFile) -> Iterator[Measured]:
    """Rows without any value say nothing, unless the log or the source tells of a failure."""
    for number, (_, told) in enumerate(lines(file.text), 1):
        origin = _origin(file, told, number)
        outcomes = [_outcome(word, told, origin) for word in _WORDS]
        known = [one for one in outcomes if one.metrics or one.log or one.error]
        yield from _in_known_units(Together(tuple(known)).rows())


def _origin(file: MeasuredFile, told: Mapping[str, str], number: int) -> Origin:
    run = run_folder(told.get("patch_path"))
    is_one = told.get("data_source") in _ONE_EXPERIMENT
    return Origin(
        repo=place.repo_of(file, told.get("repo")),
        task=run.item if run else None,
        commit=told.get("commit_hash"),
        commit_names_task=True,
        parent=told.get("parent_commit"),
        benchmark=_kind(told),
        command=told.get("perf_command"),
        bench_model=told.get("model"),
        machine=told.get("gpu_config"),
        batch=f"{file.name}: row {number}" if is_one else None,
        scope=Scope.END_TO_END,
        measured_at=measured_at(told),
        flags=(*substituted(told), *(() if is_one else (Flagged.MERGED,))),
    )


def _kind(told: Mapping[str, str]) -> str | None:
    """A `standalone` benchmark is one of latency or of throughput: what was measured says which, since some commands are of another run."""
    if told.get("benchmark_mode") == "standalone":
        return "latency" if any(f"{word}_latency_avg" in told for word in _WORDS) else "throughput"
    return kind_of(told)


def _outcome(word: str, told: Mapping[str, str], origin: Origin) -> Outcome:
    columns = (key for key in told if key.startswith(f"{word}_") and key not in _NO_VALUES and not key.startswith(_DERIVED))
    metrics = {key.removeprefix(f"{word}_"): number for key in columns if (number := _number(told[key])) is not None}
    own, error = replace(origin, variant=place.VARIANTS[word]), None
    if own.variant is Variant.CANDIDATE:
        own, error = _of_agent(own, told), told.get("data_source", "").partition(_FAILED)[2] or None
    log = told.get(f"{word}_raw", "")
    return Outcome(origin=own, metrics=metrics, status="success" if metrics else "error", error=error, log=log)


def _of_agent(origin: Origin, told: Mapping[str, str]) -> Origin:
    run, model = run_folder(told.get("patch_path")), told.get("agent_model")
    agent = agent_named(told["agent_name"]) or told["agent_name"] if "agent_name" in told else None
    named = (model_named(model) or model) if model else None
    return replace(origin, agent=agent, model=named, run_path=run.path if run else None)


def _number(written: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return None


def _in_known_units(rows: Iterator[Measured]) -> Iterator[Measured]:
    for row in rows:
        is_unclear = row.metric == "throughput" and row.origin.benchmark == "throughput"
        yield replace(row, unit=None) if is_unclear else row


TOOL = Tool(
    "iso_bench_table", ("commit_hash", "agent_name", "baseline_throughput", "human_throughput"), _recognises, _read, marks_suffice=False
)
