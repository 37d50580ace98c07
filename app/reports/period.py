"""The period of a report, and the period before it, which its cost is compared with.

A period is chosen by the filters `--since` and `--until`. Whole months are compared with as many months before, any other period with
one of the same length. Without `--since` a report begins with the first run, so that nothing is before it.
"""

from __future__ import annotations

from calendar import month_name
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from app.queries.filters import Filters, moment
from app.queries.grouping import UTC_ZONE, known_zone
from app.text.formatting import UNKNOWN_NAME

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Period:
    """From `start` to before `end`, in UTC; None where nothing is known. `is_chosen`: its start is that of the filter."""

    start: datetime | None
    end: datetime | None
    is_chosen: bool = False

    def words(self, zone: str = UTC_ZONE) -> str:
        """`March 2026`, `2026-03-01 to 2026-03-15`, or with hours where it does not begin or end with a day of the zone."""
        if self.start is None or self.end is None:
            return UNKNOWN_NAME
        start, end = (_in_zone(time, zone) for time in (self.start, self.end))
        if not self.is_chosen:
            return _days(start, end)
        if not (_is_midnight(start) and _is_midnight(end)):
            return f"{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} {zone}"
        if _months(start, end) == 1:
            return f"{month_name[start.month]} {start.year}"
        return _days(start, end - timedelta(microseconds=1))

    def before(self) -> Period | None:
        """The period before it: the same number of months, else the same length. None where the report begins with the first run."""
        if not self.is_chosen or self.start is None or self.end is None:
            return None
        months = _months(self.start, self.end)
        try:
            start = _earlier(self.start, months) if months else self.start - (self.end - self.start)
        except (OverflowError, ValueError):  # before the year 1
            return None
        return Period(start, self.start, is_chosen=True)

    def filters(self, others: Filters) -> Filters:
        """The filters of the runs of this period."""
        start, end = ([time.astimezone(UTC).isoformat()] if time else [] for time in (self.start, self.end))
        return others.with_values("since", start).with_values("until", end)

    def as_dict(self) -> dict[str, Any]:
        """The period for programs."""
        return {"from": self.start, "to": self.end}


def period_of(filters: Filters, covers: Mapping[str, Any], made_at: datetime, zone: str = UTC_ZONE) -> Period:
    """The period of the filters, open ends closed by the runs (`covers` is `app.queries.cost.coverage`). Its days are those of the zone.

    Since a date means until today: a week without runs costs nothing, and is a part of the period.
    """
    since, until = (_moment(filters, key, zone) for key in ("since", "until"))
    if since is None:
        return Period(covers["first_at"], until or covers["last_at"])
    if until is None:
        until = _end_of_day(max(filter(None, (since, made_at, covers["last_at"]))), zone)
    return Period(since, until, is_chosen=since < until)


def _moment(filters: Filters, key: str, zone: str) -> datetime | None:
    value = next(iter(filters.values(key)), None)
    time = moment(value, zone=known_zone(zone)) if value else None
    return None if time is None else _in_zone(time, zone)


def _end_of_day(time: datetime, zone: str) -> datetime:
    try:
        return time.astimezone(known_zone(zone)).replace(hour=0, minute=0, second=0, microsecond=0) + _DAY
    except OverflowError:  # the last day of the year 9999
        return datetime.max.replace(tzinfo=UTC)


def _in_zone(time: datetime, zone: str) -> datetime:
    try:
        return time.astimezone(known_zone(zone))
    except OverflowError:  # beyond the years 1 to 9999 there
        return time


def _days(first: datetime, last: datetime) -> str:
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _is_midnight(time: datetime) -> bool:
    return time.time() == datetime.min.time()


def _months(start: datetime, end: datetime) -> int:
    """How many whole calendar months lie between two moments; 0 where they are no beginnings of months."""
    is_whole = all(_is_midnight(time) and time.day == 1 for time in (start, end))
    return (end.year - start.year) * 12 + end.month - start.month if is_whole else 0


def _earlier(start: datetime, months: int) -> datetime:
    """The beginning of the month that is so many months earlier."""
    year, month = divmod(start.year * 12 + start.month - 1 - months, 12)
    return start.replace(year=year, month=month + 1)
