"""Waiting for a store that another process holds: how long, with which messages, and when to give up."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest.store.opening.queue import Holder, Ticket
from schemas.errors import StoreBusy

TOLD_AFTER_SECONDS = 0.3
"""After this time a message is shown: with the start of a command that is within a second."""

_FIRST_SECONDS, _LONGEST_SECONDS = 0.005, 0.25
"""Sleep between two attempts: of the first in the queue, and the longest of those behind it."""

_HELD = ("Could not set lock", "Conflicting lock", "Unique file handle conflict", "different configuration", "database is locked")
_HOLDER = re.compile(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")


T = TypeVar("T")


class StoreHeld(Exception):
    """Another process holds the store; `holder`: which one, if that is known."""

    def __init__(self, holder: Holder | None) -> None:
        super().__init__()
        self.holder = holder


class Wait:
    """Measures for how long the same process holds the store. Each new holder starts the time again."""

    def __init__(self, location: str, seconds: float, on_wait: Callable[[str], object]) -> None:
        self.location = location
        self._seconds = seconds
        self._on_wait = on_wait
        self._began = self._counted_from = time.monotonic()
        self._keeper: Holder | None = None
        self._said: str | None = None

    def wait_for_turn(self, ticket: Ticket | None) -> None:
        """Wait until nobody is ahead in the queue; without a ticket, do not wait. Raises StoreBusy."""
        while ticket and (position := ticket.position()).ahead:
            self._wait(position.holder, ticket, position.ahead)

    def repeat(self, attempt: Callable[[], T], ticket: Ticket | None, ahead: int = 0) -> T:
        """Call `attempt` until it does not raise StoreHeld, and return its value. Raises StoreBusy.

        `ahead`: as many as are thought to wait before us, where no ticket says it: the more, the less often it is called.
        """
        while True:
            try:
                return attempt()
            except StoreHeld as held:
                if ticket and held.holder:
                    ticket.tell(held.holder)
                self._wait(held.holder, ticket, ahead)

    def _wait(self, holder: Holder | None, ticket: Ticket | None, ahead: int = 0) -> None:
        """Sleep for a short time. `holder`: the holder of the store, if known; `ahead`: number of tickets ahead of ours.

        Raises StoreBusy once the same process has held the store for too long.
        """
        now = time.monotonic()
        if holder and self._keeper and holder.token != self._keeper.token:
            self._counted_from = now
        self._keeper = holder or self._keeper
        if now - self._counted_from >= self._seconds:
            raise self._busy(ticket.others(self._keeper) if ticket else 0)
        if now - self._began >= min(TOLD_AFTER_SECONDS, self._seconds):
            self._tell()
        time.sleep(min(_FIRST_SECONDS * (ahead + 1), _LONGEST_SECONDS) * random.uniform(0.5, 1.5))  # noqa: S311

    def _tell(self) -> None:
        """Show a message on who holds the store and how long we wait, once for each holder."""
        holder = self._keeper or Holder("", "", "using it")
        is_ours = holder.who.partition(",")[0] == f"pid {os.getpid()}"
        subject = "another request of this process" if is_ours else "another process"
        who = f" ({holder.who})" if holder.who else ""
        said = f"Waiting up to {self._seconds:g} s for {self.location}: {subject} is {holder.does}{who}"
        if said != self._said:
            self._said = said
            self._on_wait(said)

    def _busy(self, others: int) -> StoreBusy:
        by = f"by {self._keeper.who}" if self._keeper else "by another process"
        queue = f", and {others} more are waiting" if others > 1 else ", and one more is waiting" if others else ""
        return StoreBusy(
            f"{self.location} is locked {by}{queue}; timed out after {self._seconds:g} s.",
            "Close the other program, or wait longer with --wait SECONDS.",
        )


def holder_in(error: duckdb.Error, *, read_only: bool) -> Holder:
    """The holder of the store, from the message of DuckDB, which names no process where it is this one."""
    found = _HOLDER.search(str(error))
    who = f"pid {found['pid']}, {Path(found['program']).name}" if found else f"pid {os.getpid()}"
    return Holder(f"held by {who}", who, "writing" if read_only else "using it")


def is_held(error: duckdb.Error) -> bool:
    """Whether another process holds the store."""
    return any(words in str(error) for words in _HELD)
