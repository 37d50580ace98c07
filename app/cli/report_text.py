"""A whole report as a terminal shows it: its first page, then its sections one below the other."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from app.cli.output import hidden_columns
from app.reports.budgets import cells
from app.reports.cost_report import Report, Section
from app.reports.first_page import FirstPage, TopList
from app.text.answers import Answer
from app.text.formatting import human
from app.text.text_tables import SPELLED, draw
from schemas.catalogue.columns import CHECKS
from schemas.catalogue.entry import Entry
from schemas.text import one_line
from schemas.units import Unit

MOST_IMPORTANT = ("totals", "groups", "what_if")
"""The sections that a terminal shows unless it is asked for all."""

LONGEST_NAME = 40
"""Characters of a name in a list of the first page."""


def report_text(
    report: Report, width: int, encoding: str = "utf-8", *, color: bool = False, exact: bool = False, whole: bool = True
) -> bytes:
    """The report in at most `width` columns; columns without room are named beneath their table.

    `whole` False leaves out what only some readers ask for: all but the most important totals, and the sections behind the groups.
    """
    sections = report.shown if whole else [section for section in report.shown if section.key in MOST_IMPORTANT]
    parts = [_all_totals(section) if whole and section.key == "totals" else section for section in sections]
    about = _lines(report.header.lines(), width) if whole else ""
    head = _answer(report.first, width, color=color).encode(encoding, errors=SPELLED)
    head += draw(_agents(report.first), width, encoding, color=color).body if report.first.agents else b""
    head += _first_page(report.first, color=color).encode(encoding, errors=SPELLED)
    budgets = _budgets(report.first, width, encoding, color=color)
    notes = _notes(report.first, width, color=color).encode(encoding, errors=SPELLED)
    body = b"".join(_section(section, width, encoding, color=color, exact=exact) for section in parts)
    end = f"\n{_bold('About this report', color=color)}\n{about}" if about else ""
    return head + budgets + notes + body + end.encode(encoding, errors=SPELLED)


def _answer(page: FirstPage, width: int, *, color: bool) -> str:
    """Title, what it is about, and the sentence of the Overview."""
    more = "".join(f"{_folded(text, width, 0)}\n" for text in page.more)
    head = f"{_bold(one_line(page.title), color=color)}\n{_lines(page.lines, width)}"
    return f"{head}\n{_bold(_folded(page.answer, width, 0), color=color)}\n{more}\n"


def _agents(page: FirstPage) -> Answer:
    """The table of agents."""
    head, *lines = page.agent_table
    table = pa.table({name: pa.array([line[place] for line in lines], pa.string()) for place, name in enumerate(head)})
    return Answer(table, "", of={name: Entry(name, name) for name in head})


def _first_page(page: FirstPage, *, color: bool) -> str:
    """Figures and top lists."""
    figures = _aligned([(one.label, one.value, one.note) for one in page.figures], color=color)
    tops = "".join(f"\n{_bold(top.title, color=color)}\n{_top(top)}" for top in page.named_tops)
    return f"\n{figures}{tops}"


def _notes(page: FirstPage, width: int, *, color: bool) -> str:
    notes = "".join(f"{_folded(f'- {note}', width)}\n" for note in page.notes)
    return f"\n{_bold('Notes', color=color)}\n{notes}"


def _folded(text: str, width: int, indent: int = 2) -> str:
    """The text in lines of at most `width`; those behind the first are indented."""
    return textwrap.fill(one_line(text), width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def _lines(lines: Sequence[tuple[str, str]], width: int) -> str:
    label_width = max((len(label) for label, _ in lines), default=0)
    return "".join(f"{_folded(f'{label:<{label_width}}  {text}', width, label_width + 2)}\n" for label, text in lines)


def _aligned(rows: Sequence[tuple[str, str, str]], *, color: bool) -> str:
    labels = max(len(label) for label, _, _ in rows)
    values = max(len(value) for _, value, _ in rows)
    return "".join(
        f"{_bold(f'{label:<{labels}}', color=color)}  {value:>{values}}  {one_line(note)}".rstrip() + "\n" for label, value, note in rows
    )


def _top(top: TopList) -> str:
    named = [(_short(one_line(one.name)), top.sign + human(one.usd, Unit.USD), human(one.share, Unit.SHARE)) for one in top.shares]
    return _columns(named)


def _columns(rows: Sequence[tuple[str, str, str]]) -> str:
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    return "".join(f"{name:<{widths[0]}}  {usd:>{widths[1]}}  {share:>{widths[2]}}\n" for name, usd, share in rows)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _budgets(page: FirstPage, width: int, encoding: str, *, color: bool) -> bytes:
    """The verdicts, as `check` shows them; nothing where no budget was given."""
    if not page.budgets:
        return b""
    lines = [cells(verdict) for verdict in page.budgets]
    table = pa.table({name: pa.array([line[name] for line in lines], pa.string()) for name in lines[0]})
    title = f"\n{_bold('Budgets', color=color)}\n".encode(encoding, errors=SPELLED)
    return title + draw(Answer(table, "", of=CHECKS), width, encoding, color=color).body


def _all_totals(section: Section) -> Section:
    return replace(section, answer=replace(section.answer, shown=()))


def _section(section: Section, width: int, encoding: str, *, color: bool, exact: bool) -> bytes:
    drawing = draw(section.answer, width, encoding, color=color, exact=exact)
    left_out = f"{_folded(hidden_columns(drawing.left_out), width)}\n" if drawing.left_out else ""
    note = f"{_folded(section.note, width)}\n" if section.note else ""
    title = f"\n{_bold(one_line(section.title), color=color)}\n{note}"
    return title.encode(encoding, errors=SPELLED) + drawing.body + left_out.encode(encoding, errors=SPELLED)


def _bold(text: str, *, color: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if color else text
