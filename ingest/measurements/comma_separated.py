"""Text with separated values → rows by name of column, for every tool that writes such tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from ingest.measurements.words import snake_case

_SEPARATORS = ",;\t"
_LONGEST_HEADER = 10_000
"""Characters within which the first line of a table ends."""


class Line(NamedTuple):
    """One row. `number`: of its last line in the file, from 1. `cells`: column → text without spaces around it; no empty ones."""

    number: int
    cells: Mapping[str, str]


def columns(text: str) -> tuple[str, ...]:
    """The names in the first line, in snake_case; none where it is too long for one."""
    first = text[:_LONGEST_HEADER].lstrip("\ufeff").partition("\n")
    if not first[1]:
        return ()
    found = next(csv.reader([first[0].rstrip("\r")], delimiter=_separator(first[0])), [])
    return tuple(snake_case(name) for name in found)


def lines(text: str) -> Iterator[Line]:
    """The rows below the header. Raises ValueError where a cell is too long, or a row has more cells than the header."""
    names, text = columns(text), text.lstrip("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text.partition("\n")[0]))
    try:
        for cells in islice(reader, 1, None):
            if any(cells[len(names) :]):
                raise ValueError(f"line {reader.line_num} has {len(cells)} cells, and the header {len(names)}")
            yield Line(reader.line_num, {name: cell.strip() for name, cell in zip(names, cells, strict=False) if cell.strip()})
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _separator(header: str) -> str:
    """The separator that the header has most of."""
    return max(_SEPARATORS, key=header.count)
