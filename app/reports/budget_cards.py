"""Budgets as cards of a screen: what is left of the total, and how the worst run or day compares with its limit."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from app.reports.budgets import Verdict
from app.reports.first_page import TOTAL_BUDGET
from app.text.formatting import human
from app.text.presentation import Card, Colour, plain

NEARLY = Decimal("0.8")
"""The part of a budget from which its card is amber."""


def budget_cards(verdicts: Sequence[Verdict]) -> list[Card]:
    """A card per budget. The note says PASS or FAIL: green, amber from NEARLY of a maximum on, red."""
    return [_card(verdict) for verdict in verdicts]


def _card(verdict: Verdict) -> Card:
    allowed = human(verdict.allowed, verdict.unit)
    about = f"{verdict.limit.help} Runs: those that match the filters. {plain(verdict.note)}".strip()
    if verdict.limit.key == TOTAL_BUDGET:
        return Card("Budget left", human(verdict.left, verdict.unit), about, f"{verdict.word}, of {allowed}", _colour(verdict))
    bound = "at least" if verdict.limit.is_least else "at most"
    found = human(verdict.found, verdict.unit)
    return Card(verdict.limit.label, found, about, f"{verdict.word}, {bound} {allowed}", _colour(verdict))


def _colour(verdict: Verdict) -> Colour:
    if not verdict.passed:
        return "red"
    is_near = not verdict.limit.is_least and verdict.found is not None and verdict.found > verdict.allowed * NEARLY
    return "orange" if is_near else "green"
