"""One measured value of a tool's file → the row of `measurements`, by the same rules for all tools.

The ratio of two values has the interval exp(ln r ± t · √(e₁² + e₂²)): e is the standard error of
ln(value), t Student's quantile at the degrees of freedom of Welch and Satterthwaite. The error
comes from the samples (standard deviation of their logarithms ÷ √n), else from the standard
deviation (s ÷ (m·√n), the first term of the delta method), else from a published interval (half its
width on the logarithmic scale ÷ the normal distribution's quantile for its level: 1.96 for 95 %).
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property

import pyarrow as pa

from ingest.measurements.words import is_hash, number
from ingest.sources.times import plausible
from schemas.agents import agent_key
from schemas.claims import Scope
from schemas.rows.measurement import (
    Failure,
    MeasuredStatus,
    MeasurementRow,
    PatchApplied,
    SpreadKind,
    Variant,
)
from schemas.rows.published import Judged, PublishedRow
from schemas.rows.tables import arrow_columns, arrow_table
from schemas.units import Better, Flagged, stored_unit

MOST_VALUES = 200_000
"""Maximum number of measured values per file; also the limit of its JSON documents and table rows.
"""

MOST_CHARACTERS = 1 << 26
"""Maximum number of characters in all rows of one file, since each row may repeat a long parameter.
"""

_CHUNK_ROWS = 4096
_CHARACTERS_OF_A_SAMPLE = 32

Parameter = str | float | int | bool | None


class TooManyValues(ValueError):
    """A file exceeds a limit on its values. The text names the limit."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The spread of single runs. `low`, `high`: in the unit of the value.

    `level`: of a published interval, 0.99 for 99 %.
    """

    kind: SpreadKind
    low: float | None = None
    high: float | None = None
    level: float = 0.95

    @classmethod
    def around(
        cls, value: float | None, distance: float | None, kind: SpreadKind = SpreadKind.STD
    ) -> Spread | None:
        """Return `distance` on both sides of the value.

        None if it is unknown, as with a single run.
        """
        return (
            None
            if value is None or distance is None
            else cls(kind=kind, low=value - distance, high=value + distance)
        )


@dataclass(frozen=True)
class ResultOrigin:
    """Common facts of all values of one benchmark run.

    Every field is the column of `measurements` of that name.

    `commit`: column `commit_full`; `parent`: `parent_full`. A hash may be short; anything that is
    no hash is dropped.
    """

    variant: Variant | None = None
    _: KW_ONLY
    repo: str | None = None
    task: str | None = None
    commit: str | None = None
    commit_names_task: bool = False
    """Whether every variant of a task has the same `commit`; otherwise it is the measured commit.
    """
    parent: str | None = None
    instance: str | None = None
    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    effort: str | None = None
    run_path: str | None = None
    run_id: str | None = None
    patch_sha256: str | None = None
    patch_applied: PatchApplied = PatchApplied.UNKNOWN
    measured_by: str | None = None
    benchmark: str | None = None
    params: Mapping[str, Parameter] = field(default_factory=dict)
    command: str | None = None
    bench_model: str | None = None
    machine: str | None = None
    batch: str | None = None
    scope: Scope = Scope.UNSPECIFIED
    measured_at: datetime | None = None
    """With a time zone if the file has one; otherwise taken as UTC, with `tz_known` false. Dropped
    outside 2000–2100.
    """
    flags: tuple[Flagged, ...] = ()

    @cached_property
    def columns(self) -> Mapping[str, object]:
        """Return the columns of `measurements` derived from it."""
        measured_at = self.measured_at
        if (
            measured_at and 1999 <= measured_at.year <= 2100
        ):  # `astimezone` may not be able to convert other years
            measured_at = plausible(
                measured_at.astimezone(UTC)
                if measured_at.tzinfo
                else measured_at.replace(tzinfo=UTC)
            )
        else:
            measured_at = None
        known = {name: value for name, value in self.params.items() if value is not None}
        params = json.dumps(known, sort_keys=True, default=str) if known else None
        workload = params, " ".join(self.command.split()) if self.command else None
        hashes = {
            "commit_full": (self.commit or "").strip().lower(),
            "parent_full": (self.parent or "").strip().lower(),
        }
        return {name: getattr(self, name) for name in _SAME_COLUMNS} | {
            "agent": self.agent and agent_key(self.agent),
            **{name: written if is_hash(written) else None for name, written in hashes.items()},
            "params": params,
            "workload_fp": hashlib.sha256(json.dumps(workload).encode()).hexdigest()[:16]
            if any(workload)
            else None,
            "measured_at": measured_at,
            "tz_known": self.measured_at is not None
            and measured_at is not None
            and self.measured_at.tzinfo is not None,
        }


_CHANGED = ("agent", "commit", "parent", "params", "measured_at", "flags")
_SAME_COLUMNS = tuple(each.name for each in fields(ResultOrigin) if each.name not in _CHANGED)


@dataclass(frozen=True)
class Measured:
    """One value of a file, or one failure.

    `unit`: as written, or None if the file has none. `better`: only if the tool states it, else it
    is derived from the unit. `spread`, `samples`: in the same unit as the value. `n`: number of
    runs behind the value, not requests within a run.
    """

    origin: ResultOrigin
    metric: str | None = None
    statistic: str | None = None
    value: float | None = None
    unit: str | None = None
    n: int | None = None
    _: KW_ONLY
    is_primary: bool = False
    better: Better | None = None
    spread: Spread | None = None
    samples: Sequence[float] = ()
    label: str | None = None
    """A published judgement: the metric is then `hard` (beats, similar, worse) or `target`
    (same_target …), the statistic `label`.
    """
    ratio_base: Variant | None = None
    status: MeasuredStatus = MeasuredStatus.OK
    failure: Failure | None = None
    detail: str | None = None
    flags: tuple[Flagged, ...] = ()
    noise_floor: float | None = None
    log_error: tuple[float | None, float | None] | None = None
    """The standard error of ln(value) and its degrees of freedom, if known better than from spread
    and samples.
    """

    def columns(self) -> dict[str, object]:
        """Return the columns of `measurements` of its row.

        A value that is not finite makes the row a failure.
        """
        unit = stored_unit(self.unit)
        factor = unit.factor if unit else 1.0
        value, samples = (
            _finite(self.value),
            tuple(one for each in self.samples if (one := _finite(each)) is not None),
        )
        stored = _finite(value, factor)
        is_missing = self.status is MeasuredStatus.OK and stored is None and self.label is None
        status = MeasuredStatus.FAILED if is_missing else self.status
        spread = self.spread or Spread(
            kind=SpreadKind.SAMPLES if len(samples) > 1 else SpreadKind.NONE
        )
        error, degrees = self.log_error or log_error(value, spread, samples, self.n)
        flags = (*self.origin.flags, *self.flags, *((Flagged.ZERO,) if value == 0 else ()))
        return {
            **self.origin.columns,
            "metric": self.metric,
            "is_primary": self.is_primary,
            "statistic": self.statistic,
            "unit": unit.unit if unit else None,
            "unit_raw": self.unit,
            "better": self.better or (unit.better if unit else Better.UNKNOWN),
            "value": stored,
            "value_raw": value,
            "label": self.label,
            "ratio_base": self.ratio_base,
            "n": self.n,
            "log_error": error,
            "log_df": degrees,
            "noise_floor": self.noise_floor,
            "spread_kind": spread.kind,
            "spread_lo": _finite(spread.low, factor),
            "spread_hi": _finite(spread.high, factor),
            "samples": tuple(
                stored for one in samples if (stored := _finite(one, factor)) is not None
            ),
            "status": status,
            "failure": self.failure or Failure.UNKNOWN
            if status is MeasuredStatus.FAILED
            else self.failure,
            "failure_detail": self.detail,
            "flags": tuple(dict.fromkeys(map(str, flags))),
        }


@dataclass(frozen=True)
class Judgement:
    """A judgement that a file publishes of the run or task of its origin."""

    origin: ResultOrigin
    judged: Judged | None = None
    label: str | None = None
    _: KW_ONLY
    score: float | None = None
    detail: str | None = None
    judged_by: str | None = None
    judged_at: datetime | None = None


def published_table(found: Iterable[Judgement], source_id: str, tool: str) -> pa.Table:
    """Return the rows of `published` of a file. Raises WrongValue."""
    rows = [
        PublishedRow(
            source_id=source_id,
            published_no=number,
            format=tool,
            **{
                name: one.origin.columns[name]
                for name in PublishedRow.columns
                if name in one.origin.columns
            },
            **{each.name: getattr(one, each.name) for each in fields(one)[1:]},
        )
        for number, one in enumerate(found, 1)
    ]
    return arrow_table(PublishedRow, rows)


def statistics_of(
    origin: ResultOrigin,
    metric: str,
    unit: str | None,
    values: Mapping[str, object],
    n: int | None,
    *,
    samples: Sequence[float] = (),
    deviation: object = None,
) -> Iterator[Measured]:
    """Yield a value for each statistic that is a number.

    `samples`: of the mean and the median; `deviation`: the standard deviation around the mean.
    """
    for statistic, written in values.items():
        if (value := number(written)) is not None:
            is_mean = statistic == "mean"
            yield Measured(
                origin,
                metric,
                statistic,
                value,
                unit,
                n,
                spread=Spread.around(value, number(deviation)) if is_mean else None,
                samples=samples if is_mean or statistic == "median" else (),
            )


def measured_table(found: Iterable[Measured], source_id: str, tool: str) -> pa.Table:
    """Return the rows of `measurements` of a file.

    Raises TooManyValues beyond a limit, WrongValue for a value its column rejects.

    Rows become Arrow a few thousand at a time, since each takes kilobytes until then.
    """
    chunks, rows, total, characters = [], list[dict[str, object]](), 0, 0

    def to_arrow() -> pa.Table:
        first = total - len(rows) + 1
        same = {
            "source_id": (source_id,) * len(rows),
            "measurement_no": range(first, total + 1),
            "format": (tool,) * len(rows),
        }
        columns = (same.get(name) or [row[name] for row in rows] for name in MeasurementRow.columns)
        return arrow_columns(MeasurementRow, map(tuple, columns))

    for one in found:
        rows.append(row := one.columns())
        total += 1
        characters += sum(
            [len(cell) for cell in row.values() if type(cell) is str]
        ) + _CHARACTERS_OF_A_SAMPLE * len(one.samples)
        if total > MOST_VALUES:
            raise TooManyValues(f"it holds more than {MOST_VALUES:,} values")
        if characters > MOST_CHARACTERS:
            raise TooManyValues(
                "its values and what describes each of them have more than "
                f"{MOST_CHARACTERS:,} characters"
            )
        if len(rows) == _CHUNK_ROWS:
            chunks.append(to_arrow())
            rows = []
    return (
        pa.concat_tables([*chunks, to_arrow()]) if rows or not chunks else pa.concat_tables(chunks)
    )


def log_error(
    value: float | None, spread: Spread, samples: Sequence[float], n: int | None
) -> tuple[float | None, float | None]:
    """Return the standard error of ln(value) and its degrees of freedom.

    The degrees are None for a published interval, taken as normal.

    (None, None) for a single run, without a spread, for a value not above 0, or for an impossible
    interval.
    """
    error = degrees = None
    low, high, runs = spread.low, spread.high, n or 1
    if value is None or value <= 0:
        return None, None
    try:
        if len(samples) > 1:
            if min(samples) > 0:
                error, degrees = (
                    statistics.stdev(map(math.log, samples)) / math.sqrt(len(samples)),
                    len(samples) - 1,
                )
        elif low is None or high is None or high < low:
            pass
        elif spread.kind is SpreadKind.CI:
            if low > 0:
                error = (
                    math.log(high / low)
                    / 2
                    / statistics.NormalDist().inv_cdf((1 + spread.level) / 2)
                )
        elif runs > 1 and spread.kind in (SpreadKind.STD, SpreadKind.SEM):
            error, degrees = (
                (high - low)
                / 2
                / value
                / (math.sqrt(runs) if spread.kind is SpreadKind.STD else 1.0),
                runs - 1,
            )
    except (ArithmeticError, statistics.StatisticsError):
        return None, None
    return (error, degrees) if error is not None and math.isfinite(error) else (None, None)


def _finite(value: float | None, factor: float = 1.0) -> float | None:
    """Return the number times the factor, as a float.

    None if either is not finite or larger than any float.
    """
    try:
        return (
            None
            if value is None or not math.isfinite(value) or not math.isfinite(value * factor)
            else float(value * factor)
        )
    except OverflowError:
        return None
