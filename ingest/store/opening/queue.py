"""The queue for a store: every process that writes or waits has a ticket in a folder beside it.

Writers take turns in order of arrival. A reader waits for only one writer, the first one at its arrival; the next writer then waits for the
readers that arrived meanwhile. So nobody starves, and a reader never waits for a whole queue of writers (a phase-fair lock).

A ticket is a file that is locked by its owner. The lock of a killed process is released at once, and the next process removes its ticket.
The folder is removed with the last ticket. Programs without this queue have only DuckDB's lock, so the first in the queue still needs it.
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

from ingest.store.opening.own_files import QUEUE
from ingest.system.file_locks import is_locked, lock
from ingest.system.signals import put_off

Kind = Literal["reader", "writer"]

_FOLDER_LOCK = "lock"
"""The file that is locked for a moment while a ticket is made or removed."""

_FOLDER_LOCK_SECONDS = 5.0
_HOST = re.sub(r"[^\w.]", "_", platform.node(), flags=re.ASCII)[:64]
_TICKET = re.compile(r"(?P<number>\d{12})-(?P<kind>reader|writer)-(?P<behind>\d{12})-(?P<pid>\d+)-(?P<host>[\w.]*)", re.ASCII)
"""The name of a ticket. `behind`: the number of the first writer at the time when it was made, 0 where nobody wrote."""


class Holder(NamedTuple):
    """The process that holds the store. `token` is another one for each holder: a change means that the queue moves.

    `who`: the process; `does`: what it does with the store (`writing`, `reading`, `using it`).
    """

    token: str
    who: str
    does: str


class Position(NamedTuple):
    """A place in the queue: number of tickets ahead, and the holder of the store if the owner of one of them knows it."""

    ahead: int
    holder: Holder | None


class Ticket:
    """Our ticket in a queue, until `leave`."""

    def __init__(self, queue: Queue, name: str, descriptor: int) -> None:
        self._queue = queue
        self._name = name
        self._descriptor: int | None = descriptor

    def position(self) -> Position:
        """Our place now. Tickets of dead processes are removed."""
        blocking = [name for name in self._queue.tickets() if _goes_before(name, self._name)]
        while blocking and not self._queue.lives(blocking[-1]):
            blocking.pop()
        return Position(len(blocking), next(filter(None, map(self._queue.holder, blocking)), None))

    def others(self, holder: Holder | None) -> int:
        """Number of other tickets, without the holder of the store."""
        having = holder.token if holder else ""
        return sum(name != self._name and not having.endswith(name) for name in self._queue.tickets())

    def tell(self, holder: Holder) -> None:
        """Write the holder of the store into our ticket, for the processes behind us."""
        if self._descriptor is None:
            return
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, "\t".join(holder).encode(), 0)

    def tell_ours(self) -> None:
        """Write into our ticket that this process writes to the store."""
        self.tell(Holder(self._name, f"pid {os.getpid()}, tachograph", "writing"))

    def leave(self) -> None:
        """Remove the ticket; further calls do nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._queue.remove(self._name, descriptor)


class Queue:
    """The queue of the store at `place`; None: no queue."""

    def __init__(self, place: str | None) -> None:
        self._folder = f"{place}{QUEUE}" if place else ""

    def is_empty(self) -> bool:
        """Whether there is no ticket. Called at every reading, so it only tests whether the folder exists."""
        return not os.path.exists(self._folder)  # noqa: PTH110

    @contextmanager
    def ticket(self, kind: Kind) -> Iterator[Ticket | None]:
        """A ticket for the block; None where files cannot be locked or made: then the process polls the store."""
        with contextlib.ExitStack() as stack:
            with put_off():
                ticket = self._take(kind)
                stack.callback(self._left, ticket)
            yield ticket

    def _take(self, kind: Kind) -> Ticket | None:
        if not self._folder:
            return None
        try:
            with self._folder_lock() as is_open:
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
        """The names of all tickets in order; none where there is no folder."""
        try:
            return sorted(filter(_TICKET.fullmatch, os.listdir(self._folder)))  # noqa: PTH208  called often by waiting processes
        except OSError:
            return []

    def lives(self, name: str) -> bool:
        """Whether the owner of a ticket lives. The ticket of a dead process is removed."""
        ticket = Path(self._folder, name)
        if is_locked(ticket):
            return True
        with suppress(OSError), self._folder_lock() as is_open:
            if is_open and not is_locked(ticket):  # it may have been new: made, but not locked yet
                ticket.unlink(missing_ok=True)
        return False

    def holder(self, name: str) -> Holder | None:
        """The holder of the store by a ticket; None where its owner has not written it yet."""
        try:
            parts = Path(self._folder, name).read_text(encoding="utf-8").split("\t")
        except (OSError, UnicodeDecodeError):
            return None
        if len(parts) != 3:
            return None
        host = name.split("-", 4)[4]
        return Holder(*parts) if host == _HOST else Holder(f"{host} {parts[0]}", f"{parts[1]} on {host}", parts[2])

    def remove(self, name: str, descriptor: int) -> None:
        """Remove our ticket, and the folder after the last one."""
        with suppress(OSError):
            Path(self._folder, name).unlink(missing_ok=True)
        os.close(descriptor)
        if not self.tickets():
            with suppress(OSError), self._folder_lock():
                pass

    @contextmanager
    def _folder_lock(self) -> Iterator[bool]:
        """Exclusive use of the folder, which is made first and removed afterwards if it has no ticket. False after a timeout.

        Raises OSError where there can be no queue.
        """
        lock_file = Path(self._folder, _FOLDER_LOCK)
        descriptor = self._opened(lock_file)
        if descriptor is None:
            yield False
            return
        try:
            yield True
            if not self.tickets():
                lock_file.unlink()
                os.rmdir(self._folder)  # noqa: PTH106
        finally:
            os.close(descriptor)

    def _opened(self, lock_file: Path) -> int | None:
        """A descriptor with the lock of the folder; None after a timeout. A lock in a folder that was removed meanwhile does not count."""
        deadline = time.monotonic() + _FOLDER_LOCK_SECONDS
        while time.monotonic() < deadline:
            with suppress(FileExistsError):
                os.mkdir(self._folder)  # noqa: PTH102
            descriptor = lock(lock_file)
            if descriptor is not None and _is_at(descriptor, lock_file):
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
    """Whether the other ticket is ahead of ours."""
    its, mine = other.split("-"), ours.split("-")
    if mine[1] == "reader":
        return its[1] == "writer" and its[0] == mine[2]
    return its[0] < mine[0] if its[1] == "writer" else its[2] < mine[0]
