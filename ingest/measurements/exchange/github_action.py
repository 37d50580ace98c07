"""github-action-benchmark: the array that its custom tools read, and its history, `window.BENCHMARK_DATA = {…}` in `data.js`.

Which way is better stands only in the history, in the name of the tool. The array has units: more of a time is worse, of a rate better,
and of anything else unknown (megabytes may be those used or those free). `range` is free text: a distance, or percent of the value. What
it measures is known for some tools; for the others only where it lies is kept.

Source: https://github.com/benchmark-action/github-action-benchmark, `src/extract.ts`, `src/write.ts` (`biggerIsBetter`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.words import UNNAMED, metric_of_unit
from ingest.sources.times import unix_time
from schemas.rows.claim import Scope
from schemas.rows.measurement import SpreadKind
from schemas.units import Better, stored_unit

_HISTORY = re.compile(r"\s*+window\.BENCHMARK_DATA\s*+=\s*+")
_KEYS = frozenset(("name", "unit", "value", "range", "extra"))
_RANGE = re.compile(r"\s*+(?:(?:±|\+-|\+/-)\s*+)?(\d++(?:\.\d++)?(?:[eE][-+]?\d++)?)\s*+(%?)\s*+")
_RUNS = re.compile(r"\b(\d++) samples\b|\brounds: (\d++)")


class _Harness(NamedTuple):
    """What a tool of the history gives: which way is better, the statistic of its values, and what its range is."""

    better: Better | None
    statistic: str | None = None
    spread: SpreadKind = SpreadKind.NONE


_HARNESSES = {
    "cargo": _Harness(Better.LOWER, "median"),
    "go": _Harness(Better.LOWER, "mean"),
    "benchmarkjs": _Harness(Better.HIGHER, "mean", SpreadKind.CI),
    "benchmarkluau": _Harness(Better.LOWER),
    "pytest": _Harness(Better.HIGHER, "mean"),
    "googlecpp": _Harness(Better.LOWER, "mean"),
    "catch2": _Harness(Better.LOWER, "mean", SpreadKind.STD),
    "julia": _Harness(Better.LOWER),
    "jmh": _Harness(Better.LOWER, "mean"),
    "benchmarkdotnet": _Harness(Better.LOWER, "mean", SpreadKind.STD),
    "customBiggerIsBetter": _Harness(Better.HIGHER),
    "customSmallerIsBetter": _Harness(Better.LOWER),
}
_UNKNOWN = _Harness(None)


def _recognises(file: MeasuredFile) -> bool:
    return bool(_HISTORY.match(file.text)) or _are_results(file.documents[0])


def _are_results(found: Any) -> bool:
    """Whether a value is an array of nothing but results: they have no other keys than the tool knows."""
    return isinstance(found, list) and bool(found) and all(_is_result(one) for one in found)


def _is_result(found: Any) -> bool:
    return isinstance(found, dict) and _KEYS >= found.keys() >= {"name", "unit", "value"} and isinstance(found["unit"], str)


def _read(file: MeasuredFile) -> Iterator[Measured]:
    if start := _HISTORY.match(file.text):
        yield from _of_history(_history(file.text[start.end() :]))
    else:
        for bench in file.documents[0]:
            yield _measured(bench, Origin(benchmark=bench["name"], scope=Scope.UNSPECIFIED), _UNKNOWN)


def _history(text: str) -> Mapping[str, Any]:
    try:
        history: Mapping[str, Any] = json.loads(text.rstrip().rstrip(";"))
    except ValueError as error:
        raise ValueError("what follows window.BENCHMARK_DATA is no valid JSON, and may be cut off") from error
    return history


def _of_history(history: Mapping[str, Any]) -> Iterator[Measured]:
    """Every commit of every suite. Names may repeat in another suite, so the suite is a parameter."""
    repo = urlsplit(history.get("repoUrl") or "").path.strip("/") or None
    for suite, entries in history["entries"].items():
        for entry in entries:
            harness = _HARNESSES.get(entry.get("tool"), _UNKNOWN)
            for bench in entry["benches"]:
                origin = Origin(
                    repo=repo,
                    commit=entry["commit"]["id"],
                    benchmark=bench["name"],
                    params={"suite": suite},
                    measured_at=unix_time(entry["date"]),
                )
                yield _measured(bench, origin, harness)


def _measured(bench: Mapping[str, Any], origin: Origin, harness: _Harness) -> Measured:
    value, unit = float(bench["value"]), bench["unit"]
    metric, runs = metric_of_unit(unit), _RUNS.search(str(bench.get("extra") or ""))
    return Measured(
        origin=origin,
        metric=metric,
        statistic=harness.statistic,
        value=value,
        unit=unit,
        better=harness.better or (Better.UNKNOWN if metric == UNNAMED else None),
        n=int(runs[1] or runs[2]) if runs else None,
        spread=_spread(value, unit, bench.get("range"), harness.spread),
    )


def _spread(value: float, unit: str, written: Any, kind: SpreadKind) -> Spread | None:
    """The range around the value. Of a value in percent, a range in percent may be either: it is not read."""
    found = _RANGE.fullmatch(str(written)) if written is not None else None
    stored = stored_unit(unit)
    if not found or (found[2] and stored and stored.unit == "%"):
        return None
    return Spread.around(value, float(found[1]) * (abs(value) / 100 if found[2] else 1), kind)


TOOL = Tool("github_action_benchmark", ('"name"', '"unit"', '"value"'), _recognises, _read, marks_suffice=False)
