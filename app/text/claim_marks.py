"""What a run's summary claims, marked in it: how marks of each evidence look, the legend, and lists beside the summary.

Everything but our own words is a stranger's text: HTML is escaped, Markdown is made plain.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.queries.claims import sentence_span
from app.text.highlights import Mark
from app.text.presentation import plain
from app.text.words.claims import EVIDENCE, EVIDENCE_MEANINGS, EVIDENCE_NAMES, claim_title, expectation, statement
from schemas.text import visible

Row = Mapping[str, Any]

STRENGTHS = {
    "benchmarked": (0x36, "3px solid"),
    "figures": (0x2C, "2px solid"),
    "stated": (0x22, "2px dashed"),
    "estimated": (0x16, "2px dotted"),
}
"""Tint (of 255) and underline of a mark by its evidence: better evidence is stronger, also without colours."""

QUALITATIVE = "qualitative"
MOST_AROUND = 1_500
"""The most characters before and behind a sentence that are shown with it."""

SEVERITIES = {
    "error": (":red[:material/error:]", "Error"),
    "warning": (":orange[:material/warning:]", "Warning"),
    "info": (":blue[:material/info:]", "Info"),
}

_LEGEND = "display:flex;flex-wrap:wrap;gap:0.35rem 1.1rem;font-size:0.87em;margin:0 0 0.5rem"
_LIST = "display:grid;grid-template-columns:max-content minmax(0,1fr);gap:0.35rem 1.25rem;margin:0;padding:0;overflow-wrap:anywhere"


def marks_of(claims: Iterable[Row]) -> list[Mark]:
    """A mark for every claim, from rows of `claims`."""
    return [Mark(row["start"], row["end"], mark_style(_look(row)), claim_title(row)) for row in claims]


def around(summary: str, claim: Row) -> tuple[str, list[Mark]]:
    """The paragraphs of a summary around a claim, and the mark of its sentence."""
    found = sentence_span(summary, claim["start"], claim["end"])
    first = max(summary.rfind("\n\n", 0, max(found.start - 1, 0)), 0)
    first = max(summary.rfind("\n\n", 0, first), found.start - MOST_AROUND, 0)
    last = summary.find("\n\n", found.end)
    last = min(len(summary) if last < 0 else last, found.end + MOST_AROUND)
    return summary[first:last], [Mark(found.start - first, found.end - first, mark_style(_look(claim)), claim_title(claim))]


def mark_style(look: str) -> str:
    """The CSS of a mark; text keeps its own colour, so that a tint suits light and dark pages alike."""
    if look == QUALITATIVE:
        return "color:inherit;background:none;text-decoration:underline dotted 1px;text-underline-offset:3px"
    tint, line = STRENGTHS[look]
    return f"color:inherit;background:{EVIDENCE[look]}{tint:02X};border-bottom:{line} {EVIDENCE[look]};border-radius:2px;padding:0 1px"


def _look(row: Row) -> str:
    return QUALITATIVE if row["kind"] == QUALITATIVE else str(row["evidence"])


def legend_html(claims: Sequence[Row]) -> str:
    """What the marks of a summary mean, strongest evidence first, and how many there are of each; empty where there is none."""
    looks = [_look(row) for row in claims]
    meanings = EVIDENCE_MEANINGS | {QUALITATIVE: "claims without a number"}
    named = EVIDENCE_NAMES | {QUALITATIVE: "no number"}
    entries = [
        f'<span title="{html.escape(meaning)}"><mark style="{mark_style(look)}">{named[look]}</mark> {looks.count(look):,}</span>'
        for look, meaning in meanings.items()
        if look in looks
    ]
    return f'<div style="{_LEGEND}">{"".join(entries)}</div>' if entries else ""


def finding_lines(findings: Iterable[Row]) -> str:
    """Findings as a Markdown list: how severe, what was noticed, what was expected and what found."""
    return "\n".join(f"- {_finding(row)}" for row in findings)


def _finding(row: Row) -> str:
    icon, severity = SEVERITIES[row["severity"]]
    told = expectation(row)
    return f"{icon} **{severity}** · {_inline(row['message'])}" + (f"  \n  {_inline(told)}" if told else "")


def _inline(text: str) -> str:
    """A text that stays in its line of a list."""
    return plain(" ".join(text.split()))


def statements_html(statements: Iterable[Row]) -> str:
    """What a summary states beside its claims, as a description list."""
    pairs = [statement(row) for row in statements]
    entries = [
        f'<dt style="margin:0;opacity:0.75">{name}</dt><dd style="margin:0">{html.escape(visible(said))}</dd>' for name, said in pairs
    ]
    return f'<dl style="{_LIST}">{"".join(entries)}</dl>' if entries else ""
