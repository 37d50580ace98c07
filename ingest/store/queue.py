"""The queue before a store: whoever writes, and whoever waits, holds a ticket in a folder beside it.

Writers have their turn in order of arrival. A reader waits for one writer alone, the first when it came, and the next writer waits for the
readers that came meanwhile: nobody starves, and a reader never waits for a whole queue of writers (a phase-fair lock).

A ticket is a file whose lock its owner holds: that of a killed process is free at once, and the one behind it removes it. The folder
goes with the last ticket. Processes that know of no queue have DuckDB's own lock alone, so the first in the queue still asks for that.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from ingest.store.own_files import QUEUE
from ingest.system.file_locks import is_locked, lock
from ingest.system.signals import put_off

Kind = Literal["reader", "writer"]

_DOOR = "lock"
"""The file whose lock is held for a moment to take a ticket or to remove one."""

_DOOR_SECONDS = 5.0
_HOST = re.sub(r"[^\w.]", "_", platform.node(), flags=re.ASCII)[:64]
_TICKET = re.compile(r"(?P<number>\d{12})-(?P<kind>reader|writer)-(?P<behind>\d{12})-(?P<pid>\d+)-(?P<host>[\w.]*)", re.ASCII)
"""The name of a ticket. `behind`: the number of the writer that was first when it was taken, 0 where nobody wrote."""


class Keeper(NamedTuple):
    """Who keeps the store from us. `token` changes with the keeper: the store then goes from hand to hand, and waiting pays.

    `who` names the process, `does` says what it does with the store (`writing`, `reading`, `using it`).
    """

    token: str
    who: str
    does: str


class Standing(NamedTuple):
    """Where we stand in the queue: how many tickets we wait for, and who has the store if one of those before us knows."""

    ahead: int
    keeper: Keeper | None


class Ticket:
    """Our place in a queue, held from `take` to `leave`."""

    def __init__(self, queue: Queue, name: str, descriptor: int) -> None:
        self._queue = queue
        self._name = name
        self._descriptor: int | None = descriptor

    def standing(self) -> Standing:
        """Where we stand now. Tickets of the dead are removed."""
        blocking = [name for name in self._queue.tickets() if _goes_before(name, self._name)]
        while blocking and not self._queue.lives(blocking[-1]):
            blocking.pop()
        return Standing(len(blocking), next(filter(None, map(self._queue.keeper, blocking)), None))

    def others(self, keeper: Keeper | None) -> int:
        """How many others wait, the keeper of the store not counted."""
        having = keeper.token if keeper else ""
        return sum(name != self._name and not having.endswith(name) for name in self._queue.tickets())

    def tell(self, keeper: Keeper) -> None:
        """Tell those behind us who has the store."""
        if self._descriptor is None:
            return
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, "\t".join(keeper).encode(), 0)

    def tell_ours(self) -> None:
        """Tell those behind us that it is we who write to the store."""
        self.tell(Keeper(self._name, f"pid {os.getpid()}", "writing"))

    def leave(self) -> None:
        """Give the ticket back, once."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._queue.remove(self._name, descriptor)


class Queue:
    """The tickets beside the store at `place`; there are none where that is None."""

    def __init__(self, place: str | None) -> None:
        self._folder = f"{place}{QUEUE}" if place else ""

    def is_empty(self) -> bool:
        """Whether nobody holds a ticket. Asked at every reading: it costs a look at the folder's name, no more."""
        return not os.path.exists(self._folder)  # noqa: PTH110

    @contextmanager
    def ticket(self, kind: Kind) -> Iterator[Ticket | None]:
        """A ticket for the block; None where files cannot be locked, or not made: whoever has none asks for the store again and again."""
        with contextlib.ExitStack() as stack:
            with put_off():
                ticket = self._take(kind)
                stack.callback(self._left, ticket)
            yield ticket

    def _take(self, kind: Kind) -> Ticket | None:
        if not self._folder:
            return None
        try:
            with self._door() as is_open:
                if not is_open:
                    return None
                tickets = self.tickets()
                number = int(tickets[-1][:12]) + 1 if tickets else 1
                behind = next((name[:12] for name in tickets if "-writer-" in name), "0" * 12)
                name = f"{number:012}-{kind}-{behind}-{os.getpid()}-{_HOST}"
                descriptor = lock(Path(self._folder, name), os.O_CREAT | os.O_EXCL)
        except OSError:
            return None
        return None if descriptor is None else Ticket(self, name, descriptor)

    def _left(self, ticket: Ticket | None) -> None:
        if ticket:
            with put_off():
                ticket.leave()

    def tickets(self) -> list[str]:
        """The names of all tickets, the first first; none where there is no folder."""
        try:
            return sorted(filter(_TICKET.fullmatch, os.listdir(self._folder)))  # noqa: PTH208  asked again and again by whoever waits
        except OSError:
            return []

    def lives(self, name: str) -> bool:
        """Whether the ticket's owner lives; the ticket of a dead one is removed."""
        ticket = Path(self._folder, name)
        if is_locked(ticket):
            return True
        with suppress(OSError), self._door() as is_open:
            if is_open and not is_locked(ticket):  # it may have been asked for between its making and its locking
                ticket.unlink(missing_ok=True)
        return False

    def keeper(self, name: str) -> Keeper | None:
        """Who has the store, as the owner of the first ticket says; None where it has not said so yet."""
        try:
            parts = Path(self._folder, name).read_text(encoding="utf-8").split("\t")
        except (OSError, UnicodeDecodeError):
            return None
        if len(parts) != 3:
            return None
        host = name.split("-", 4)[4]
        return Keeper(*parts) if host == _HOST else Keeper(f"{host} {parts[0]}", f"{parts[1]} on {host}", parts[2])

    def remove(self, name: str, descriptor: int) -> None:
        """Remove our ticket, and the folder where it was the last."""
        with suppress(OSError):
            Path(self._folder, name).unlink(missing_ok=True)
        os.close(descriptor)
        if not self.tickets():
            with suppress(OSError), self._door():
                pass

    @contextmanager
    def _door(self) -> Iterator[bool]:
        """Alone in the folder, which is made for it, and goes at the end where no ticket is in it. False where somebody keeps it too long.

        Raises OSError where there can be no queue.
        """
        door = Path(self._folder, _DOOR)
        descriptor = self._opened(door)
        if descriptor is None:
            yield False
            return
        try:
            yield True
            if not self.tickets():
                door.unlink()
                os.rmdir(self._folder)  # noqa: PTH106
        finally:
            os.close(descriptor)

    def _opened(self, door: Path) -> int | None:
        """The door's lock; whoever removed the folder meanwhile leaves us a lock on nothing, which does not count."""
        deadline = time.monotonic() + _DOOR_SECONDS
        while time.monotonic() < deadline:
            with suppress(FileExistsError):
                os.mkdir(self._folder)  # noqa: PTH102
            descriptor = lock(door)
            if descriptor is not None and _is_at(descriptor, door):
                return descriptor
            if descriptor is not None:
                os.close(descriptor)
            time.sleep(0.002)
        return None


def _is_at(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except OSError:
        return False


def _goes_before(other: str, ours: str) -> bool:
    """Whether we wait for the owner of another ticket."""
    its, mine = other.split("-"), ours.split("-")
    if mine[1] == "reader":
        return its[1] == "writer" and its[0] == mine[2]
    return its[0] < mine[0] if its[1] == "writer" else its[2] < mine[0]
