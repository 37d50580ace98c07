"""The time in a UUID of version 7: its first 48 bits are Unix milliseconds."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from ingest.sources.times import unix_time


def is_uuid(text: str | None) -> bool:
    """Whether a text is a UUID, of any version: then it is unique wherever it was made."""
    try:
        return bool(text) and UUID(text).int != 0
    except ValueError:
        return False


def time_of_uuid(text: str | None) -> datetime | None:
    """The time (UTC) in a UUID of version 7; None for any other text."""
    if not text or not is_uuid(text) or UUID(text).version != 7:
        return None
    return unix_time(UUID(text).int >> 80)
