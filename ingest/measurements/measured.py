"""One measured value as a tool's file says it → the row of `measurements`, by the same rules for all tools."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property

import pyarrow as pa

from ingest.measurements.bounds import MOST_CHARACTERS, MOST_VALUES, TooManyValues
from ingest.measurements.spread import Spread, log_error
from ingest.sources.times import plausible
from schemas.agents import agent_key
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus, MeasurementRow, PatchApplied, SpreadKind, Variant
from schemas.rows.tables import arrow_columns
from schemas.units import Better, Flagged, StoredUnit, stored_unit

_FULL_HASH = re.compile(r"[0-9a-f]{7,64}")
_CHUNK_ROWS = 4096
_CHARACTERS_OF_A_SAMPLE = 32

Parameter = str | float | int | bool | None


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What all values of one run of a benchmark have in common. Every field is the column of `measurements` of that name.

    `commit`: column `commit_full`; `parent`: `parent_full`. A hash may be short; anything that is no hash is dropped.
    """

    variant: Variant | None = None
    repo: str | None = None
    task: str | None = None
    commit: str | None = None
    commit_names_task: bool = False
    """Whether every variant of a task carries `commit`; otherwise it is the commit that was measured."""
    parent: str | None = None
    instance: str | None = None
    agent: str | None = None
    model: str | None = None
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
    """With a time zone where the file says it; without one it is taken as UTC, and `tz_known` is false. Dropped outside 2000–2100."""
    flags: tuple[Flagged, ...] = ()

    @cached_property
    def columns(self) -> Mapping[str, object]:
        """The columns of `measurements` that follow from it."""
        same = {name: getattr(self, name) for name in _SAME}
        measured_at = self.measured_at and _in_utc(self.measured_at)
        params = _params(self.params)
        return same | {
            "agent": self.agent and agent_key(self.agent),
            "commit_full": _hash(self.commit),
            "parent_full": _hash(self.parent),
            "params": params,
            "workload_fp": _workload(params, self.command),
            "measured_at": measured_at,
            "tz_known": self.measured_at is not None and measured_at is not None and self.measured_at.tzinfo is not None,
        }


_OTHER_COLUMNS = ("agent", "commit", "parent", "params", "measured_at", "flags")
_SAME = tuple(each.name for each in fields(Origin) if each.name not in _OTHER_COLUMNS)
"""Fields of an origin that are columns as they are."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One value of a file, or one failure.

    `unit` as written; None: the file does not say it. `better`: only where the tool says it, else it follows from the unit.
    `spread`, `samples`: in the same unit as the value. `n`: runs that the value sums up, not requests within a run.
    """

    origin: Origin
    metric: str | None = None
    is_primary: bool = False
    statistic: str | None = None
    value: float | None = None
    unit: str | None = None
    better: Better | None = None
    n: int | None = None
    spread: Spread | None = None
    samples: Sequence[float] = ()
    label: str | None = None
    """A published judgement: the metric is then `hard` (beats, similar, worse) or `target` (same_target …), the statistic `label`."""
    ratio_base: Variant | None = None
    status: MeasuredStatus = MeasuredStatus.OK
    failure: Failure | None = None
    detail: str | None = None
    flags: tuple[Flagged, ...] = ()

    def columns(self) -> dict[str, object]:
        """The columns of `measurements` of its row. A value that is not finite is no value: the row is a failure then."""
        unit = stored_unit(self.unit)
        value, stored = _finite(self.value), _stored(self.value, unit)
        is_missing = self.status is MeasuredStatus.OK and stored is None and self.label is None
        status = MeasuredStatus.FAILED if is_missing else self.status
        doubts = (*self.origin.flags, *self.flags, *((Flagged.ZERO,) if value == 0 else ()))
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
            **self._spread(value, unit),
            "status": status,
            "failure": self.failure or Failure.UNKNOWN if status is MeasuredStatus.FAILED else self.failure,
            "failure_detail": self.detail,
            "flags": tuple(dict.fromkeys(map(str, doubts))),
        }

    def _spread(self, value: float | None, unit: StoredUnit | None) -> dict[str, object]:
        """The columns of the spread and the samples."""
        samples = tuple(one for each in self.samples if (one := _finite(each)) is not None)
        spread = self.spread or Spread(kind=SpreadKind.SAMPLES if len(samples) > 1 else SpreadKind.NONE)
        error = log_error(value, spread, samples, self.n)
        return {
            "log_error": error and error.error,
            "log_df": error and error.df,
            "spread_kind": spread.kind,
            "spread_lo": _stored(spread.low, unit),
            "spread_hi": _stored(spread.high, unit),
            "samples": tuple(stored for one in samples if (stored := _stored(one, unit)) is not None),
        }


def measured_table(found: Iterable[Measured], source_id: str, tool: str) -> pa.Table:
    """The rows of `measurements` of a file. Raises TooManyValues beyond a bound, WrongValue for a value that its column does not take.

    Rows become Arrow a few thousand at a time, since each takes kilobytes until then.
    """
    chunks, rows, total, characters = [], list[dict[str, object]](), 0, 0

    def to_arrow() -> pa.Table:
        first = total - len(rows) + 1
        same = {"source_id": (source_id,) * len(rows), "measurement_no": range(first, total + 1), "format": (tool,) * len(rows)}
        columns = (same.get(name) or [row[name] for row in rows] for name in MeasurementRow.model_fields)
        return arrow_columns(MeasurementRow, map(tuple, columns))

    for one in found:
        rows.append(row := one.columns())
        total += 1
        characters += sum([len(cell) for cell in row.values() if type(cell) is str]) + _CHARACTERS_OF_A_SAMPLE * len(one.samples)
        if total > MOST_VALUES:
            raise TooManyValues(f"it holds more than {MOST_VALUES:,} values")
        if characters > MOST_CHARACTERS:
            raise TooManyValues(f"its values and what describes each of them have more than {MOST_CHARACTERS:,} characters")
        if len(rows) == _CHUNK_ROWS:
            chunks.append(to_arrow())
            rows = []
    return pa.concat_tables([*chunks, to_arrow()]) if rows or not chunks else pa.concat_tables(chunks)


def _workload(params: str | None, command: str | None) -> str | None:
    """A fingerprint of what the benchmark did: 16 hex digits of its parameters and its command, without spaces that mean nothing.

    None where neither is known.
    """
    told = params, " ".join(command.split()) if command else None
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16] if any(told) else None


def _params(params: Mapping[str, Parameter]) -> str | None:
    known = {name: value for name, value in params.items() if value is not None}
    return json.dumps(known, sort_keys=True, default=str) if known else None


def _hash(written: str | None) -> str | None:
    """A hash in lower case; None for anything else, such as a branch."""
    found = written.strip().lower() if written else ""
    return found if _FULL_HASH.fullmatch(found) else None


def _finite(value: float | None) -> float | None:
    """A number as a float; None where it is not finite, or larger than any float."""
    try:
        return None if value is None or not math.isfinite(value) else float(value)
    except OverflowError:
        return None


def _stored(value: float | None, unit: StoredUnit | None) -> float | None:
    found = _finite(value)
    return None if found is None else _finite(found * (unit.factor if unit else 1.0))


def _in_utc(time: datetime) -> datetime | None:
    """The time in UTC; None outside 2000–2100."""
    if not 1999 <= time.year <= 2100:  # which `astimezone` may not be able to convert
        return None
    return plausible(time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC))
