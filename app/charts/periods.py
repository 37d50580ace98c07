"""Places of groups along a calendar: hours, days, weeks or months without a run keep their place, and the last one has its label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any

MOST_PLACES = 120
"""The most places that gaps are filled up to: more bars would be too thin to see."""

MOST_LABELS = 16

_HOUR = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:00")
_DAY, _WEEK, _MONTH = re.compile(r"\d{4}-\d{2}-\d{2}"), re.compile(r"\d{4}-W\d{2}"), re.compile(r"\d{4}-\d{2}")


def filled(groups: Sequence[str | None]) -> list[str | None]:
    """The groups with the periods that are missing between the first and the last; a group without a period stays last."""
    rest: list[str | None] = [None] if None in groups else []
    found = _walked([group for group in groups if group is not None])
    return [*found, *rest] if found else list(groups)


def is_sparse(groups: Sequence[str]) -> bool:
    """Whether periods between these have no place: there are too many of them."""
    return _walk_of(groups) is not None and not _walked(groups)


def _walked(named: Sequence[str]) -> list[str]:
    """All periods from the first to the last; empty where the groups are no periods, or far more than have room."""
    found: list[str] = []
    if walk := _walk_of(named):
        for period in walk(named[0]):
            found.append(period)
            if period >= named[-1]:
                return found
            if len(found) > MOST_PLACES:
                break
    return []


def _walk_of(named: Sequence[str]) -> Callable[[str], Iterator[str]] | None:
    return next((walk for pattern, walk in _WALKS if named and all(map(pattern.fullmatch, named))), None)


def _hours(first: str) -> Iterator[str]:
    at = datetime.fromisoformat(first)
    while True:
        yield at.strftime("%Y-%m-%d %H:00")
        at += timedelta(hours=1)


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


_WALKS: tuple[tuple[re.Pattern[str], Callable[[str], Iterator[str]]], ...] = (
    (_HOUR, _hours),
    (_DAY, _days),
    (_WEEK, _weeks),
    (_MONTH, _months),
)


def labels(names: Sequence[str], most: int = MOST_LABELS) -> dict[str, Any]:
    """Ticks for bars in a row: every one, or every nth counted from the last, so that the last has its label."""
    step = -(-len(names) // most) or 1
    places = list(range(len(names) - 1, -1, -step))[::-1]
    return {"tickvals": places, "ticktext": [names[place] for place in places], "tickangle": -45 if len(names) > most // 2 else 0}
