"""The preview of a map: runs, values and judgements of its files, missing fields, rejects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.text.formatting import agent_name, model_name, short, usd
from app.text.table import Col, TextTable
from ingest.mapped.found import KnownMap
from ingest.mapped.reading import MappedReading, read_by_maps
from ingest.measurements.measured import Judgement, Measured
from ingest.sources.files import Source, Unreadable
from schemas.rows.distilled import Run
from schemas.rows.run import Outcome
from schemas.text import one_line, plural
from schemas.units import Unit

FIRST_ROWS = 5


def _figure(label: str, of: Callable[[Any], float | None], unit: Unit) -> Col:
    return Col(label, lambda row: short(of(row), unit, lacks=""), "r")


_KEPT = ("Agent", "Model", "Task", "Cost", "Score")
_RUNS = (
    Col("Agent", lambda run: agent_name(run.agent)),
    Col("Model", lambda run: model_name(run.requested_model, lacks="")),
    Col("Effort", lambda run: one_line(run.effort or "")),
    Col("Task", lambda run: one_line(run.task or "")),
    Col("Ended", lambda run: run.outcome),
    _figure("Score", lambda run: run.score, Unit.QUANTITY),
    Col("Cost", lambda run: usd(run.cost_usd, lacks=""), "r"),
    _figure("Credits", lambda run: run.credits, Unit.QUANTITY),
    _figure("Wall time", lambda run: run.duration_ms, Unit.MILLISECONDS),
    _figure("Turns", lambda run: run.num_turns, Unit.COUNT),
    _figure("Input", lambda run: run.models[0].input_tokens, Unit.TOKENS),
    _figure("Cache reads", lambda run: run.models[0].cache_read_tokens, Unit.TOKENS),
    _figure("Output", lambda run: run.models[0].output_tokens, Unit.TOKENS),
    Col("Project", lambda run: one_line(run.repo or "")),
    Col("Started", lambda run: f"{run.started_at:%Y-%m-%d %H:%M}" if run.started_at else ""),
    Col("Run", lambda run: one_line(run.run_id)),
)
_VALUES = (
    Col("Benchmark", lambda one: one_line(one.origin.benchmark or "")),
    Col("Task", lambda one: one_line(one.origin.task or "")),
    Col("Variant", lambda one: one.origin.variant or ""),
    Col("Metric", lambda one: one_line(one.metric or "")),
    Col("Value", lambda one: short(one.value, Unit.MEASURED, lacks="failed"), "r"),
    Col("Unit", lambda one: one_line(one.unit or "")),
    Col("Machine", lambda one: one_line(one.origin.machine or "")),
)
_JUDGED = (
    Col("Judged run", lambda one: one_line(one.origin.run_id or "")),
    Col("Task", lambda one: one_line(one.origin.task or "")),
    Col("Label", lambda one: one_line(one.label or "")),
    Col("Hack or clean", lambda one: one.judged or ""),
)
_EXPERIMENTS = (
    Col("Experiment", lambda one: one_line(one.label or "")),
    Col("State", lambda one: one.state),
    _figure("Value", lambda one: one.value, Unit.MEASURED),
    Col("Cost", lambda one: usd(one.cost_usd, lacks=""), "r"),
    Col("Description", lambda one: one_line(one.description or "")),
)


@dataclass(frozen=True)
class Preview:
    """What a map finds in some of the files that it reads, of `files` in all."""

    runs: Sequence[Run]
    values: Sequence[Measured]
    judged: Sequence[Judgement]
    experiments: TextTable
    rejects: Sequence[Unreadable]
    rows: int
    ignored: int
    looked_at: int
    files: int

    @property
    def tables(self) -> list[TextTable]:
        """Some rows of each kind, the fullest of runs, without columns that have no value."""
        fullest = sorted(self.runs, key=lambda run: -len(run.model_dump(exclude_none=True)))
        parts = ((_RUNS, fullest), (_VALUES, self.values), (_JUDGED, self.judged))
        found = [TextTable(columns, rows[:FIRST_ROWS]).filled for columns, rows in parts if rows]
        drawn = [replace(table, kept=_KEPT) for table in found]
        return [*drawn, *([self.experiments.filled] if self.experiments.rows else [])]

    @property
    def found(self) -> str:
        """Return `125 rows in 40 of 1,494 files: 120 runs, 2 judgements, 5 rejects`."""
        failed = sum(run.score == 0 and run.outcome is Outcome.COMPLETED for run in self.runs)
        counts = {
            "run": len(self.runs),
            "measured value": len(self.values),
            "judgement": len(self.judged),
            "experiment": len(self.experiments.rows),
            "reject": len(self.rejects),
        }
        said = [plural(count, noun) for noun, count in counts.items() if count]
        if failed:
            said[0] += f" ({failed:,} completed with score 0: the test failed, not the run)"
        if self.ignored:
            said.append(f"{self.ignored:,} left out")
        first = f"{self.looked_at} of " if self.looked_at < self.files else ""
        rows = f"{plural(self.rows, 'row')} in {first}{plural(self.files, 'file')}"
        return f"{rows}: {', '.join(said) or 'nothing'}"

    @property
    def refused(self) -> str:
        """Return the rejects by what does not fit, each with its first place, or ""."""
        fields: dict[str, list[Unreadable]] = {}
        for one in self.rejects:
            fields.setdefault(one.detail.partition(": ")[0], []).append(one)
        return "; ".join(
            f"{first.position}: {first.detail}{f', and {len(more):,} more' if more else ''}"
            for first, *more in [*fields.values()][:FIRST_ROWS]
        )


def preview(known: KnownMap, sources: Sequence[Source], most: int = 40) -> Preview:
    """Return what a map makes of some of the files that it reads. Never raises."""
    fitting = [source for source in sources if any(known.forms_for(source.name))]
    some = fitting[:: max(1, len(fitting) // most)]
    read: list[MappedReading] = [read_by_maps(source, (known,)) for source in some]
    tried = [one for each in read for loop in each.loops for one in loop.experiments]
    return Preview(
        [run for each in read for run in each.kept],
        [value for each in read for value in each.measured],
        [one for each in read for one in each.judged],
        TextTable(_EXPERIMENTS, tried[:FIRST_ROWS]),
        [reject for each in read for reject in each.rejects],
        sum(each.rows for each in read),
        sum(each.ignored for each in read),
        len(read),
        len(fitting),
    )
