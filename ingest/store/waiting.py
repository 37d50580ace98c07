"""Patience with a store that somebody else has: how long, told in which words, and when it ends."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest.store.queue import Keeper, Ticket
from schemas.errors import StoreBusy

TOLD_AFTER_SECONDS = 0.5
"""A shorter wait is not worth a word."""

_FIRST_SECONDS, _LONGEST_SECONDS = 0.005, 0.25
"""How long the first of the queue sleeps before it looks again, and the longest that anyone behind it sleeps."""

_HOLDER = re.compile(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")


T = TypeVar("T")


class Held(Exception):
    """Somebody has the store just now; `keeper` says who, if that is known."""

    def __init__(self, keeper: Keeper | None) -> None:
        super().__init__()
        self.keeper = keeper


class Patience:
    """Counts the time in which the same one keeps the store. While it goes from hand to hand, waiting goes on."""

    def __init__(self, location: str, seconds: float, on_wait: Callable[[str], object]) -> None:
        self._location = location
        self._seconds = seconds
        self._on_wait = on_wait
        self._began = self._counted_from = time.monotonic()
        self._keeper: Keeper | None = None
        self._said: str | None = None

    def wait_for_turn(self, ticket: Ticket | None) -> None:
        """Return once nobody is before us in the queue; at once without a ticket. Raises StoreBusy."""
        while ticket and (standing := ticket.standing()).ahead:
            self._wait(standing.keeper, ticket, standing.ahead)

    def repeat(self, attempt: Callable[[], T], ticket: Ticket | None) -> T:
        """What `attempt` returns once it does not raise Held any more. Raises StoreBusy."""
        while True:
            try:
                return attempt()
            except Held as held:
                if ticket and held.keeper:
                    ticket.tell(held.keeper)
                self._wait(held.keeper, ticket)

    def _wait(self, keeper: Keeper | None, ticket: Ticket | None, ahead: int = 0) -> None:
        """Sleep a moment. `keeper`: who has the store, where that is known; `ahead`: how many tickets we wait for.

        Raises StoreBusy once the same one has kept the store for too long.
        """
        now = time.monotonic()
        if keeper and self._keeper and keeper.token != self._keeper.token:
            self._counted_from = now
        self._keeper = keeper or self._keeper
        if now - self._counted_from >= self._seconds:
            raise self._busy(ticket.others(self._keeper) if ticket else 0)
        if now - self._began >= min(TOLD_AFTER_SECONDS, self._seconds):
            self._tell()
        time.sleep(min(_FIRST_SECONDS * (ahead + 1), _LONGEST_SECONDS) * random.uniform(0.5, 1.5))  # noqa: S311

    def _tell(self) -> None:
        """Say who has the store, once for each that has it."""
        keeper = self._keeper or Keeper("", "", "using it")
        subject = "this process, for somebody else," if keeper.who == f"pid {os.getpid()}" else "another process"
        said = f"Waiting for {self._location}: {subject} is {keeper.does}{f' ({keeper.who})' if keeper.who else ''}"
        if said != self._said:
            self._said = said
            self._on_wait(said)

    def _busy(self, others: int) -> StoreBusy:
        by = f"by {self._keeper.who}" if self._keeper else "by another process"
        queue = f", and {others} more wait for it" if others > 1 else ", and one more waits for it" if others else ""
        return StoreBusy(
            f"{self._location} is held {by}{queue}; gave up after {self._seconds:g} s.",
            "Close the other program, or wait longer with --wait SECONDS.",
        )


def keeper_in(error: duckdb.Error, *, read_only: bool) -> Keeper:
    """Who has the store, from DuckDB's message to one who wants it `read_only` or not. It names no process where it is our own."""
    found = _HOLDER.search(str(error))
    who = f"pid {found['pid']}, {Path(found['program']).name}" if found else f"pid {os.getpid()}"
    return Keeper(f"held by {who}", who, "writing" if read_only else "using it")
