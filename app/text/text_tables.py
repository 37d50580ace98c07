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
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.queries.runs import KNOWN_SUFFIX
from app.text.answers import Answer
from app.text.columns import BOUNDS_COLUMNS, BOUNDS_SUFFIX, OF_SUFFIX, STARTED, Column, columns, with_bounds, with_starts
from app.text.formatting import MINUS, UNKNOWN
from schemas.catalogue.metrics import HIGH, LOW, MEDIANS
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
_LEAST_PROSE = 15
MOST_LINES = 2
SHORTENED = frozenset({"title", "note", "excluded_reason"})
"""Texts of so many lines in a list; `tachograph show` has them whole."""
_PIECE = re.compile(r"(?:[^-_/.:@+,\s]|(?<=\d)[-.:,](?=\d)|(?<=\bn) (?=\d))*[-_/.:@+,]*\s*")
"""A part of a text that stays on one line: up to a sign between parts, or up to a blank and with it. A date, a number and `n 4` are one
part each."""
_LEAST_SENTENCE = {"message": 36, "detail": 30, "sentence": 22}
"""The least widths of columns of sentences: no column behind may take more from them."""

_LONGEST_WORD = 28
"""Names up to this width are never broken. A longer one is broken behind a sign, and cut in its middle where it has none. Paths are cut at
their beginning instead."""


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
    table = _chosen(with_bounds(with_starts(answer.table), answer.shown), answer.shown)
    if answer.total is None:
        return table
    first = table.column_names[0]
    total = with_bounds(answer.total).append_column(first, pa.array([TOTAL], pa.string()))
    for name in table.column_names:
        if name not in total.column_names:
            total = total.append_column(name, pa.array([" "], pa.string()))  # a blank; empty text would count as unknown
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
    if any(column.name in answer.kept and column.name not in widths for column in shown):
        widths = _narrow_widths([column for column in shown if column.name in answer.kept], cells, width)
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
    counts = [f"{name}{suffix}" for name in known for suffix in (KNOWN_SUFFIX, OF_SUFFIX)]
    counts += [*BOUNDS_COLUMNS.values(), *(f"{name}{BOUNDS_SUFFIX}" for name in known if name not in BOUNDS_COLUMNS)]
    counts += [*(f"{name}{end}" for name in known if name in MEDIANS for end in (LOW, HIGH)), STARTED]
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
        least = wanted[column.name] if column.is_figure else min(wanted[column.name], max(_least(column), min(words, _LONGEST_WORD)))
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


def _narrow_widths(kept: Sequence[Column], cells: Mapping[str, list[str]], width: int) -> dict[str, int]:
    """Widths of the columns that are always shown, where whole names have no room: in MOST_LINES lines where that fits, else in more.

    The first column, the title, gets what is left over.
    """
    widths = {column.name: _broken(column, cells[column.name], width) for column in kept}
    left = width - _GAP * (len(kept) - 1) - sum(widths.values())
    if left < 0:
        return _widths(kept, cells, width)
    for column in kept:
        more = _broken(column, cells[column.name], MOST_LINES) - widths[column.name]
        if more <= left:
            widths[column.name] += more
            left -= more
    title = kept[0]
    return widths | {title.name: min(_wanted(title, cells[title.name]), widths[title.name] + left)}


def _broken(column: Column, cells: list[str], lines: int) -> int:
    """The least width of a column: whole figures, names in so many lines, prose in any number of them."""
    label, wanted = _longest_word(column.label), _wanted(column, cells)
    if column.is_figure:
        return wanted
    if wanted > _LONGEST_WORD:
        return max(_LEAST_PROSE, label)
    names = set(cells)
    return next(
        (
            width
            for width in range(max(label, 1), wanted)
            if all(len(_lines_of(name, width)) <= lines and _fits(name, width) for name in names)
        ),
        wanted,
    )


def _fits(text: str, width: int) -> bool:
    return all(cell_len(piece.rstrip()) <= width for piece in _PIECE.findall(text))


def _least(column: Column) -> int:
    return _LEAST_SENTENCE.get(column.name, _LEAST_TEXT)


def _wanted(column: Column, cells: list[str]) -> int:
    return max([_longest_word(column.label), *(cell_len(line) for cell in cells for line in cell.split("\n"))])


def _longest_name(column: Column, cells: list[str]) -> int:
    """The width of the longest name in a column, which is not broken; 0 for paths, which are cut."""
    return 0 if column.name in PATHS else max(map(_longest_word, cells), default=0)


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
    if not column.is_figure and column.name not in PATHS:
        value = broken(value, width, MOST_LINES if column.name in SHORTENED else None)
    text = Text(value, style="dim" if value == UNKNOWN else "", overflow="fold")
    return text.append(f"\n{note}", style="dim") if note else text


def broken(text: str, width: int, most: int | None = None) -> str:
    """The text in lines of at most `width`, broken at blanks and behind signs; a part without any is cut in its middle.

    The last of `most` lines ends with an ellipsis where there would be more.
    """
    lines = _lines_of(text, width)
    if most is None or len(lines) <= most:
        return "\n".join(lines)
    return "\n".join([*lines[: most - 1], f"{set_cell_size(lines[most - 1], width - 1).rstrip()}…"])


def _lines_of(text: str, width: int) -> list[str]:
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for piece in _PIECE.findall(text):
        part = piece if cell_len(piece.rstrip()) <= width else _cut(piece.rstrip(), width)
        if cell_len(lines[-1] + part.rstrip()) <= width:
            lines[-1] += part
        else:
            lines.append(part.lstrip())
    return [line.rstrip() for line in lines if line.strip()] or [text]


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


SPELLED = "tachograph-spelled"
"""How to encode text for a terminal: characters that the encoding lacks become `?`, a minus sign a hyphen."""

codecs.register_error(SPELLED, _spelled)


def _printed(table: Table, width: int, encoding: str, *, color: bool) -> bytes:
    """The table in the encoding; what that lacks becomes `?`, a minus sign a hyphen, and rich draws lines in ASCII."""
    memory = io.BytesIO()
    file = io.TextIOWrapper(memory, encoding=encoding, errors=SPELLED, newline="\n")
    console = Console(file=file, width=width, force_terminal=color or None, highlight=False, legacy_windows=False)
    console.print(table)
    file.flush()
    return b"".join(line.rstrip() + b"\n" for line in memory.getvalue().splitlines())
