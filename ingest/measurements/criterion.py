"""criterion.rs and libtest, the benchmarks of Rust.

Criterion's JSON files, and the output of `cargo bench`.

`estimates.json` has the mean, median and slope of a benchmark in nanoseconds, `sample.json` its
single samples. Neither names its benchmark: the name is in `benchmark.json` beside it, and in its
folders `target/criterion/<benchmark>/<new or base>/`. The text has criterion's `name time: [low
estimate high]` and libtest's `test name ... bench: 329 ns/iter (+/- 4)`, which criterion prints,
too (`--output-format bencher`); one output may have both.

Sources: https://github.com/bheisler/criterion.rs, book, chapters "Plots & Graphs" (folders) and
"Command-Line Output", `src/estimate.rs`, `src/connection.rs`, `src/report.rs` (`CliReport`,
`BencherReport`); the Rust compiler's `library/test/src/bench.rs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, ResultOrigin, Spread
from ingest.measurements.words import number, numbers
from schemas.claims import Scope
from schemas.rows.measurement import Failure, MeasuredStatus, SpreadKind, Variant
from schemas.units import stored_unit

_VARIANTS = {"base": Variant.BASELINE, "new": Variant.CANDIDATE}
"""Folder -> variant: criterion keeps the last run in `new` and its comparison in `base`. Other
folders are named baselines.
"""

_BOUND = r"([\d.]++(?:e[-+]?\d++)?) ([^\s%\]]++)"
_ESTIMATE = re.compile(rf"(.*)(time|thrpt):\s++\[{_BOUND} {_BOUND} {_BOUND}\]")
_BENCH = re.compile(
    r"test (.+) \.\.\. bench:\s++([\d,.]++) (\w++)/iter \(\+/- ([\d,.]++)\)(?: = (\d++) MB/s)?"
)
_ESCAPE = re.compile(r"\x1b\[[\d;]*+[A-Za-z]")


def _has_estimates(file: MeasuredFile) -> bool:
    """Recognise the estimates, except `change/estimates.json`, which has shares."""
    estimates = file.object
    is_whole = {"mean", "median", "median_abs_dev", "std_dev"} <= estimates.keys()
    return is_whole and {"confidence_interval", "point_estimate"} <= estimates["mean"].keys()


def _read_estimates(file: MeasuredFile) -> Iterator[Measured]:
    origin, samples = _origin(file), _times_per_iteration(file.beside("sample.json"))
    # `slope`: time per iteration by a fitted line, null if all samples have as many iterations
    for statistic in ("mean", "median", "slope"):
        if estimate := file.object.get(statistic):
            interval = estimate["confidence_interval"]
            low, high = number(interval["lower_bound"]), number(interval["upper_bound"])
            spread = Spread(
                kind=SpreadKind.CI,
                low=low,
                high=high,
                level=number(interval.get("confidence_level")) or 0.95,
            )
            own, runs = samples if statistic != "slope" else (), len(samples) or None
            yield Measured(
                origin,
                "time",
                statistic,
                estimate["point_estimate"],
                "ns",
                runs,
                spread=spread,
                samples=own,
            )


def _has_samples(file: MeasuredFile) -> bool:
    """Recognise the samples, unless `estimates.json` lies beside them.

    Its rows include these samples.
    """
    sample = file.object
    is_sample = sample.keys() <= {"sampling_mode", "iters", "times"} and bool(
        _times_per_iteration(sample)
    )
    return is_sample and not file.beside("estimates.json")


def _read_samples(file: MeasuredFile) -> Iterator[Measured]:
    samples = _times_per_iteration(file.object)
    yield Measured(
        _origin(file), "time", "mean", fmean(samples), "ns", len(samples), samples=samples
    )


def _times_per_iteration(sample: Mapping[str, Any]) -> tuple[float, ...]:
    """Return times in ns. Each of `times` is the sum over the iterations in `iters`."""
    times, iterations = numbers(sample.get("times")), numbers(sample.get("iters"))
    if len(times) != len(iterations) or not all(iterations):
        return ()
    return tuple(time / count for time, count in zip(times, iterations, strict=True))


def _origin(file: MeasuredFile) -> ResultOrigin:
    """Return the origin.

    The benchmark is the path between the folder `criterion` and the variant's, else the last folder
    before that.
    """
    *folders, last = ("", *file.folders)
    identity = file.beside("benchmark.json")
    name = (
        folders[len(folders) - folders[::-1].index("criterion") :]
        if "criterion" in folders
        else folders[-1:]
    )
    return ResultOrigin(
        _VARIANTS.get(last),
        benchmark=identity.get("full_id") or identity.get("title") or "/".join(name) or None,
        batch="/".join(folders[1:]) if last in _VARIANTS else None,
        scope=Scope.MICRO,
    )


def _lines(file: MeasuredFile) -> Iterator[str]:
    """Yield the lines without colours and trailing blanks."""
    return (_ESCAPE.sub("", line).rstrip() for line in file.lines)


def _is_output(file: MeasuredFile) -> bool:
    return not file.is_page and any(
        _ESTIMATE.fullmatch(line) or _BENCH.fullmatch(line) for line in _lines(file)
    )


def _read_output(file: MeasuredFile) -> Iterator[Measured]:
    is_of_libtest = any(
        line.startswith("test result: ") and ";" in line and " 0 measured" not in line
        for line in _lines(file)
    )
    name = title = (
        # of the benchmark whose lines these are; and the last line that may be a name, since a long
        # one stands alone
        None
    )
    samples: dict[str, int] = {}
    for line in _lines(file):
        if line.startswith("Benchmarking "):
            benchmark, _, count = line.removeprefix("Benchmarking ").partition(": Collecting ")
            if count:
                samples[benchmark] = int(count.split()[0])
        elif estimate := _ESTIMATE.fullmatch(
            line
        ):  # of the mean time per iteration, with its interval (95 % by default)
            metric = "time" if estimate[2] == "time" else "throughput"
            name = estimate[1].strip() or (title if metric == "time" else name)
            low, low_unit, value, unit, high, high_unit = estimate.groups()[2:]
            spread = Spread(
                kind=SpreadKind.CI,
                low=_in_unit(low, low_unit, unit),
                high=_in_unit(high, high_unit, unit),
            )
            yield Measured(
                _benchmark(name),
                metric,
                "mean",
                float(value),
                unit,
                samples.get(name or ""),
                spread=spread,
            )
        elif (
            bench := _BENCH.fullmatch(line)
            # `+/-` is criterion's standard deviation, but libtest's distance from fastest to
            # slowest
        ):
            origin, median, distance = (
                _benchmark(bench[1].strip()),
                float(bench[2].replace(",", "")),
                float(bench[4].replace(",", "")),
            )
            spread_of_median = None if is_of_libtest else Spread.around(median, distance)
            yield Measured(
                origin, "time", "median", median, f"{bench[3]}/iter", spread=spread_of_median
            )
            if bench[5]:
                yield Measured(origin, "throughput", "median", float(bench[5]), "MB/s")
        elif (line.startswith("test ") and line.endswith("FAILED")) or (
            line.startswith("thread '") and " panicked at " in line
        ):
            test = line.removeprefix("test ").partition(" ... ")[0]
            origin = _benchmark(test if test != line else None)
            yield Measured(origin, status=MeasuredStatus.FAILED, failure=Failure.CRASH, detail=line)
        elif line and not line[0].isspace():
            title = line


def _benchmark(name: str | None) -> ResultOrigin:
    return ResultOrigin(benchmark=name, scope=Scope.MICRO)


def _in_unit(bound: str, written: str, wanted: str) -> float | None:
    """Convert a bound to the estimate's unit: criterion writes 999.1 ns beside 1.002 µs.

    None if the units are incompatible.
    """
    of_bound, of_estimate = stored_unit(written), stored_unit(wanted)
    if written == wanted or of_bound is None or of_estimate is None:
        return float(bound)
    return (
        float(bound) * of_bound.factor / of_estimate.factor
        if of_bound.unit == of_estimate.unit
        else None
    )


TOOLS = (
    Tool("criterion-text", ("time:   [",), _is_output, _read_output, marks_suffice=False),
    Tool(
        "libtest",
        ("/iter (+/- ", " ... bench: ", "test "),
        _is_output,
        _read_output,
        marks_suffice=False,
    ),
    Tool(
        "criterion",
        ('"median_abs_dev"', '"confidence_interval"', '"point_estimate"'),
        _has_estimates,
        _read_estimates,
    ),
    Tool("criterion-sample", ('"iters"', '"times"'), _has_samples, _read_samples),
)
