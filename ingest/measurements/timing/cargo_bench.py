"""What `cargo bench` prints: criterion.rs's `name  time:   [low estimate high]`, libtest's `test name ... bench: 329 ns/iter (+/- 4)`.

Source: https://github.com/bheisler/criterion.rs, `src/report.rs` (`CliReport`, `BencherReport`), book, chapter "Command-Line Output"; the
Rust compiler's `library/test/src/bench.rs`. Criterion prints libtest's form too (`--output-format bencher`), and one output may have both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus, SpreadKind
from schemas.units import stored_unit

_BOUND = r"([\d.]++(?:e[-+]?\d++)?) ([^\s%\]]++)"
_ESTIMATE = re.compile(rf"(.*)(time|thrpt):\s++\[{_BOUND} {_BOUND} {_BOUND}\]")
_BENCH = re.compile(r"test (.+) \.\.\. bench:\s++([\d,.]++) (\w++)/iter \(\+/- ([\d,.]++)\)(?: = (\d++) MB/s)?")
_COLLECTING = re.compile(r"Benchmarking (.+): Collecting (\d++) samples .*")
_FAILED = re.compile(r"test (.+) \.\.\. (?:bench:\s++)?FAILED|thread '.*' (?:\(\d++\) )?panicked at .*")
_MEASURED_BY_LIBTEST = re.compile(r"^test result: .* [1-9]\d*+ measured", re.MULTILINE)
_ESCAPE = re.compile(r"\x1b\[[\d;]*+[A-Za-z]")
_METRICS: Mapping[str, str] = {"time": "time", "thrpt": "throughput"}


@dataclass
class _Output:
    """What the lines of an output said so far.

    `name`: of the benchmark whose lines these are; `title`: the last line that may be a name; `samples`: their number by benchmark.
    """

    is_of_libtest: bool
    name: str | None = None
    title: str | None = None
    samples: dict[str, int] = field(default_factory=dict)

    def measured(self, line: str) -> Iterator[Measured]:
        """The values of one line, without its end."""
        if collecting := _COLLECTING.fullmatch(line):
            self.samples[collecting[1]] = int(collecting[2])
        elif estimate := _ESTIMATE.fullmatch(line):
            yield self._estimate(estimate)
        elif bench := _BENCH.fullmatch(line):
            yield from self._bench(bench)
        elif failed := _FAILED.fullmatch(line):
            origin = _origin((failed[1] or "").strip() or None)
            yield Measured(origin=origin, status=MeasuredStatus.FAILED, failure=Failure.CRASH, detail=line)
        elif line and not line[0].isspace() and not line.startswith("Benchmarking "):
            self.title = line

    def _estimate(self, found: re.Match[str]) -> Measured:
        """An estimate of the mean time per iteration, with its interval (95 % unless told otherwise). A long name stands a line above."""
        what = found[2]
        self.name = found[1].strip() or (self.title if what == "time" else self.name)
        low, low_unit, value, unit, high, high_unit = found.groups()[2:]
        return Measured(
            origin=_origin(self.name),
            metric=_METRICS[what],
            statistic="mean",
            value=float(value),
            unit=unit,
            n=self.samples.get(self.name or ""),
            spread=Spread(kind=SpreadKind.CI, low=_in_unit(low, low_unit, unit), high=_in_unit(high, high_unit, unit)),
        )

    def _bench(self, found: re.Match[str]) -> Iterator[Measured]:
        """The median. `+/-` is criterion's standard deviation, but libtest's distance from the fastest to the slowest sample."""
        origin, value, distance = _origin(found[1].strip()), _number(found[2]), _number(found[4])
        spread = None if self.is_of_libtest else Spread.around(value, distance)
        yield Measured(origin=origin, metric="time", statistic="median", value=value, unit=f"{found[3]}/iter", spread=spread)
        if found[5]:
            yield Measured(origin=origin, metric="throughput", statistic="median", value=float(found[5]), unit="MB/s")


def _lines(file: MeasuredFile) -> Iterator[str]:
    """Without colours and blanks at their ends."""
    return (_ESCAPE.sub("", line).rstrip() for line in file.lines)


def _recognises(file: MeasuredFile) -> bool:
    return not file.is_page and any(_ESTIMATE.fullmatch(line) or _BENCH.fullmatch(line) for line in _lines(file))


def _read(file: MeasuredFile) -> Iterator[Measured]:
    output = _Output(_MEASURED_BY_LIBTEST.search(_ESCAPE.sub("", file.text)) is not None)
    for line in _lines(file):
        yield from output.measured(line)


def _origin(name: str | None) -> Origin:
    return Origin(benchmark=name, scope=Scope.MICRO)


def _number(written: str) -> float:
    return float(written.replace(",", ""))


def _in_unit(bound: str, written: str, wanted: str) -> float | None:
    """A bound in the unit of the estimate: criterion writes 999.1 ns beside 1.002 µs. None where units have nothing in common."""
    of_bound, of_estimate = stored_unit(written), stored_unit(wanted)
    if written == wanted or of_bound is None or of_estimate is None:
        return float(bound)
    return float(bound) * of_bound.factor / of_estimate.factor if of_bound.unit == of_estimate.unit else None


CRITERION = Tool("criterion-text", ("time:   [",), _recognises, _read, marks_suffice=False)
LIBTEST = Tool("libtest", ("test ", " ... bench: ", "/iter (+/- "), _recognises, _read, marks_suffice=False)
