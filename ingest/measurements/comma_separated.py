"""Text with separated values → rows by name of column, for every tool that writes such tables."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from ingest.measurements.base import lines_of
from ingest.measurements.bounds import MOST_VALUES, TooManyValues
from ingest.measurements.words import snake_case

_SEPARATORS = ",;\t"
_LONGEST_HEADER = 1 << 20
"""Characters within which the first line of a table ends."""

_HEADER = re.compile(r"[\ufeff\r\n]*+((?![ \t]*+[{[])[^\r\n]++)[\r\n]")
"""The first line, unless it begins like JSON."""

csv.field_size_limit(sys.maxsize)
"""A cell may hold a log: the file as a whole is bounded."""


class Line(NamedTuple):
    """One row. `number`: of its last line in the file, from 1. `cells`: column → text without spaces around it; no empty ones."""

    number: int
    cells: Mapping[str, str]


def columns(text: str) -> tuple[str, ...]:
    """The names in the first line, in snake_case; none where it is too long for one."""
    header = _HEADER.match(text[:_LONGEST_HEADER])
    return tuple(map(snake_case, next(_reader(header[1], header[1])))) if header else ()


def lines(text: str) -> Iterator[Line]:
    """The rows below the header. Raises ValueError where a row has more cells than the header, TooManyValues for too many rows."""
    header = _HEADER.match(text[:_LONGEST_HEADER])
    if not header:
        return
    names, before = columns(text), text.count("\n", 0, header.start(1))
    reader = _reader(text[header.start(1) :], header[1])
    for count, cells in enumerate(islice(reader, 1, None)):
        number = before + reader.line_num
        if count == MOST_VALUES:
            raise TooManyValues(f"it has more than {MOST_VALUES:,} lines")
        if any(cells[len(names) :]):
            raise ValueError(f"line {number} has {len(cells)} cells, and the header {len(names)}")
        yield Line(number, {name: cell.strip() for name, cell in zip(names, cells, strict=False) if cell.strip()})


def _reader(text: str, header: str) -> Any:
    """A reader of rows, which end as on any system. The separator is the one that the header has most of."""
    return csv.reader((f"{line}\n" for line in lines_of(text)), delimiter=max(_SEPARATORS, key=header.count), skipinitialspace=True)
