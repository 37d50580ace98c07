"""When a limit of the account resets, by the message that says that it was reached.

Early versions write a Unix time (`Claude AI usage limit reached|1756400400`), later ones a time of day with its zone (`You've hit your
limit · resets 3pm (Europe/Berlin)`). Without a zone it is not known which time that is. A date is that of a weekly limit, which no window
of hours has.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_EXAMINED = 500
_UNIX = re.compile(r"limit reached\|(\d{9,11})\b", re.IGNORECASE)
_OF_DAY = re.compile(r"\bresets?(?: at)? (\d{1,2})(?::(\d{2}))? ?(am|pm)? \(([A-Za-z_+-]+(?:/[A-Za-z_+-]+)*)\)", re.IGNORECASE)


def reset_time(text: str, told_at: datetime | None) -> datetime | None:
    """The time in UTC; None where the message has none. `told_at`: when it was written; a time of day is the next one behind that."""
    if unix := _UNIX.search(text, 0, _EXAMINED):
        return datetime.fromtimestamp(int(unix[1]), UTC)
    found = _OF_DAY.search(text, 0, _EXAMINED)
    return _next(told_at, *found.groups()) if found and told_at else None


def _next(told_at: datetime, hour: str, minute: str | None, half: str | None, zone: str) -> datetime | None:
    hours = int(hour) % 12 + 12 * (half.lower() == "pm") if half else int(hour)
    try:
        here = told_at.astimezone(ZoneInfo(zone))
        at = here.replace(hour=hours, minute=int(minute or 0), second=0, microsecond=0)
    except (ValueError, OSError, KeyError):  # no such time, or no such zone
        return None
    return (at if at > here else at + timedelta(days=1)).astimezone(UTC)
