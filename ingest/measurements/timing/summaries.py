"""A tool's summary of timed runs, such as `{"mean": 0.1, "median": 0.09, "min": 0.08}` in seconds → one value for each statistic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.values import number

STATISTICS = ("mean", "median", "min", "max")
_WITH_SAMPLES = ("mean", "median")


def times(
    origin: Origin,
    summary: Mapping[str, Any],
    runs: int | None,
    samples: tuple[float, ...],
    spread_of: Callable[[str, float], Spread | None],
) -> Iterator[Measured]:
    """The statistics that the summary has, in seconds. `samples`: the time of every run, empty where it is unknown."""
    for statistic in STATISTICS:
        if (value := number(summary.get(statistic))) is not None:
            yield Measured(
                origin=origin,
                metric="time",
                statistic=statistic,
                value=value,
                unit="s",
                n=runs,
                spread=spread_of(statistic, value),
                samples=samples if statistic in _WITH_SAMPLES else (),
            )
