"""Places of groups along a calendar: days, weeks or months without a run keep their place, and the last one has its label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from typing import Any

MOST_PLACES = 120
"""The most places that gaps are filled up to: more bars would be too thin to see."""

MOST_LABELS = 16

_DAY, _WEEK, _MONTH = re.compile(r"\d{4}-\d{2}-\d{2}"), re.compile(r"\d{4}-W\d{2}"), re.compile(r"\d{4}-\d{2}")


def filled(groups: Sequence[str | None]) -> list[str | None]:
    """The groups with the periods that are missing between the first and the last; a group without a period stays last."""
    named = [group for group in groups if group is not None]
    rest: list[str | None] = [None] if None in groups else []
    walk = next((walk for pattern, walk in _WALKS if named and all(map(pattern.fullmatch, named))), None)
    if walk is None:
        return list(groups)
    found: list[str | None] = []
    for period in walk(named[0]):
        found.append(period)
        if period >= named[-1]:
            break
        if len(found) > MOST_PLACES:
            return list(groups)
    return [*found, *rest]


def _days(first: str, step: int = 1, pattern: str = "%Y-%m-%d") -> Iterator[str]:
    at = date.fromisoformat(f"{first}-1" if _WEEK.fullmatch(first) else first)
    while True:
        yield at.strftime(pattern)
        at += timedelta(days=step)


def _weeks(first: str) -> Iterator[str]:
    return _days(first, 7, "%G-W%V")


def _months(first: str) -> Iterator[str]:
    year, month = map(int, first.split("-"))
    while True:
        yield f"{year:04d}-{month:02d}"
        year, month = year + month // 12, month % 12 + 1


_WALKS: tuple[tuple[re.Pattern[str], Callable[[str], Iterator[str]]], ...] = ((_DAY, _days), (_WEEK, _weeks), (_MONTH, _months))


def labels(names: Sequence[str], most: int = MOST_LABELS) -> dict[str, Any]:
    """Ticks for bars in a row: every one, or every nth counted from the last, so that the last has its label."""
    step = -(-len(names) // most) or 1
    places = list(range(len(names) - 1, -1, -step))[::-1]
    return {"tickvals": places, "ticktext": [names[place] for place in places], "tickangle": -45 if len(names) > most // 2 else 0}
