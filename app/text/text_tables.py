"""Answers laid out for people: which columns, how wide, and the total beneath. Widths are chosen here, rich only draws."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.queries.runs import KNOWN_SUFFIX
from app.text.answers import Answer
from app.text.columns import Column, columns
from app.text.formatting import MINUS, UNKNOWN
from schemas.text import one_line

IDS = frozenset({"run_id", "session_id", "source_id", "run", "session"})
ID_WIDTH = 8
TOTAL = "Total"
MOST_ROWS = 2000
"""Rows of a table that are drawn: nobody reads more, and each takes a millisecond."""

PATHS = frozenset({"source_name", "name", "source"})
MOST_COLUMNS, NARROW = 7, 100
"""Columns of a table at most where it is no wider than NARROW: more are hard to read, and a file has them."""

_LEAST_TEXT = 18
_LONGEST_WORD = 28
"""Names up to this width are never broken. A longer one is broken behind a sign, and cut in its middle where it has none. Paths are cut at
their beginning instead."""

_SIGNS = re.compile(r"(?<=[-/_.:@+,\s])")
"""Where a name may be broken."""

_GAP = 2
_LINES = box.Box("    \n    \n ── \n    \n ── \n    \n    \n    \n")
"""A line beneath the header and above the total, nothing else."""


@dataclass(frozen=True)
class Drawing:
    """A drawn table, and the labels of the columns there was no room for."""

    body: bytes
    left_out: tuple[str, ...]


def for_people(answer: Answer) -> pa.Table:
    """The chosen columns without those where nothing is known, and the total as last row."""
    table = _chosen(answer.table, answer.shown)
    if answer.total is None:
        return table
    first = table.column_names[0]
    total = answer.total.append_column(first, pa.array([TOTAL]))
    for name in table.column_names:
        if name not in total.column_names:
            total = total.append_column(name, pa.array([" "]))  # a blank; empty text would count as unknown
    return pa.concat_tables([table, total.select(table.column_names).cast(table.schema)])


def draw(answer: Answer, width: int, encoding: str = "utf-8", *, color: bool = False, exact: bool = False) -> Drawing:
    """The answer as a table of at most `width` columns; a single row of figures is upright instead, to the last digit where `exact`."""
    table = for_people(replace(answer, table=answer.table.slice(0, MOST_ROWS)))
    rows = table.to_pylist()
    shown = columns(table, answer.of)
    if table.num_rows == 1 and all(column.is_figure for column in shown):
        return Drawing(_printed(_upright(shown, rows[0], exact=exact), width, encoding, color=color), ())
    cells = {column.name: [_cell(column, row) for row in rows] for column in shown}
    widths = _widths(shown, cells, width)
    fitting = [column for column in shown if column.name in widths]
    drawn = _across(fitting, cells, widths, has_total=answer.total is not None)
    body = _printed(drawn, width, encoding, color=color) + _cut_note(answer.table.num_rows).encode(encoding, errors="replace")
    return Drawing(body, tuple(column.label for column in shown if column.name not in widths))


def _cut_note(rows: int) -> str:
    return f"The first {MOST_ROWS:,} of {rows:,} rows; --format csv has all.\n" if rows > MOST_ROWS else ""


def _chosen(table: pa.Table, shown: tuple[str, ...]) -> pa.Table:
    if not (shown and table.num_rows):
        return table.select(shown) if shown else table
    known = [name for name in shown[1:] if table[name].null_count < table.num_rows and _says_something(table[name])]
    counts = [f"{name}{KNOWN_SUFFIX}" for name in known]
    return table.select([shown[0], *known, *(name for name in counts if name in table.column_names)])


def _says_something(column: pa.ChunkedArray) -> bool:
    return not pa.types.is_map(column.type) or any(len(value) for value in column if value.is_valid)


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    text = one_line(column.cell(row))
    if column.name in IDS and text != TOTAL:
        text = text[:ID_WIDTH]
    note = column.note(row)
    return f"{text}\n{note}" if note else text


def _widths(shown: Sequence[Column], cells: Mapping[str, list[str]], width: int) -> dict[str, int]:
    """Widths of the columns that fit, in order; what is left over goes to texts that could use it."""
    wanted = {column.name: _wanted(column, cells[column.name]) for column in shown}
    widths: dict[str, int] = {}
    left = width + _GAP
    for column in shown:
        words = max(_longest_word(column.label), _longest_name(column, cells[column.name]))
        least = wanted[column.name] if column.is_figure else min(wanted[column.name], max(_LEAST_TEXT, min(words, _LONGEST_WORD)))
        if least + _GAP > left or (width <= NARROW and len(widths) == MOST_COLUMNS):
            break
        widths[column.name] = least
        left -= least + _GAP
    if not widths:
        return {shown[0].name: width}
    for name in sorted(widths, key=PATHS.__contains__):  # paths last: their ends say most
        more = min(left, wanted[name] - widths[name])
        widths[name] += more
        left -= more
    return widths


def _wanted(column: Column, cells: list[str]) -> int:
    return max([_longest_word(column.label), *(cell_len(line) for cell in cells for line in cell.split("\n"))])


def _longest_name(column: Column, cells: list[str]) -> int:
    """The width of the longest cell of a column of names; 0 for prose, which wraps, and for paths, which are cut."""
    names = [] if column.name in PATHS else [line for cell in cells for line in cell.split("\n")]
    return 0 if any(" " in name for name in names) else max(map(cell_len, names), default=0)


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _across(shown: Sequence[Column], cells: Mapping[str, list[str]], widths: Mapping[str, int], *, has_total: bool) -> Table:
    table = Table(box=_LINES, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in shown:
        table.add_column(column.label, width=widths[column.name], justify="right" if column.is_figure else "left", vertical="top")
    rows = list(zip(*(cells[column.name] for column in shown), strict=True))
    for number, row in enumerate(rows, 1):
        is_total = has_total and number == len(rows)
        if is_total:
            table.add_section()
        texts = [_text(cell, column, widths[column.name]) for column, cell in zip(shown, row, strict=True)]
        table.add_row(*texts, style="bold" if is_total else "")
    return table


def _text(cell: str, column: Column, width: int) -> Text:
    """A cell that is never read as markup: notes and unknowns faint, a path cut at its beginning."""
    if column.name in PATHS and cell_len(cell) > width:
        cell = "…" + cell[-(width - 1) :]
    value, _, note = cell.partition("\n")
    whole = value if column.is_figure or column.name in PATHS else broken(value, width)
    text = Text(whole, style="dim" if value == UNKNOWN else "", overflow="fold")
    return text.append(f"\n{note}", style="dim") if note else text


def broken(name: str, width: int) -> str:
    """The text in lines of at most `width`, broken at blanks, long names behind signs; a part without any is cut in its middle."""
    if cell_len(name) <= width:
        return name
    parts = [part for word in re.split(r"(?<= )", name) for part in ([word] if cell_len(word.rstrip()) <= width else _SIGNS.split(word))]
    lines = [""]
    for part in parts:
        if cell_len(lines[-1] + part.rstrip()) > width and lines[-1]:
            lines.append("")
        lines[-1] += part if cell_len(part.rstrip()) <= width else _cut(part, width)
    return "\n".join(line.rstrip() for line in lines)


def _cut(text: str, width: int) -> str:
    """The beginning and the end of a text that has no place to be broken at."""
    head, tail = (width - 1) // 2, width - 1 - (width - 1) // 2
    return f"{text[:head]}…{text[-tail:]}" if cell_len(text) == len(text) else text  # wide characters may be broken anywhere


def _upright(shown: Sequence[Column], row: Mapping[str, Any], *, exact: bool) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="left", style="bold")
    table.add_column(justify="right")
    table.add_column(justify="left", style="dim")
    for column in shown:
        note = column.note(row)
        table.add_row(column.label, one_line(column.exact(row) if exact else column.cell(row)), f"based on {note}" if note else "")
    return table


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Characters that an encoding lacks: a lost minus sign would make an amount a question."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join("-" if one == MINUS else "?" for one in error.object[error.start : error.end]), error.end


_SPELLED = "tachograph-spelled"
codecs.register_error(_SPELLED, _spelled)


def _printed(table: Table, width: int, encoding: str, *, color: bool) -> bytes:
    """The table in the encoding; what that lacks becomes `?`, a minus sign a hyphen, and rich draws lines in ASCII."""
    memory = io.BytesIO()
    file = io.TextIOWrapper(memory, encoding=encoding, errors=_SPELLED, newline="\n")
    console = Console(file=file, width=width, force_terminal=color or None, highlight=False, legacy_windows=False)
    console.print(table)
    file.flush()
    return b"".join(line.rstrip() + b"\n" for line in memory.getvalue().splitlines())
