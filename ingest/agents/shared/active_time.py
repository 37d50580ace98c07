"""The time in which the agent of a session worked, of all the time from its first event to its last.

A session waits for its user: overnight, over lunch. So only the gaps before an answer of the model and before the result of a tool count;
what comes before a prompt, and before lines that the program writes by itself, does not. A gap of more than five minutes counts only while
a tool ran: hardly a request takes so long, but a computer sleeps, and a limit of the account is waited for.
"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta
from enum import IntEnum

LONGEST_ANSWER = timedelta(minutes=5)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LONGEST = LONGEST_ANSWER // _MICROSECOND


class By(IntEnum):
    """Who made an event."""

    OTHERS = 0
    MODEL = 1
    TOOL = 2


class ActiveTime:
    """The moments of a session's events, in any order: eight bytes each.

    `before`: the active time and the last moment of earlier readings of its log, in microseconds.
    """

    def __init__(self) -> None:
        self.before: tuple[int, int] | None = None
        self._moments = array("q")

    def note(self, time: datetime | None, by: By = By.OTHERS) -> None:
        """Note the time of an event, where it has one."""
        if time:
            self._moments.append((time - _EPOCH) // _MICROSECOND * len(By) + by)

    def until(self, end: datetime | None = None) -> tuple[int, int] | None:
        """Active time and last moment, in microseconds, of the events before `end`; of all without one. None where no event has a time."""
        active, last = self.before or (0, None)
        limit = None if end is None else (end - _EPOCH) // _MICROSECOND
        for moment in sorted(self._moments):
            at, by = divmod(moment, len(By))
            if limit is not None and at >= limit:
                break
            gap = 0 if last is None else max(0, at - last)
            if by == By.TOOL or (by == By.MODEL and gap <= _LONGEST):
                active += gap
            last = at if last is None else max(at, last)
        return None if last is None else (active, last)

    @property
    def ms(self) -> int | None:
        """The active time in milliseconds; None where no event has a time."""
        found = self.until()
        return None if found is None else round(found[0] / 1000)
