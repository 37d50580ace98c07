"""Time zones of times in the names of files and folders, by their IANA names."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


@cache
def zone_of(name: str) -> tzinfo:
    """The zone; UTC without a name, and where this machine does not know the zone that another one wrote into the store."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
