"""Answers as tables for people, and tables in a terminal: which columns, how wide.

Widths are chosen here, rich only draws.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.queries.runs import KNOWN_SUFFIX
from app.text.answers import Answer
from app.text.columns import (
    BOUNDS_COLUMNS,
    BOUNDS_SUFFIX,
    STARTED,
    Pivoted,
    columns,
    with_bounds,
    with_starts,
)
from app.text.formatting import MINUS, UNKNOWN
from app.text.table import Col, Column, TextCell, TextTable
from schemas.catalogue.columns import TOTALS
from schemas.catalogue.metrics import HIGH, LOW, MEDIANS
from schemas.text import one_line, plural, told_apart

TOTAL = "Total"
MOST_ROWS = 2000
"""Rows that are drawn: nobody reads more, and each takes a millisecond."""

PATHS = frozenset({"Source", "File", "Log"})
"""Labels of columns cut at the start, because the ends of paths differ most."""

MOST_COLUMNS, NARROW = 7, 100
"""Columns of a table up to NARROW wide: more are hard to read, and a file has all."""

MOST_LINES = 2
SHORTENED = frozenset({"title", "name", "note", "excluded_reason"})
"""Columns cut to MOST_LINES lines in lists; `tachograph show` has the whole text."""

NAMES = frozenset({"name"})
"""Columns of SHORTENED that are cut where their texts still differ."""

LEAST_TEXT, LONGEST_WORD = 18, 28
"""Least width of a column of texts, and the width up to which names are never broken. Longer ones
break after a sign, or are cut.
"""

_PIECE = re.compile(r"(?:[^-_/.:@+,\s]|(?<=\d)[-.:,](?=\d)|(?<=\bn) (?=\d))*[-_/.:@+,]*\s*")
"""A part of a text that stays on one line. It ends with a sign or a blank. Dates, numbers and `n 4`
are one part.
"""

_GAP = 2
_LINES = box.Box("    \n    \n ── \n    \n ── \n    \n    \n    \n")

SPELLED = "tachograph-spelled"
"""Error handler for encoding terminal text: unsupported characters become `?`, a minus sign a
hyphen (an amount needs its sign).
"""


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(
        "-" if one == MINUS else "?" for one in error.object[error.start : error.end]
    ), error.end


codecs.register_error(SPELLED, _spelled)


@dataclass(frozen=True)
class Drawing:
    """A drawn table, and the labels of the columns that did not fit."""

    body: bytes
    left_out: tuple[str, ...]


class Laid:
    """A column with its cells, the width it wants, and the least.

    Figures are whole, texts broken, names up to LONGEST_WORD whole.

    `noted`: how a cell is written that rests on only some runs. `head`: another label, which may be
    broken after signs, as cells are.
    """

    def __init__(
        self,
        column: Column,
        cells: Iterable[TextCell],
        noted: str = "{}\n{}",
        head: str = "",
    ) -> None:
        self.column, self.name = column, column.name
        self.label = head or one_line(column.label)
        self.is_path = self.label in PATHS
        pairs = ((one_line(cell.plain), one_line(cell.note)) for cell in cells)
        self.cells = [
            noted.format(text, note) if text and note else text or note for text, note in pairs
        ]
        label = (
            max(map(_longest_word, _PIECE.findall(self.label)))
            if head
            else _longest_word(self.label)
        )
        whole = label if column.is_figure else cell_len(self.label)
        self.wanted = max(
            [whole, *(cell_len(line) for cell in self.cells for line in cell.split("\n"))]
        )
        name = (
            0 if self.is_path else min(max(map(_longest_word, self.cells), default=0), LONGEST_WORD)
        )
        self.least = (
            self.wanted if column.is_figure else min(self.wanted, max(LEAST_TEXT, label, name))
        )
        self.floor = self.wanted if column.is_figure else min(self.least, max(10, label))

    def lines(self, number: int, width: int) -> tuple[str, str]:
        """Return a cell in lines of at most `width`, a path cut at its start, and its note."""
        value, _, note = self.cells[number].partition("\n")
        if self.is_path and cell_len(value) > width:
            value = "…" + value[-(width - 1) :]
        elif not self.column.is_figure:
            value = broken(value, width, MOST_LINES if self.name in SHORTENED else None)
        return value, note


def shown_table(answer: Answer, most: int | None = None) -> TextTable:
    """Return the answer for people, with at most so many rows and the total (None: all)."""
    left_out = 0 if most is None else max(answer.table.num_rows - most, 0)
    table = for_people(replace(answer, table=answer.table.slice(0, most)))
    rows = table.to_pylist()
    total = rows[-1] if answer.total is not None else None
    shown = columns(table, answer.of)
    return TextTable(shown, rows, lambda row: "sum" if row is total else "", answer.kept, left_out)


def totals_table(answer: Answer) -> TextTable:
    """Return a single row of figures as a table with a row per figure."""
    table = shown_table(answer)
    [row] = table.rows
    cells = {column.label: column.cell(row) for column in table.columns}
    figure, value, known = (TOTALS[key].label for key in ("figure", "value", "known"))
    shown = (
        Col(figure, lambda one: one[0]),
        Col(value, lambda one: one[1].text, "r"),
        Col(known, lambda one: one[1].note),
    )
    return TextTable(shown, list(cells.items()))


def for_people(answer: Answer) -> pa.Table:
    """Return the chosen columns that have a value, with the total as last row."""
    table = with_bounds(with_starts(answer.table), answer.shown)
    if answer.shown and table.num_rows:
        known = [
            name
            for name in answer.shown[1:]
            if _has_value(table[name]) or isinstance(answer.of.get(name), Pivoted)
        ]
        beside = [f"{name}{KNOWN_SUFFIX}" for name in known]
        beside += [
            one
            for name in known
            if isinstance(about := answer.of.get(name), Pivoted)
            for one in about.sources.values()
        ]
        beside += [
            *BOUNDS_COLUMNS.values(),
            *(f"{name}{BOUNDS_SUFFIX}" for name in known if name not in BOUNDS_COLUMNS),
        ]
        beside += [
            *(f"{name}{end}" for name in known if name in MEDIANS for end in (LOW, HIGH)),
            STARTED,
        ]
        table = table.select(
            dict.fromkeys(
                [answer.shown[0], *known, *(name for name in beside if name in table.column_names)]
            )
        )
    elif answer.shown:
        table = table.select(answer.shown)
    if answer.total is None:
        return table
    first = table.column_names[0]
    total = with_bounds(answer.total).append_column(first, pa.array([TOTAL], pa.string()))
    for name in table.column_names:
        if name not in total.column_names:
            total = total.append_column(
                name, pa.array([" "], pa.string())
            )  # a blank; empty text would count as unknown
    cells = [total[field.name] for field in table.schema]
    row = [  # `cast` would import pyarrow.compute and numpy: 0.15 s
        cell if cell.type == field.type else pa.array(cell.to_pylist(), field.type)
        for cell, field in zip(cells, table.schema, strict=True)
    ]
    return pa.concat_tables([table, pa.table(row, table.schema)])


def _has_value(column: pa.ChunkedArray) -> bool:
    if pa.types.is_map(column.type):
        return any(len(value) for value in column if value.is_valid)
    return bool(column.null_count < len(column))


def draw(
    table: TextTable,
    width: int,
    encoding: str = "utf-8",
    *,
    noted: str = "{}\n{}",
    color: bool = False,
    exact: bool = False,
) -> Drawing:
    """Return a table of at most `width` columns.

    A single row of figures is drawn upright, unrounded if `exact`. `noted`: as in Laid.
    """
    rows = table.cells
    if table.is_one_row_of_figures:
        upright = Table.grid(padding=(0, 2))
        upright.add_column(justify="left", style="bold")
        upright.add_column(justify="right")
        upright.add_column(justify="left", style="dim")
        for column, cell in zip(table.columns, rows[0], strict=True):
            value = one_line(cell.hint or cell.text if exact else cell.text)
            upright.add_row(column.label, value, f"based on {cell.note}" if cell.note else "")
        return Drawing(_printed(upright, width, encoding, color=color), ())
    laid = [Laid(column, cells, noted) for column, *cells in zip(table.columns, *rows, strict=True)]
    widths = chosen_widths(laid, width, table.kept, MOST_COLUMNS if width <= NARROW else None)
    fitting = [one for one in laid if one.name in widths]
    drawn = Table(
        box=_LINES, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for one in fitting:
        justify = "right" if one.column.is_figure else "left"
        drawn.add_column(one.label, width=widths[one.name], justify=justify, vertical="top")  # type: ignore[arg-type]
        if one.name in NAMES and not one.is_path:
            one.cells = told_apart(one.cells, MOST_LINES * widths[one.name])
    for number, row in enumerate(table.rows):
        is_total = table.of_row(row) == "sum"
        if is_total:
            drawn.add_section()
        drawn.add_row(
            *(_text(*one.lines(number, widths[one.name])) for one in fitting),
            style="bold" if is_total else "",
        )
    body = _printed(drawn, width, encoding, color=color)
    if table.left_out:
        cut = f"{plural(table.left_out, 'more row')} not shown; --format csv has all.\n"
        body += cut.encode(encoding, errors="replace")
    return Drawing(body, tuple(one.label for one in laid if one.name not in widths))


def chosen_widths(
    laid: Sequence[Laid], width: int, kept: Sequence[str], most: int | None = None
) -> dict[str, int]:
    """Return the widths of the columns that fit, in order, at most `most`.

    Columns in `kept` come before all others and may be narrower.

    Spare room goes to texts, to paths last.
    """
    left, chosen = width + _GAP, dict[str, int]()
    for one in sorted(laid, key=lambda one: one.name not in kept):
        least = one.floor if one.name in kept else one.least
        if chosen and (least + _GAP > left or len(chosen) == most):
            break
        chosen[one.name] = min(least, width)
        left -= least + _GAP
    fitting = [one for one in laid if one.name in chosen]
    for one in sorted(fitting, key=lambda one: one.is_path):
        more = max(0, min(left, one.wanted - chosen[one.name]))
        chosen[one.name] += more
        left -= more
    return {one.name: chosen[one.name] for one in fitting}


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _text(value: str, note: str) -> Text:
    """Return a cell as plain text, never markup: notes and unknowns faint."""
    text = Text(value, style="dim" if value == UNKNOWN else "", overflow="fold")
    return text.append(f"\n{note}", style="dim") if note else text


def broken(text: str, width: int, most: int | None = None) -> str:
    """Return the text in lines of at most `width`, broken at blanks and after signs.

    The last of `most` lines ends with an ellipsis.
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
        part = piece
        if cell_len(piece.rstrip()) > width:
            part = piece.rstrip()
            if cell_len(part) == len(
                part
            ):  # cut in its middle; wide characters may be broken anywhere
                head, tail = (width - 1) // 2, width - 1 - (width - 1) // 2
                part = f"{part[:head]}…{part[-tail:]}"
        if cell_len(lines[-1] + part.rstrip()) <= width:
            lines[-1] += part
        else:
            lines.append(part.lstrip())
    return [line.rstrip() for line in lines if line.strip()] or [text]


def _printed(table: Table, width: int, encoding: str, *, color: bool) -> bytes:
    memory = io.BytesIO()
    file = io.TextIOWrapper(memory, encoding=encoding, errors=SPELLED, newline="\n")
    console = Console(
        file=file, width=width, force_terminal=color or None, highlight=False, legacy_windows=False
    )
    console.print(table)
    file.flush()
    return b"".join(line.rstrip() + b"\n" for line in memory.getvalue().splitlines())
