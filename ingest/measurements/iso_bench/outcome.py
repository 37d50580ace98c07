"""One benchmark run of one variant, as every schema of ISO-Bench tells it in its own words → its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ingest.measurements.iso_bench.failures import detail_of, failure_of, patch_in
from ingest.measurements.iso_bench.quantised import is_quantised
from ingest.measurements.iso_bench.quantities import Value, primary_of, values_of
from ingest.measurements.measured import Measured, Origin
from schemas.rows.measurement import MeasuredStatus, Variant
from schemas.units import Flagged

_SUCCESS = ("success", "completed", "ok")
_NOT_RUN = ("skipped", "not_run", "no_perf_command", "no_patch")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one benchmark of one variant gave. `metrics`: None where it was not run. `log`: what it printed."""

    origin: Origin
    metrics: Mapping[str, Any] | None = None
    status: str | None = None
    error: str | None = None
    log: str = ""
    patch_applied: object = None

    @property
    def values(self) -> tuple[Value, ...]:
        """Its values; none where the benchmark failed."""
        return values_of(self.metrics, self.origin.benchmark, self.log) if self.status in (None, *_SUCCESS) else ()


@dataclass(frozen=True)
class Together:
    """The outcomes of one comparison: one task, one set-up, at most one baseline. Of a file with one variant: that alone."""

    outcomes: tuple[Outcome, ...]

    @cached_property
    def values(self) -> tuple[tuple[Value, ...], ...]:
        """The values of every outcome."""
        return tuple(outcome.values for outcome in self.outcomes)

    def rows(self) -> Iterator[Measured]:
        """A row per value; one that says why, for a variant without values."""
        coarse = _coarse_rates(self.values)
        for outcome, values in zip(self.outcomes, self.values, strict=True):
            origin = self._origin(outcome, values)
            primary = primary_of(values, origin.repo)
            yield from (replace(_row(value, origin, is_coarse=value in coarse), is_primary=value is primary) for value in values)
            if not values:
                yield self._without_values(outcome, origin)

    def _origin(self, outcome: Outcome, values: tuple[Value, ...]) -> Origin:
        origin = outcome.origin
        if origin.variant is not Variant.CANDIDATE:
            return origin
        same = (Flagged.SAME_AS_BASELINE,) if _are_the_same(values, self._baseline or ()) else ()
        return replace(origin, patch_applied=patch_in(outcome.patch_applied, outcome.log), flags=(*origin.flags, *same))

    @cached_property
    def _baseline(self) -> tuple[Value, ...] | None:
        """The values of the baseline; None where there is no baseline."""
        pairs = zip(self.outcomes, self.values, strict=True)
        return next((values for outcome, values in pairs if outcome.origin.variant is Variant.BASELINE), None)

    def _without_values(self, outcome: Outcome, origin: Origin) -> Measured:
        """Not run; or success without values; or failed."""
        detail = detail_of(outcome.error, outcome.log)
        if outcome.status in _NOT_RUN or (outcome.metrics is None and outcome.status in (None, *_SUCCESS) and not outcome.error):
            return Measured(origin=origin, status=MeasuredStatus.NOT_RUN, detail=detail)
        ran = None if self._baseline is None else bool(self._baseline)
        failure = failure_of(outcome.status, outcome.error, outcome.log, origin.variant, baseline_ran=ran)
        empty = (Flagged.EMPTY_METRICS,) if outcome.status in _SUCCESS and not outcome.error else ()
        return Measured(origin=origin, status=MeasuredStatus.FAILED, failure=failure, detail=detail, flags=empty)


def _row(value: Value, origin: Origin, *, is_coarse: bool) -> Measured:
    flags = (Flagged.QUANTISED,) if is_coarse else ()
    return Measured(
        origin=origin, metric=value.metric, statistic=value.statistic, value=value.number, unit=value.unit, n=1, flags=flags
    )  # fmt: skip


def _coarse_rates(variants: Iterable[tuple[Value, ...]]) -> frozenset[Value]:
    """The rates of a latency benchmark, which are from the engine's log, where all of them are whole steps of its window."""
    rates = [one for values in variants if any(one.metric == "latency" for one in values) for one in values if one.metric == "throughput"]
    return frozenset(rates) if is_quantised(rate.number for rate in rates) else frozenset()


def _are_the_same(values: tuple[Value, ...], baseline: tuple[Value, ...]) -> bool:
    """Whether two runs have the same numbers: one alone may be chance."""
    return len(values) > 1 and set(values) == set(baseline)
