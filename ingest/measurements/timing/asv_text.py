"""What `asv run`, `asv continuous` and `asv dev` print: a line per benchmark, with a table under it where it has parameters.

Source: https://github.com/airspeed-velocity/asv, `asv/results.py` (`format_benchmark_result`), `asv/util.py` (`human_value`,
`format_text_table`): times have their unit, sizes in bytes a bare `k`, `M` or `G`, and `±` is half the distance of the quartiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, takewhile

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.bounds import TooManyValues
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.values import metric_name
from schemas.rows.claim import Scope
from schemas.rows.measurement import MeasuredStatus, SpreadKind

_STEP = r"\[ *+\d++\.\d++%\] ·"
_RESULT = re.compile(rf"{_STEP}·· ++(?:Running )?([^\s(=]\S*+)(?: ++(\S.*+))?")
_COMMIT = re.compile(rf"{_STEP} For .*\bcommit ([0-9a-f]++)\b.*+")
_ENVIRONMENT = re.compile(rf"{_STEP}· Benchmarking (\S+)")
_TABLE = re.compile(rf"{_STEP}·· =[= ]*")
_NUMBER = r"[-+]?[\d.]++(?:e[-+]?\d++)?"
_VALUE = re.compile(rf"({_NUMBER})(?:±({_NUMBER}))?([nuµμm]?s|[mhkMGTP])?")

_UNITS = {"m": "min", "k": "kB", "M": "MB", "G": "GB", "T": "TB", "P": "PB"}
"""Suffix -> unit, where the two differ."""

_SIZE = re.compile(r"(?:.*\.)?(?:peak)?mem_[^.]*")
"""Names of benchmarks that measure bytes: asv takes the type of a benchmark from its name."""

_NO_VALUE = {"failed": MeasuredStatus.FAILED, "n/a": MeasuredStatus.NOT_RUN}

_MOST_COLUMNS = 500
"""Each value of a table is told by all parameters on its left."""

Cell = tuple[Mapping[str, str], str]
"""The parameters of a value, and the value as written."""


def _recognises(file: MeasuredFile) -> bool:
    return not file.is_page and any(_RESULT.fullmatch(line) for line in file.lines)


def _read(file: MeasuredFile) -> Iterator[Measured]:
    commit = environment = None
    top, below = "", list[str]()
    origin = Origin(scope=Scope.MICRO)
    for line in chain(file.lines, ("",)):
        if top and line[:1].isspace() and line.strip():
            below.append(line)
            continue
        if top:
            yield from (row for cell in _cells(top, below) for row in _measured(origin, cell))
            top, below = "", []
        if found := _COMMIT.fullmatch(line):
            commit = found[1]
        elif found := _ENVIRONMENT.fullmatch(line):
            environment = found[1]
        elif found := _RESULT.fullmatch(line):
            origin = replace(origin, benchmark=found[1], commit=commit, params={"environment": environment})
            yield from _measured(origin, ({}, (found[2] or "").strip()))
        elif _TABLE.fullmatch(line):
            top = line


def _measured(origin: Origin, cell: Cell) -> Iterator[Measured]:
    """The value of a cell; nothing for words such as `ok`, after which a table has the values."""
    parameters, written = cell
    origin = replace(origin, params={**origin.params, **parameters})
    if written in _NO_VALUE:
        yield Measured(origin=origin, status=_NO_VALUE[written])
    elif found := _VALUE.fullmatch(written):
        yield _value(origin, found)


def _value(origin: Origin, found: re.Match[str]) -> Measured:
    name, value, suffix = str(origin.benchmark), float(found[1]), found[3]
    unit = _UNITS.get(suffix, suffix) if suffix else "B" if _SIZE.fullmatch(name) else None
    is_size = unit is not None and unit.endswith("B")
    return Measured(
        origin=origin,
        metric="memory" if is_size else "time" if unit else metric_name(name.rpartition(".")[2]),
        statistic="median" if found[2] else None,
        value=value,
        unit=unit,
        spread=Spread.around(value, float(found[2]), SpreadKind.IQR) if found[2] else None,
    )


def _cells(top: str, lines: Sequence[str]) -> Iterator[Cell]:
    """The values of a table. `top`: its first rule, whose parts are the columns; `lines`: those under it.

    The columns on the left are parameters. Those of values have a head of their own only where other parameters run across:

        ====== ======== ========            ====== ========
          --        module                     n
        ------ -----------------            ------ --------
          n     numpy    scipy                10    21.1ms
        ====== ======== ========            ====== ========
          10    21.1ms   19.4ms
        ====== ======== ========
    """
    columns = [found.span() for found in re.finditer("=++", top)]
    if len(columns) > _MOST_COLUMNS:
        raise TooManyValues(f"a table has more than {_MOST_COLUMNS} columns")
    across = lines[0].strip().removeprefix("--").strip() if lines[0].strip().startswith("--") else None
    heads = _cut(lines[2 if across else 0], columns)
    left = len(columns) - 1 if across is None else sum(end <= _first_end(lines[1]) for _, end in columns)
    for line in takewhile(lambda one: "===" not in one, lines[4 if across else 2 :]):
        cells = _cut(line, columns)
        row = dict(zip(heads[:left], cells[:left], strict=True))
        for head, cell in zip(heads[left:], cells[left:], strict=True):
            yield {**row, **(dict(zip(across.split(" / "), head.split(" / "), strict=False)) if across else {})}, cell


def _cut(line: str, columns: Sequence[tuple[int, int]]) -> list[str]:
    return [line[start:end].strip() for start, end in columns]


def _first_end(rule: str) -> int:
    """Where the first part of a rule ends: it is as wide as all parameters on the left."""
    return len(rule) - len(rule.lstrip()) + len(rule.split(maxsplit=1)[0])


TOOL = Tool("asv-text", ("%] ··· ",), _recognises, _read, marks_suffice=False)
