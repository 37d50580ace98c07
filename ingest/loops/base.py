"""Formats of loops' logs, the loops that their readers return, and the rows made of them."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

import pyarrow as pa

from ingest.measurements.base import MeasuredFile
from ingest.measurements.measured import TooManyValues
from ingest.sources.times import plausible
from schemas.rows.loop import CostBasis, ExperimentRow, LoopRow, State
from schemas.rows.row import usd
from schemas.rows.tables import arrow_table
from schemas.units import Better

MOST_EXPERIMENTS = 100_000
"""Maximum number of experiments per file."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One logged try. Every field is the column of `experiments` of that name.

    `at`: with a time zone if the log has one, otherwise taken as UTC. `repeats`: the place, from 1,
    of an earlier experiment of the loop that measured the same code. `identity`: an id that the log
    gives it, which no other try has.
    """

    state: State
    label: str | None = None
    parent: str | None = None
    word: str | None = None
    value: float | None = None
    secondary: Mapping[str, float | str] = field(default_factory=dict)
    commit: str | None = None
    at: datetime | None = None
    description: str | None = None
    hypothesis: str | None = None
    model: str | None = None
    duration_ms: int | None = None
    cost_usd: Decimal | None = None
    tokens: int | None = None
    patch: str | None = None
    repeats: int | None = None
    identity: str | None = None

    def fingerprint(self) -> str:
        """Return a hash that is the same in every copy and later version of the log.

        By the log's own id, else its time, else its commit and the beginning of its description,
        which stay when people edit a row. A baseline has its value beside them, since every loop
        from one commit has a "baseline".
        """
        commit = (self.commit or "").lower()
        text = " ".join((self.description or "").split()).lower()
        parts: tuple[object, ...] = (self.label, commit, text, self.value, self.word)
        if self.identity:
            parts = (self.identity,)
        elif self.at:
            parts = (self.at.isoformat(), commit, self.value)
        elif re.match(r"[0-9a-f]{7,40}\b", commit) and text and self.state is not State.BASELINE:
            parts = (commit, text[:32])
        return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Loop:
    """One loop of a log. Every field is the column of `loops` of that name.

    `no_gain`: why its values make no common series, in words for people. `cost_usd`: of the whole
    loop, if the log has it beside those of the experiments; `cost_basis`: what that cost, or those
    of the experiments, are.
    """

    experiments: Sequence[Experiment]
    name: str | None = None
    metric: str | None = None
    unit: str | None = None
    better: Better = Better.UNKNOWN
    better_from: str | None = None
    segment: int = 0
    folder: str | None = None
    baseline: float | None = None
    baseline_commit: str | None = None
    noise_floor: float | None = None
    is_history: bool = True
    has_decisions: bool = True
    no_gain: str | None = None
    notes: Sequence[str] = ()
    cost_usd: Decimal | None = None
    cost_basis: CostBasis | None = None


@dataclass(frozen=True)
class LoopFormat:
    """A format of loops' logs.

    `name`: `loops.format`. `looks`: whether the beginning of a file (up to 1 MiB) with one of the
    `marks` looks like it; cheap, since it looks at every file without a run. `read`: the loops of a
    file, or nothing if it is none of the format after all. Raises ValueError, with a reason for
    people, for a log that cannot be read. `marks`: () if no word is in every log.
    """

    name: str
    looks: Callable[[str], bool]
    read: Callable[[MeasuredFile], Iterable[Loop]]
    marks: tuple[str, ...] = ()

    @property
    def searched(self) -> tuple[str, ...]:
        return self.marks

    @property
    def is_json(self) -> bool:
        return False  # a line of text may be in front of it

    def may_read(self, beginning: str, met: frozenset[str]) -> bool:
        """Return whether a file with this beginning has one of its marks, and looks like it."""
        return not (self.marks and met.isdisjoint(self.marks)) and self.looks(beginning)


class LoopTables(NamedTuple):
    """The rows of `loops` and `experiments` of a file."""

    loops: pa.Table
    experiments: pa.Table


def loop_tables(loops: Sequence[Loop], source_id: str, format_name: str) -> LoopTables:
    """Return the rows of a file.

    Raises TooManyValues beyond MOST_EXPERIMENTS, WrongValue for a value its column rejects.
    """
    if (total := sum(len(loop.experiments) for loop in loops)) > MOST_EXPERIMENTS:
        raise TooManyValues(f"it holds {total:,} experiments, more than {MOST_EXPERIMENTS:,}")
    rows, experiments = [], []
    for number, loop in enumerate(loops, 1):
        rows.append(
            LoopRow(
                source_id=source_id,
                loop_no=number,
                format=format_name,
                baseline=_finite(loop.baseline),
                noise_floor=_finite(loop.noise_floor),
                notes=tuple(loop.notes),
                cost_reported_usd=_cost(loop.cost_usd),
                **{name: getattr(loop, name) for name in _SAME_OF_LOOPS},
            )
        )
        for place, one in enumerate(loop.experiments, 1):
            at = one.at and plausible(
                one.at.astimezone(UTC) if one.at.tzinfo else one.at.replace(tzinfo=UTC)
            )
            experiments.append(
                ExperimentRow(
                    source_id=source_id,
                    loop_no=number,
                    experiment_no=place,
                    value=_finite(one.value),
                    secondary=json.dumps(dict(one.secondary), sort_keys=True)
                    if one.secondary
                    else None,
                    at=at,
                    tz_known=bool(at and one.at and one.at.tzinfo),
                    cost_reported_usd=_cost(one.cost_usd),
                    tokens_reported=one.tokens,
                    fingerprint=one.fingerprint(),
                    **{name: getattr(one, name) for name in _SAME_OF_EXPERIMENTS},
                )
            )
    return LoopTables(arrow_table(LoopRow, rows), arrow_table(ExperimentRow, experiments))


_SAME_OF_LOOPS = (
    "name",
    "metric",
    "unit",
    "better",
    "better_from",
    "segment",
    "folder",
    "baseline_commit",
    "is_history",
    "has_decisions",
    "no_gain",
    "cost_basis",
)
_SAME_OF_EXPERIMENTS = (
    "label",
    "parent",
    "state",
    "word",
    "commit",
    "description",
    "hypothesis",
    "model",
    "duration_ms",
    "patch",
    "repeats",
)


def _finite(value: float | None) -> float | None:
    try:
        return float(value) if value is not None and math.isfinite(value) else None
    except OverflowError:
        return None


def _cost(cost: Decimal | None) -> Decimal | None:
    """Return a cost as stored, to a billionth of a dollar; None for a cost that no loop has."""
    return usd(cost) if cost is not None and cost.is_finite() and 0 <= cost < 10**8 else None
