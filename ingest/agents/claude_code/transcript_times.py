"""Times of the lines of a transcript.

Claude Code writes `2026-02-01T10:00:00.000Z`. Such times are compared as text, which costs a tenth of reading them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeGuard

from ingest.agents.shared.runs import ActiveTime, By
from ingest.sources.times import event_time

PLAIN_LENGTH = len("2026-02-01T10:00:00.000Z")


def is_plain(stamp: object) -> TypeGuard[str]:
    """Whether a time is written as Claude Code does."""
    return type(stamp) is str and len(stamp) == PLAIN_LENGTH and stamp[-1] == "Z" and stamp[0] == "2"


@dataclass
class Stamps:
    """The first and the last time of the lines, and the time in which the agent worked.

    `odd`: the first and the last of those that are written otherwise.
    """

    first: str = "9"
    last: str = ""
    odd: list[datetime] = field(default_factory=list)
    active: ActiveTime = field(default_factory=ActiveTime)

    def note(self, stamp: Any, by: By = By.OTHERS) -> None:
        """Note the time of a line, however it is written, and who made what it tells."""
        if stamp is not None:
            self.active.note(event_time(stamp), by)
        if is_plain(stamp):
            self.last = max(self.last, stamp)
            self.first = min(self.first, stamp)
        elif stamp is not None and (time := event_time(stamp)):
            self.odd = [min((*self.odd, time)), max((*self.odd, time))]

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """The first and the last time."""
        times = [time for time in (event_time(self.first), event_time(self.last), *self.odd) if time]
        return min(times, default=None), max(times, default=None)
