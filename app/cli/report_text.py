"""A whole report as a terminal shows it: what it covers, then its sections one below the other."""

from __future__ import annotations

from app.reports.cost_report import Report, Section
from app.text.text_tables import draw
from schemas.text import one_line


def report_text(report: Report, width: int, encoding: str = "utf-8", *, color: bool = False, exact: bool = False) -> bytes:
    """The report in at most `width` columns; columns without room are named beneath their table."""
    words = [(word, one_line(text)) for word, text in report.header.lines()]
    about = "".join(f"{word:<10} {text}\n" for word, text in words)
    head = f"{_bold(report.header.title, color=color)}\n{about}".encode(encoding, errors="replace")
    return head + b"".join(_section(section, width, encoding, color=color, exact=exact) for section in report.shown)


def hidden_columns(labels: tuple[str, ...]) -> str:
    """The columns that a table has no room for, and how to see them."""
    return f"Hidden columns: {', '.join(labels)} (widen the terminal or use --format csv)"


def _section(section: Section, width: int, encoding: str, *, color: bool, exact: bool) -> bytes:
    drawing = draw(section.answer, width, encoding, color=color, exact=exact)
    left_out = f"{hidden_columns(drawing.left_out)}\n" if drawing.left_out else ""
    note = f"{one_line(section.note)}\n" if section.note else ""
    title = f"\n{_bold(one_line(section.title), color=color)}\n{note}"
    return title.encode(encoding, errors="replace") + drawing.body + left_out.encode(encoding, errors="replace")


def _bold(text: str, *, color: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if color else text
