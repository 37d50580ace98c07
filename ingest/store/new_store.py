"""A store that is not there yet: made under another name, and given its own when it is whole.

So at no moment does a half-made file bear the store's name. What a kill leaves under the other name, the next writer removes.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from ingest.store.own_files import MAKING, WRITE_AHEAD_LOGS, remove_database
from ingest.system.file_locks import sole_use
from ingest.system.signals import put_off
from schemas.errors import StoreBusy

_HEADERS_BYTES = 3 * 4096
"""The first three blocks of a DuckDB file. One that is no longer has no content: a table takes a block of 16 KiB or more."""

_MAGIC = b"DUCK"
_VERSIONS = 1 << 16
"""Bytes 8 to 11 of every DuckDB file, and what the number in the next eight is below: no text has the zeros of so small a number."""


def is_blank(place: str, descriptor: int | None = None) -> bool:
    """Whether the file is no store yet: empty, or DuckDB's headers alone, as a kill between its making and its first write leaves it.

    A write-ahead log beside whole headers may hold all the content: such a file is not blank. `descriptor`: of the file, where it is
    open. Raises OSError.
    """
    has_log = any(os.path.exists(f"{place}{end}") for end in WRITE_AHEAD_LOGS)  # noqa: PTH110  before its size: it goes as the file grows
    found = os.stat(place)  # noqa: PTH116
    if not stat.S_ISREG(found.st_mode) or found.st_size > _HEADERS_BYTES or (found.st_size == _HEADERS_BYTES and has_log):
        return False
    return not found.st_size or _begins_as_database(place, descriptor)


def _begins_as_database(place: str, descriptor: int | None) -> bool:
    if descriptor is None:
        with open(place, "rb") as file:  # noqa: PTH123  so small a file is attached by nobody here, see file_locks.sole_use
            return _begins_as_database(place, file.fileno())
    os.lseek(descriptor, 0, os.SEEK_SET)
    begin = os.read(descriptor, 20)
    return begin[8:12] == _MAGIC and 0 < int.from_bytes(begin[12:20], "little") < _VERSIONS


class NewStore:
    """A store in the making at `path`, to be put at `place`. A blank file there is held meanwhile, so that nobody else fills it."""

    def __init__(self, place: str) -> None:
        """Raises BlockingIOError where somebody else fills the blank file just now, OSError."""
        self._place = place
        self._blank = _held_blank(place)
        for end in WRITE_AHEAD_LOGS:  # of a store that is no more: DuckDB would take them for the new one's
            Path(f"{place}{end}").unlink(missing_ok=True)
        self.path = Path(f"{place}{MAKING}{os.getpid()}-{secrets.token_hex(4)}")

    def put_in_place(self) -> None:
        """Give the store its name. Raises StoreBusy where somebody else made one meanwhile, which stays as it is; OSError."""
        if self._blank is not None:
            self.path.replace(self._place)
            return
        try:
            os.link(self.path, self._place)
        except FileExistsError as error:
            raise self._came_meanwhile() from error
        except OSError:  # no links here
            if os.path.lexists(self._place):
                raise self._came_meanwhile() from None
            self.path.rename(self._place)

    def discard(self) -> None:
        """Remove what is left under the other name: nothing that is in place."""
        discard(self.path)
        if self._blank is not None:
            os.close(self._blank)

    def _came_meanwhile(self) -> StoreBusy:
        return StoreBusy(
            f"another process made a store at {self._place} meanwhile: nothing was written.", "Run the command again: it adds to that one."
        )


def discard(place: Path) -> None:
    """Remove a database that is of no use any more, as far as that can be done."""
    with put_off(), suppress(OSError):
        remove_database(place)


def _held_blank(place: str) -> int | None:
    if not os.path.lexists(place):
        return None
    descriptor = sole_use(Path(place))
    if descriptor is None or not is_blank(place, descriptor):
        if descriptor is not None:
            os.close(descriptor)
        raise BlockingIOError
    return descriptor
