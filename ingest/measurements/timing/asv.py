"""airspeed velocity, `results/<machine>/<commit>-<environment>.json`: the benchmarks of one commit in one environment.

Source: https://asv.readthedocs.io/en/stable/dev.html, section "Benchmark suite layout and file formats"; `asv/results.py` (`update_to_2`
for version 1). Units and types of benchmarks are in `results/benchmarks.json` alone. `date` is that of the commit, not of the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.bounds import MOST_VALUES, TooManyValues
from ingest.measurements.measured import Measured, Origin, Parameter
from ingest.measurements.spread import Spread
from ingest.measurements.values import joined, metric_name, number, numbers
from ingest.sources.times import unix_time
from schemas.rows.claim import Scope
from schemas.rows.measurement import MeasuredStatus, SpreadKind
from schemas.units import Better

Fields = Mapping[str, Any]

_METRICS = {"time": "time", "timeraw": "time", "memory": "memory", "peakmemory": "memory"}
"""Type of a benchmark -> metric. A benchmark of another type, such as `track`, names what it measures itself."""

_LEVEL = 0.99
"""Of the intervals that asv writes: `ci_99`."""

_NO_UNIT = "unit"
"""What asv writes for a `track` benchmark without one."""


def _recognises(file: MeasuredFile) -> bool:
    document = file.object
    is_result = {"commit_hash", "params", "requirements", "results"} <= document.keys() and isinstance(document["results"], dict)
    return is_result and ("result_columns" in document or document.get("version") == 1)


def _read(file: MeasuredFile) -> Iterator[Measured]:
    """Raises ValueError where the machine is not that of its folder: asv ignores such a file (`iter_results_for_machine`)."""
    document = file.object
    machine, of_folder = (document["params"] or {}).get("machine"), file.beside("machine.json").get("machine")
    if machine and of_folder and machine != of_folder:
        raise ValueError(f"its machine is {machine!r}, machine.json beside it says {of_folder!r}; asv ignores it")
    definitions = file.beside("../benchmarks.json") or file.beside("benchmarks.json")
    for name, columns in _benchmarks(document):
        definition = _of_version(definitions.get(name), columns.get("version"))
        yield from _of_benchmark(_origin(document, name, columns), definition, columns)


def _benchmarks(document: Fields) -> Iterator[tuple[str, Fields]]:
    """(name, columns of version 2) of every benchmark. Version 2 leaves empty columns at the end out."""
    names = document.get("result_columns")
    for name, written in document["results"].items():
        yield name, dict(zip(names, written, strict=False)) if names else _from_version_1(document, name, written)


def _from_version_1(document: Fields, name: str, written: Any) -> Fields:
    """The columns of version 2. Version 1 has a bare value, or an object with `result`, and `params` and `stats` where there are any."""
    found = written if isinstance(written, dict) else {"result": [written]}
    result, stats = found.get("result"), found.get("stats")
    each = [one or {} for one in (stats if isinstance(stats, list) else [stats])]
    return {
        "result": result if isinstance(result, list) or result is None else [result],
        "params": found.get("params"),
        "samples": found.get("samples"),
        "version": (document.get("benchmark_version") or {}).get(name),
        "started_at": (document.get("started_at") or {}).get(name),
        "stats_ci_99_a": [(one.get("ci_99") or [None])[0] for one in each],
        "stats_ci_99_b": [(one.get("ci_99") or [None])[-1] for one in each],
    } | {f"stats_{key}": [one.get(key) for one in each] for key in ("q_25", "q_75", "repeat")}


def _of_version(definition: object, version: object) -> Fields:
    """The definition of a benchmark; empty where another version of it was run, whose results asv ignores."""
    known = definition if isinstance(definition, dict) else {}
    return known if version is None or known.get("version") in (None, version) else {}


def _origin(document: Fields, name: str, columns: Fields) -> Origin:
    machine = document["params"] or {}
    environment = {"python": document.get("python"), **(document["requirements"] or {}), **(document.get("env_vars") or {})}
    return Origin(
        benchmark=name,
        params=environment | {"benchmark_version": columns.get("version")},
        commit=document["commit_hash"],
        machine=joined((machine.get("machine"), machine.get("cpu"))),
        measured_at=unix_time(columns.get("started_at")),
        scope=Scope.MICRO,
    )


def _of_benchmark(origin: Origin, definition: Fields, columns: Fields) -> Iterator[Measured]:
    """A row for every combination of the parameters, the last of which varies fastest. No result at all: every combination failed."""
    parameters = columns.get("params") or []
    names = definition.get("param_names") or [f"param{place}" for place in range(1, len(parameters) + 1)]
    if math.prod(map(len, parameters)) > MOST_VALUES:
        raise TooManyValues(f"the parameters of {origin.benchmark} have more than {MOST_VALUES:,} combinations")
    for place, combination in enumerate(product(*parameters)):
        chosen: dict[str, Parameter] = dict(zip(names, combination, strict=False))
        yield _measured(replace(origin, params={**origin.params, **chosen}), definition, columns, place)


def _measured(origin: Origin, definition: Fields, columns: Fields, place: int) -> Measured:
    """A value; null is a failure, NaN a benchmark that skipped itself."""
    value = number(_at(columns, "result", place))
    if value is None or math.isnan(value):
        return Measured(origin=origin, status=MeasuredStatus.FAILED if value is None else MeasuredStatus.NOT_RUN)
    samples = numbers(_at(columns, "samples", place))
    kind, unit = definition.get("type"), definition.get("unit")
    return Measured(
        origin=origin,
        metric=_METRICS.get(str(kind)) or metric_name(str(origin.benchmark).rpartition(".")[2]),
        statistic=_statistic(kind, columns, place),
        value=value,
        unit=None if unit == _NO_UNIT else unit,
        better=None if kind in _METRICS else Better.UNKNOWN,
        n=_at(columns, "stats_repeat", place) or len(samples) or None,
        spread=_spread(columns, place),
        samples=samples,
    )


def _statistic(kind: object, columns: Fields, place: int) -> str | None:
    """With statistics the value is the median of the samples (`asv_runner.statistics.compute_stats`)."""
    if kind == "peakmemory":
        return "max"
    return None if _at(columns, "stats_q_25", place) is None else "median"


def _spread(columns: Fields, place: int) -> Spread | None:
    """The interval of 99 %; the quartiles where there are too few samples for one."""
    for kind, low_column, high_column in (
        (SpreadKind.CI, "stats_ci_99_a", "stats_ci_99_b"),
        (SpreadKind.IQR, "stats_q_25", "stats_q_75"),
    ):
        low, high = number(_at(columns, low_column, place)), number(_at(columns, high_column, place))
        if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
            return Spread(kind=kind, low=low, high=high, level=_LEVEL)
    return None


def _at(columns: Fields, column: str, place: int) -> Any:
    """The value of a column for one combination of parameters."""
    values = columns.get(column)
    return values[place] if isinstance(values, list) and place < len(values) else None


TOOL = Tool("asv", ('"commit_hash"', '"requirements"', '"results"'), _recognises, _read)
