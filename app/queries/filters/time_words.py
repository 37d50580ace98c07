"""Times as people write them in `--since` and `--until`: `2026-11-20`, `2026-03`, `7d`, `yesterday`, `last month`.

A day, week or month means the moment at which it begins, in UTC or another zone. So `--since 'last month' --until 'this month'`
is the whole of last month.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta, tzinfo

DAYS = {"d": 1, "w": 7}
_AGO = re.compile(r"(\d{1,4})([dw])")
_MONTH = re.compile(r"(\d{4})-(\d{2})")

WORDS = ("today", "yesterday", "this week", "last week", "this month", "last month")
EXAMPLES = f"2026-11-20, 2026-11-20T14:00+01:00, 2026-03, 7d, {', '.join(WORDS)}"

PRESETS = {
    "Last 7 days": ("7d", ""),
    "Last 30 days": ("30d", ""),
    "This month": ("this month", ""),
    "Last month": ("last month", "this month"),
}
"""Periods to choose by one click: what `--since` and `--until` are then."""


def this_moment() -> datetime:
    """Now, or the time that SOURCE_DATE_EPOCH says: the same store then gives the same bytes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC).replace(microsecond=0)


def moment(text: str, now: datetime | None = None, zone: tzinfo = UTC) -> datetime | None:
    """The moment that a text means; None where it means none. `zone` is that of days, and of a time that names none."""
    words = " ".join(text.lower().replace("-", " ").split()) if text[:1].isalpha() else text.strip()
    today = (now or this_moment()).astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if found := _AGO.fullmatch(words.lower()):
            return today - timedelta(days=int(found[1]) * DAYS[found[2]])
        if found := _MONTH.fullmatch(words):
            return datetime(int(found[1]), int(found[2]), 1, tzinfo=zone)
        time = _named(words, today) or datetime.fromisoformat(words)
    except (ValueError, OverflowError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=zone)


def _named(words: str, today: datetime) -> datetime | None:
    monday, first = today - timedelta(days=today.weekday()), today.replace(day=1)
    moments = (
        today,
        today - timedelta(days=1),
        monday,
        monday - timedelta(days=7),
        first,
        (first - timedelta(days=1)).replace(day=1),
    )
    return dict(zip(WORDS, moments, strict=True)).get(words)
