"""Points in time as logs, file names and folders write them; nothing outside 2000–2100 is a time.

A time without a zone is UTC; names of files and folders may use another zone, given at the ingest.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_SECONDS = (_FIRST.timestamp(), _LAST.timestamp())
_LONGEST = 40
_DATE = r"(20\d\d)(?:-(\d\d)-|_(\d\d)_|\.(\d\d)\.|(\d\d))(\d\d)"
_CLOCK = r"(\d\d)[-_:.]?(\d\d)[-_:.]?(\d\d)(?:[-_.,](\d{3}|\d{6})(?=Z))?"

_IN_A_LINE = re.compile(
    rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z|[+-]\d\d:?\d\d)?(?![0-9A-Za-z])"
)
TIME_PATTERN = (
    r"20\d\d[-_.]?\d\d[-_.]?\d\d(?:[T_ @-]?\d\d[-_:.]?\d\d(?:[-_:.]?\d\d(?:[-_.,]\d{1,"
    r"6})?)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{13}|\d{9,10}(?:\.\d{1,9})?"
)
"""Source of a pattern that finds in a longer name whatever `lenient_time` reads."""


def event_time(value: object) -> datetime | None:
    """Return the `timestamp` of an event: ISO 8601, or Unix time in seconds or milliseconds.

    None for anything else.
    """
    return _iso(value) if isinstance(value, str) else unix_time(value)


def written_time(text: object) -> datetime | None:
    """Return a time in ISO 8601 with its zone, if it has one.

    None for anything else, and outside 2000–2100.
    """
    try:
        time = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return time if time and _FIRST.year <= time.year < _LAST.year else None


def unix_time(value: object) -> datetime | None:
    """Return the time for Unix time in seconds or milliseconds.

    They are distinguished by size: both cannot be in 2000–2100.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for seconds in (value, value / 1000 if abs(value) < 1e15 else 0):
        if _SECONDS[0] <= seconds < _SECONDS[1]:
            return datetime.fromtimestamp(seconds, UTC)
    return None


def lenient_time(text: str, zone: tzinfo = UTC) -> datetime | None:
    """Return a time from the name of a file or folder, or None.

    `zone` applies if the name has none.

    Examples: `2026-01-27_15-16-21`, `20260127T151621Z`, ISO 8601, a date alone, Unix time.
    """
    if len(text) > _LONGEST:
        return None
    if found := re.fullmatch(
        rf"{_DATE}(?:[T_ @-]?(\d\d)[-_:.]?(\d\d)(?:[-_:.]?(\d\d)(?:[-_.,](\d{{1,6}}))?)?)?"
        r"((?:Z|[+-]\d\d:?\d\d)?)",
        text,
        flags=re.ASCII,
    ):
        return _from_parts(found, zone)
    if re.fullmatch(r"\d{9,13}(\.\d{1,9})?", text, re.ASCII):
        return unix_time(float(text))
    return _iso(text, zone)


def time_of_path(name: str, zone: tzinfo = UTC) -> datetime | None:
    """Return the start time in a file name or path: `claude_output_2026-02-22_18-36-35.log`.

    Only a full date with a full time counts; of several, the last one, which is the nearest to the
    file. `zone` applies if the name has none, as is usual.
    """
    times = [
        _from_parts(found, zone)
        for found in re.finditer(
            rf"(?<![0-9A-Za-z]){_DATE}[T_ @-]?{_CLOCK}(Z?)(?![0-9A-Za-z])",
            name[-4096:],
            flags=re.ASCII,
        )
    ]
    return next(filter(None, reversed(times)), None)


def time_of_line(before: bytes) -> datetime | None:
    """Return the time in the prefix of a log line: `[2025-11-30T17:40:06.182Z] [INFO] `.

    Mostly None.
    """
    found = _IN_A_LINE.search(before) if before else None
    return _iso(found[0].decode().replace(" Z", "Z")) if found else None


def shifted(time: datetime, milliseconds: int) -> datetime | None:
    """Return the time some milliseconds later; None outside 2000–2100."""
    try:
        return plausible(time + timedelta(milliseconds=milliseconds))
    except OverflowError:
        return None


def _iso(text: str, zone: tzinfo = UTC) -> datetime | None:
    if len(text) > _LONGEST:
        return None
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is not UTC:
            time = (time.replace(tzinfo=zone) if time.tzinfo is None else time).astimezone(UTC)
        return time if _FIRST <= time < _LAST else None
    except (ValueError, OverflowError):
        return None


def plausible(time: datetime) -> datetime | None:
    """Return the time, or None outside 2000–2100."""
    return time if _FIRST <= time < _LAST else None


def _from_parts(found: re.Match[str], zone: tzinfo) -> datetime | None:
    year, *months, day, hour, minute, second, fraction, zone_text = found.groups()
    month = next(filter(None, months))
    digits = f".{fraction:0<6}" if fraction else ""
    clock = f"T{hour}:{minute}:{second or '00'}{digits}{zone_text}" if hour else ""
    return _iso(f"{year}-{month}-{day}{clock}", zone)


@cache
def zone_of(name: str) -> tzinfo:
    """Return the zone by name.

    UTC for an empty name, and for a name that this machine does not know.
    """
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
