"""criterion.rs: `estimates.json` with the mean, median and slope of a benchmark in nanoseconds, and `sample.json` with its single samples.

Source: https://github.com/bheisler/criterion.rs, book, chapter "Plots & Graphs" (folders), `src/estimate.rs`, `src/connection.rs`. Neither
file names its benchmark: that is in `benchmark.json` beside it, and in its folders `target/criterion/<benchmark>/<new or base>/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.values import number, numbers
from schemas.rows.claim import Scope
from schemas.rows.measurement import SpreadKind, Variant

_STATISTICS = ("mean", "median", "slope")
"""`slope`: time per iteration by a fitted line; null where all samples have the same number of iterations."""

_VARIANTS = {"base": Variant.BASELINE, "new": Variant.CANDIDATE}
"""Folder -> variant: criterion keeps the last run in `new` and what it was compared with in `base`. Others are baselines by name."""

_CRITERION = "criterion"


def _has_estimates(file: MeasuredFile) -> bool:
    """Not `change/estimates.json`, which has shares."""
    estimates = file.object
    is_whole = {"mean", "median", "median_abs_dev", "std_dev"} <= estimates.keys()
    return is_whole and {"confidence_interval", "point_estimate"} <= estimates["mean"].keys()


def _read_estimates(file: MeasuredFile) -> Iterator[Measured]:
    origin = _origin(file)
    samples = _times_per_iteration(file.beside("sample.json"))
    for statistic in _STATISTICS:
        estimate = file.object.get(statistic)
        if estimate:
            yield Measured(
                origin=origin,
                metric="time",
                statistic=statistic,
                value=estimate["point_estimate"],
                unit="ns",
                n=len(samples) or None,
                spread=_interval(estimate["confidence_interval"]),
                samples=samples if statistic != "slope" else (),
            )


def _interval(interval: Mapping[str, Any]) -> Spread:
    low, high = number(interval["lower_bound"]), number(interval["upper_bound"])
    return Spread(kind=SpreadKind.CI, low=low, high=high, level=number(interval.get("confidence_level")) or 0.95)


def _has_samples(file: MeasuredFile) -> bool:
    """Not where `estimates.json` lies beside it, whose rows have these samples."""
    sample = file.object
    is_sample = sample.keys() <= {"sampling_mode", "iters", "times"} and bool(_times_per_iteration(sample))
    return is_sample and not file.beside("estimates.json")


def _read_samples(file: MeasuredFile) -> Iterator[Measured]:
    samples = _times_per_iteration(file.object)
    yield Measured(origin=_origin(file), metric="time", statistic="mean", value=fmean(samples), unit="ns", n=len(samples), samples=samples)


def _times_per_iteration(sample: Mapping[str, Any]) -> tuple[float, ...]:
    """In ns. Each of `times` is the sum of as many iterations as `iters` says."""
    times, iterations = numbers(sample.get("times")), numbers(sample.get("iters"))
    if len(times) != len(iterations) or not all(iterations):
        return ()
    return tuple(time / count for time, count in zip(times, iterations, strict=True))


def _origin(file: MeasuredFile) -> Origin:
    *folders, last = ("", *file.folders)
    identity = file.beside("benchmark.json")
    return Origin(
        benchmark=identity.get("full_id") or identity.get("title") or _name(folders),
        variant=_VARIANTS.get(last),
        batch="/".join(folders[1:]) if last in _VARIANTS else None,
        scope=Scope.MICRO,
    )


def _name(folders: list[str]) -> str | None:
    """What lies between the folder `criterion` and the variant's; the last folder where there is none of that name."""
    if _CRITERION in folders:
        folders = folders[len(folders) - folders[::-1].index(_CRITERION) :]
        return "/".join(folders) or None
    return (folders[-1] or None) if folders else None


ESTIMATES = Tool("criterion", ('"median_abs_dev"', '"confidence_interval"', '"point_estimate"'), _has_estimates, _read_estimates)
SAMPLES = Tool("criterion-sample", ('"iters"', '"times"'), _has_samples, _read_samples)
