"""A table as benchstat prints it, from `tests.benchstat.benchstat`, so that every number can be compared with its own.

Source of the layout: `cmd/benchstat/internal/{benchtab,texttab}` of https://github.com/golang/perf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.measurements.base import MeasuredFile
from ingest.measurements.timing import go_bench
from tests.benchstat.benchstat import comparison, geometric_mean, mean_change, scale, summary

BASE_UNITS = {"ns/op": ("sec/op", 1e-9), "MB/s": ("B/s", 1e6)}
"""Unit as written -> unit that benchstat shows, and its factor."""

Runs = Mapping[str, Sequence[float]]
"""Benchmark -> its runs, in the unit that benchstat shows."""

_CENTRE, _DELTA = 3, 3
"""Columns of a text table for a summary, and for a comparison."""


def runs_of(text: str, unit: str) -> dict[str, list[float]]:
    """The runs of every benchmark in the output of `go test -bench` that have this unit."""
    found: dict[str, list[float]] = {}
    factor = BASE_UNITS.get(unit, (unit, 1.0))[1]
    for one in go_bench.TOOL.read(MeasuredFile("bench.txt", text)):
        if one.unit == unit:
            name = str(one.origin.benchmark).rpartition("Benchmark")[2]
            found.setdefault(name, []).extend(run * factor for run in one.samples)
    return found


def table(unit: str, columns: Mapping[str, Runs]) -> list[str]:
    """The lines of one table. `unit`: as benchstat shows it; `columns`: by their head, the base first."""
    page = _Page(len(columns))
    page.head(list(columns), unit)
    names = list(dict.fromkeys(name for runs in columns.values() for name in runs))
    for name in names:
        page.line(name, [runs.get(name) for runs in columns.values()], unit)
    if len(names) > 1:
        page.means(list(columns.values()), unit)
    return [*_laid_out(page.cells), *(f"{_superscript(number)} {text}" for text, number in page.notes.items())]


@dataclass
class _Cell:
    row: int
    column: int
    text: str
    align: str = "<"
    span: int = 1
    margin: str | None = None

    def __post_init__(self) -> None:
        if self.margin is None:
            self.margin = " " if self.column and self.text else ""

    @property
    def before(self) -> str:
        return self.margin or ""


@dataclass
class _Page:
    columns: int
    cells: list[_Cell] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    row: int = -1

    def start(self, column: int) -> int:
        return 1 + (_CENTRE + (column - 1) * (_CENTRE + _DELTA) if column else 0)

    def put(self, column: int, text: str, align: str = "<", span: int = 1, margin: str | None = None) -> None:
        self.cells.append(_Cell(self.row, column, text, align, span, margin))

    def note(self, column: int, *texts: str | None) -> None:
        numbers = [self.notes.setdefault(text, len(self.notes) + 1) for text in texts if text]
        self.put(column, " ".join(map(_superscript, numbers)))

    def head(self, names: Sequence[str], unit: str) -> None:
        edge = self.start(self.columns + 1)
        self.row += 1
        for column, name in enumerate(names):
            self.put(self.start(column), name, "^", self.start(column + 1) - self.start(column), " │ ")
        self.put(edge, "", margin=" │")
        self.row += 1
        for column in range(self.columns):
            self.put(self.start(column), unit, "^", _CENTRE, " │ ")
            if column:
                self.put(self.start(column) + _CENTRE, "vs base", "<", _DELTA, "  ")
        self.put(edge, "", margin=" │")

    def line(self, name: str, cells: Sequence[Sequence[float] | None], unit: str) -> None:
        self.row += 1
        self.put(0, name)
        summaries = [summary(runs) if runs else None for runs in cells]
        common = scale((one.centre for one in summaries if one), unit)
        for column, (one, runs) in enumerate(zip(summaries, cells, strict=True)):
            if one is None or runs is None:
                continue
            at = self.start(column)
            self.put(at, common.written(one.centre), ">")
            self.put(at + 1, one.reach, ">", margin=" ± ")
            self.note(at + 2, one.warning)
            if column and cells[0]:
                compared = comparison(cells[0], runs)
                self.put(at + 3, compared.difference, ">")
                self.put(at + 4, f"({compared.evidence})")
                self.note(at + 5, compared.warning)

    def means(self, columns: Sequence[Runs], unit: str) -> None:
        self.row += 1
        self.put(0, "geomean")
        centres = [{name: summary(runs).centre for name, runs in one.items()} for one in columns]
        for column, one in enumerate(centres):
            mean = geometric_mean(list(one.values()))
            shared = one.keys() & centres[0].keys()
            if mean is not None:
                self.put(self.start(column), scale([mean], unit).written(mean), ">")
            if column:
                self.put(self.start(column) + _CENTRE, mean_change((centres[0][name], one[name]) for name in shared), ">")
            differs = "benchmark set differs from baseline; geomeans may not be comparable" if len(shared) != len(centres[0]) else None
            zero = "summaries must be >0 to compute geomean" if mean is None else None
            self.note(self.start(column + 1) - 1, differs, zero)


def _laid_out(cells: list[_Cell]) -> Iterator[str]:
    margins = [max((len(one.before) for one in cells if one.column == column), default=0) for column in range(_width(cells))]
    widths = [0] * len(margins)
    for one in sorted(cells, key=lambda one: one.span):
        _widen(widths, one, len(one.text) + margins[one.column])
    offsets = [sum(widths[:column]) for column in range(len(widths) + 1)]
    for row in range(cells[-1].row + 1):
        line = ""
        for one in (one for one in cells if one.row == row and (one.text.strip() or one.before.strip())):
            line = line.ljust(offsets[one.column]) + one.before.rjust(margins[one.column])
            line += _aligned(one, offsets[one.column + one.span] - offsets[one.column] - margins[one.column])
        yield line


def _width(cells: list[_Cell]) -> int:
    return max(one.column + one.span for one in cells)


def _widen(widths: list[int], cell: _Cell, wanted: int) -> None:
    """The first and the last column of a group stretch, the ones between stay narrow."""
    if cell.span == 1:
        widths[cell.column] = max(widths[cell.column], wanted)
        return
    spanned = range(cell.column, cell.column + cell.span)
    if sum(widths[column] for column in spanned) >= wanted:
        return
    stretching = [column for column in spanned if (column - 1) % (_CENTRE + _DELTA) in _STRETCHING]
    wanted -= sum(widths[column] for column in spanned if column not in stretching)
    for left, column in enumerate(sorted(stretching, key=lambda column: -widths[column])):
        widths[column] = max(widths[column], -(-wanted // (len(stretching) - left)))
        wanted -= widths[column]


_STRETCHING = (0, 3)


def _aligned(cell: _Cell, width: int) -> str:
    if cell.align == "^":
        return " " * ((width - len(cell.text)) // 2) + cell.text
    return cell.text.rjust(width) if cell.align == ">" else cell.text


def _superscript(number: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(number))
