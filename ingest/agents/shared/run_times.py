"""How long a run took, in milliseconds."""

from __future__ import annotations

from datetime import datetime


def milliseconds_between(started_at: datetime | None, ended_at: datetime | None) -> int | None:
    """None where a time is not known, or the end is before the start."""
    return round((ended_at - started_at).total_seconds() * 1000) if started_at and ended_at and ended_at >= started_at else None
