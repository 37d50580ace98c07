"""The page of what is new since a look: for a terminal, a chat, and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.queries.daily import CHOSEN, Daily
from app.queries.filters import Filters
from app.queries.landed import LandedMoney
from app.queries.months import MonthBudget
from app.queries.reading import Undated
from app.reports.exports.text import escaped
from app.reports.exports.text import markdown as table_of
from app.text import daily as words
from app.text.formatting import multiple, usd
from app.text.landed import landed_words
from app.text.table import Col, TextTable
from app.text.text_tables import draw
from schemas.text import one_line


@dataclass(frozen=True)
class New:
    """What is new in a period: its daily work, budgets of the month, what landed, the filters.

    `undated`: runs that are in no period.
    """

    found: Daily
    budgets: Mapping[str, MonthBudget]
    landed: LandedMoney | None
    undated: Undated
    filters: Filters


def _lines(new: New) -> list[str]:
    """Return the first sentences: what it cost, how runs ended, what landed, what is not sure."""
    said, spend = words.daily(new.found, new.filters), new.found.total[CHOSEN].usd
    lines = [said.heading, said.second]
    if spend is not None and (usual := new.found.usual_weekdays_usd):
        lines.append(
            f"That is {multiple(spend / usual)} the usual of these weekdays, {usd(usual)}."
        )
    if new.landed:
        lines.append(f"{landed_words(new.landed)}.")
    lines += [f"{one.text}." for one in words.doubts(new.found, new.undated, new.filters)]
    return [*filter(None, lines)]


def _looks(new: New) -> TextTable:
    columns = [Col("What", lambda look: look.kind), Col("Needs a look", lambda look: look.sentence)]
    return TextTable(columns, words.looks(new.found, new.budgets, new.filters))


def _projects(new: New) -> TextTable | None:
    rows = words.project_rows(new.found)
    return words.project_table(new.found, rows, new.budgets, new.filters) if rows else None


def plain(new: New, width: int, encoding: str) -> bytes:
    """Return the page for a terminal."""
    head = "\n".join(map(one_line, _lines(new))).replace("**", "")
    tables = [table for table in (_projects(new), _looks(new)) if table]
    drawn = [draw(table, width, encoding).body for table in tables]
    return b"\n".join((f"{head}\n".encode(encoding, "replace"), *drawn))


def markdown(new: New) -> str:
    """Return the page as Markdown, its first line a heading."""
    first, *others = ("**".join(map(escaped, line.split("**"))) for line in _lines(new))
    tables = [table_of(table) for table in (_projects(new), _looks(new)) if table]
    return "\n\n".join((f"### {first}", *others, *tables)) + "\n"


def as_dict(new: New) -> dict[str, Any]:
    """Return the page for programs."""
    found = new.found
    spend = found.total[CHOSEN]
    return {
        "since": found.begin,
        "until": min(found.end, found.now),
        "runs": spend.runs,
        "cost_usd": spend.usd,
        "cost_bounds": spend.bounds or None,
        "usual_usd": found.usual_weekdays_usd,
        "projects": [
            {"project": name, "cost_usd": of[CHOSEN].usd}
            for name, of in found.spends.items()
            if CHOSEN in of
        ],
        "looks": [{"kind": one.kind, "sentence": one.sentence} for one in _looks(new).rows],
        "landed": new.landed and vars(new.landed),
        "undated_runs": new.undated.runs,
    }
