"""Tables for people: columns and rows, described once and drawn by each renderer.

Here for a screen and a phone; `text_tables` draws them for a terminal, `app.reports.exports` as
Markdown, LaTeX, pages and workbooks. A column is one of the store (`columns.ShownColumn`) or is
made for one question (`Col`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from app.queries import Row
from app.queries.filters import Filters
from app.queries.grouping import EFFORT
from app.queries.spending import Spend
from app.text import html_parts
from app.text.formatting import NOT_MEASURED, NOT_RECORDED, UNKNOWN, agent_name, model_name, usd
from app.text.html_parts import Segment, anchor, link, mark, muted
from schemas.catalogue.cost_measures import NEARLY_ALL
from schemas.text import join_known, one_line
from schemas.units import Unit

NO_DATE = "no date"
_MISSING = frozenset((UNKNOWN, NOT_RECORDED, NOT_MEASURED, NO_DATE))
"""Texts of cells without a value, drawn muted."""

LONG = 32
"""Characters of a text that a page may break into lines."""


@dataclass(frozen=True, slots=True)
class TextCell:
    """A cell of several parts: below its bar the mark (HTML), `strong` and `text`, a muted note.

    `kind`: CSS class of the text. `address`: where a click leads. `hint`: shown on hovering, a
    figure without rounding. `number`: the value and its unit, for a workbook.
    """

    text: str = ""
    note: str = ""
    strong: str = ""
    kind: str = ""
    address: str = ""
    hint: str = ""
    mark: str = ""
    bar: Sequence[Segment] = ()
    number: tuple[Any, Unit] | None = None

    def __str__(self) -> str:
        """Return the cell as plain text: `$0.14 · 1 of 15`."""
        return join_known(" · ", self.plain, self.note)

    @property
    def plain(self) -> str:
        """The cell as plain text without its note."""
        return self.strong + self.text

    @property
    def in_brackets(self) -> str:
        """The same with the note in brackets: `$0.14 (1 of 15)`."""
        return f"{self.plain} ({self.note})" if self.plain and self.note else str(self)

    @property
    def html(self) -> str:
        label = html_parts.text(self.text)
        label = f"<b>{html_parts.text(self.strong)}</b>{label}" if self.strong else label
        if self.address:
            label = anchor(self.address, label, kind=self.kind)
        elif self.kind or self.text in _MISSING:
            label = f'<span class="{self.kind or "t-n"}">{label}</span>'
        if self.mark:
            label = f'<span class="t-agent">{self.mark}{label}</span>'
        label = join_known(" ", label, muted(self.note))
        if self.bar:
            label = f'{html_parts.bar(self.bar)}<div class="t-bt">{label}</div>'
        return f'<span title="{html_parts.text(self.hint)}">{label}</span>' if self.hint else label


class Column(Protocol):
    """A column: its label (a line end where it may break), CSS class, and the cell of a row.

    `name` is unique in its table. `header`: a shorter label. `meaning`: shown on hovering over the
    label. `mark`: HTML before it.
    """

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def header(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def mark(self) -> str: ...
    @property
    def is_figure(self) -> bool: ...
    def cell(self, row: Any) -> TextCell: ...


@dataclass(frozen=True, slots=True)
class Col:
    """A column made by hand. `kind`: `r` right-aligned, `w` wrapped label."""

    label: str
    write: Callable[[Any], TextCell | str]
    kind: str = ""
    meaning: str = ""
    mark: str = ""

    @property
    def name(self) -> str:
        return self.label

    @property
    def header(self) -> str:
        return self.label

    @property
    def is_figure(self) -> bool:
        return self.kind.startswith("r")

    def cell(self, row: Any) -> TextCell:
        cell = self.write(row)
        return TextCell(cell) if isinstance(cell, str) else cell


@dataclass(frozen=True)
class TextTable:
    """Columns and rows.

    `of_row`: CSS class of a row; `m` marks a part of the row above, `sum` the total. Columns in
    `kept` get room first. `left_out`: the number of further rows.
    """

    columns: Sequence[Column]
    rows: Sequence[Any]
    of_row: Callable[[Any], str] = lambda _: ""
    kept: Sequence[str] = ()
    left_out: int = 0

    @property
    def filled(self) -> TextTable:
        """The table without columns that have no value."""
        kept = [
            column
            for column in self.columns
            if any(str(column.cell(row)) not in ("", *_MISSING) for row in self.rows)
        ]
        return TextTable(kept, self.rows, self.of_row)

    @property
    def is_one_row_of_figures(self) -> bool:
        """Whether it is drawn upright: a figure a line."""
        return len(self.rows) == 1 and all(column.is_figure for column in self.columns)

    @property
    def cells(self) -> list[list[TextCell]]:
        """The cells of each row as text; parts of a row begin with a dash."""
        drawn = []
        for row in self.rows:
            first, *others = (column.cell(row) for column in self.columns)
            if self.of_row(row) == "m":
                first = replace(first, text=f"– {first.text}")
            drawn.append([first, *others])
        return drawn

    def html(self, *, kind: str = "", frame: str = "t-scroll") -> str:
        """Return the table for a page; `frame` is the class of the element around it."""
        titles = "".join(map(_head, self.columns))
        body = ""
        for row in self.rows:
            body += f'<tr class="{self.of_row(row)}">'
            for column in self.columns:
                cell = column.cell(row)
                long = "" if column.kind or len(cell.text) <= LONG else "long"
                body += f'<td class="{column.kind}{long}">{cell.html}</td>'
            body += "</tr>"
        drawn = (
            f'<table class="t-table {kind}"><thead><tr>{titles}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )
        tab = ' tabindex="0"' if "t-tall" in frame else ""  # arrow keys scroll what has the focus
        return f'<div class="{frame}"{tab}>{drawn}</div>' if frame else drawn

    @property
    def cards(self) -> str:
        """A card per row for a phone, without parts of rows and without unknown values."""
        if not self.columns:
            return ""
        head, *others = self.columns
        drawn = ""
        for row in self.rows:
            if self.of_row(row) == "m":
                continue
            lines = f'<div class="row"><span>{head.cell(row).html}</span></div>'
            for column in others:
                cell = column.cell(row)
                if cell.bar:
                    lines += cell.html
                elif cell.mark or str(cell) not in ("", UNKNOWN, NOT_MEASURED):
                    lines += line(one_line(column.label), cell)
            drawn += f'<div class="t-card">{lines}</div>'
        return drawn

    def on_any_screen(self, *, kind: str = "", legend: str = "") -> str:
        """Return the table for a wide page and its cards for a phone, each with the legend."""
        return (
            f'<div class="t-wide">{self.html(kind=kind, frame="")}{legend}</div>'
            f'<div class="t-phone">{self.cards}{legend}</div>'
        )


def _head(column: Column) -> str:
    label = "<br>".join(map(html_parts.text, column.label.split("\n")))
    if column.mark:
        label = f'<span class="t-agent">{column.mark}{label}</span>'
    if meaning := html_parts.text(column.meaning):
        label = f'<span title="{meaning}">{label}</span>'
    if not label:  # a cell without a title heads nothing
        return f'<td class="{column.kind}"></td>'
    return f'<th scope="col" class="{column.kind}">{label}</th>'


def line(name: str, cell: TextCell) -> str:
    """Return a name and a value as a line of a card."""
    return f'<div class="row"><span>{html_parts.text(name)}</span><span>{cell.html}</span></div>'


def card(figures: Mapping[str, str]) -> str:
    """Return names and values as a card."""
    lines = "".join(line(name, TextCell(value)) for name, value in figures.items())
    return f'<div class="t-card">{lines}</div>'


def credit_words(paid: Iterable[tuple[str, float]]) -> str:
    """Return `3 premium requests`."""
    return " + ".join(
        f"{f'{number:,.2f}'.rstrip('0').rstrip('.')} "
        f"{unit.removesuffix('s') if number == 1 else unit}"
        for unit, number in paid
    )


def money_cell(spend: Spend, nothing: str = "") -> TextCell:
    """Return a sum with its bounds, and how many costs are known if one in ten is not.

    Credits stand beside it, or in its place.
    """
    paid = credit_words(spend.credits)
    if spend.usd is None:
        return TextCell(paid or (NOT_RECORDED if spend.runs else nothing))
    is_part = 0 < spend.known < NEARLY_ALL * spend.runs
    known = f"{spend.known:,} of {spend.runs:,}" if is_part else ""
    known = join_known(", ", known, paid)
    number = (spend.usd, Unit.USD)
    return TextCell(usd(spend.usd, spend.bounds), known, hint=f"${spend.usd:f}", number=number)


def run_cell(run: Row, filters: Filters) -> TextCell:
    """Return the title of a run as a link to its page."""
    return TextCell(run["title"], address=link("run", filters, run=run["run_id"]), kind="t-link")


def agent_cell(agent: str | None, note: str, filters: Filters, hint: str = "") -> TextCell:
    """Return an agent with its mark as a link that filters by it; the note is its model."""
    address = link("", filters.with_values("agent", [agent])) if agent else ""
    return TextCell(agent_name(agent), note, "", "t-plain", address, hint, mark(agent))


def agent_and_model_cell(
    agent: str | None, model: str | None, filters: Filters, effort: str | None = None
) -> TextCell:
    """Return the same with the model and its effort, and a link that filters by them."""
    chosen = filters.with_values("main-model", [model]) if model else filters
    chosen = chosen.with_values(EFFORT, [effort]) if effort else chosen
    return agent_cell(agent, model_name(model, effort=effort), chosen, model or "")


def count(number: int | None) -> str:
    """Return a count, `–` for none."""
    return f"{number:,}" if number else UNKNOWN
