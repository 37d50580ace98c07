"""Tables of figures in words: described once, drawn for a screen, a phone, or as plain text.

Tables of columns of the store are those of `columns`; these are made for one question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.queries.filters import Filters
from app.text import html_parts
from app.text.formatting import NOT_MEASURED, NOT_RECORDED, UNKNOWN, agent_name, model_name
from app.text.html_parts import Segment, anchor, link, mark, muted

NO_DATE = "no date"
_MISSING = frozenset((UNKNOWN, NOT_RECORDED, NOT_MEASURED, NO_DATE))
"""Texts of cells without a value, drawn muted."""


@dataclass(frozen=True, slots=True)
class TextCell:
    """A cell of several parts: below its bar the mark (HTML), `strong` and `text`, a muted note.

    `kind`: CSS class of the text. `address`: where a click leads. `hint`: shown on hovering.
    """

    text: str = ""
    note: str = ""
    strong: str = ""
    kind: str = ""
    address: str = ""
    hint: str = ""
    mark: str = ""
    bar: Sequence[Segment] = ()

    def __str__(self) -> str:
        """Return the cell as plain text: `$0.14 · 1 of 15`."""
        return " · ".join(filter(None, (self.strong + self.text, self.note)))

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
        label = " ".join(filter(None, (label, muted(self.note))))
        if self.bar:
            label = f'{html_parts.bar(self.bar)}<div class="t-bt">{label}</div>'
        return f'<span title="{html_parts.text(self.hint)}">{label}</span>' if self.hint else label


@dataclass(frozen=True, slots=True)
class Col:
    """A column: title (a line end where it may break), the cell of a row, and CSS class.

    `r` right-aligned, `w` wrapped title. `hint`: shown on hovering over the title.
    `mark`: HTML before it.
    """

    title: str
    cell: Callable[[Any], TextCell | str]
    kind: str = ""
    hint: str = ""
    mark: str = ""

    @property
    def html(self) -> str:
        title = "<br>".join(map(html_parts.text, self.title.split("\n")))
        if self.mark:
            title = f'<span class="t-agent">{self.mark}{title}</span>'
        return f'<span title="{html_parts.text(self.hint)}">{title}</span>' if self.hint else title


@dataclass(frozen=True)
class TextTable:
    """Columns and rows. `of_row`: CSS class of a row; `m` marks a part of the row above."""

    columns: Sequence[Col]
    rows: Sequence[Any]
    of_row: Callable[[Any], str] = lambda _: ""

    @property
    def filled(self) -> TextTable:
        """The table without columns that have no value."""
        kept = [
            column
            for column in self.columns
            if any(str(column.cell(row)) not in _MISSING for row in self.rows)
        ]
        return TextTable(kept, self.rows, self.of_row)

    def html(self, *, kind: str = "", frame: str = "t-scroll") -> str:
        """Return the table for a screen; `frame` is the class of the element around it."""
        titles = "".join(
            f'<th scope="col" class="{column.kind}">{column.html}</th>' for column in self.columns
        )
        body = "".join(
            f'<tr class="{self.of_row(row)}">'
            + "".join(
                f'<td class="{column.kind}">{_cell(column, row).html}</td>'
                for column in self.columns
            )
            + "</tr>"
            for row in self.rows
        )
        drawn = (
            f'<table class="t-table {kind}"><thead><tr>{titles}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )
        return f'<div class="{frame}">{drawn}</div>' if frame else drawn

    @property
    def cards(self) -> str:
        """A card per row for a phone, without parts of rows and without unknown values."""
        head, *others = self.columns
        drawn = ""
        for row in self.rows:
            if self.of_row(row) == "m":
                continue
            lines = f'<div class="row"><span>{_cell(head, row).html}</span></div>'
            for column in others:
                cell = _cell(column, row)
                if cell.bar:
                    lines += cell.html
                elif str(cell) not in (UNKNOWN, NOT_MEASURED):
                    lines += line(column.title.replace("\n", " "), cell)
            drawn += f'<div class="t-card">{lines}</div>'
        return drawn

    def on_any_screen(self, *, kind: str = "", legend: str = "") -> str:
        """Return the table for a wide page and its cards for a phone, each with the legend."""
        return (
            f'<div class="t-wide">{self.html(kind=kind, frame="")}{legend}</div>'
            f'<div class="t-phone">{self.cards}{legend}</div>'
        )

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """The table in plain text, its header first."""
        return [
            tuple(column.title.replace("\n", " ") for column in self.columns),
            *(
                tuple(
                    f"{'– ' if not place and self.of_row(row) == 'm' else ''}{column.cell(row)}"
                    for place, column in enumerate(self.columns)
                )
                for row in self.rows
            ),
        ]


def _cell(column: Col, row: Any) -> TextCell:
    cell = column.cell(row)
    return TextCell(cell) if isinstance(cell, str) else cell


def line(name: str, cell: TextCell) -> str:
    """Return a name and a value as a line of a card."""
    return f'<div class="row"><span>{html_parts.text(name)}</span><span>{cell.html}</span></div>'


def card(figures: Mapping[str, str]) -> str:
    """Return names and values as a card."""
    lines = "".join(line(name, TextCell(value)) for name, value in figures.items())
    return f'<div class="t-card">{lines}</div>'


def run_cell(run: Mapping[str, Any], filters: Filters) -> TextCell:
    """Return the title of a run as a link to its page."""
    return TextCell(run["title"], address=link("run", filters, run=run["run_id"]), kind="t-link")


def agent_cell(agent: str | None, note: str, filters: Filters, hint: str = "") -> TextCell:
    """Return an agent with its mark as a link that filters by it; the note is its model."""
    address = link("", filters.with_values("agent", [agent])) if agent else ""
    return TextCell(agent_name(agent), note, "", "t-plain", address, hint, mark(agent))


def agent_and_model_cell(agent: str | None, model: str | None, filters: Filters) -> TextCell:
    """Return the same with the model, and a link that filters by both."""
    chosen = filters.with_values("main-model", [model]) if model else filters
    return agent_cell(agent, model_name(model), chosen, model or "")


def count(number: int | None) -> str:
    """Return a count, `–` for none."""
    return f"{number:,}" if number else UNKNOWN
