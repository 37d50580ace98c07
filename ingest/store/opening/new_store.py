"""A new store: made under a temporary name, and renamed when it is complete.

So no incomplete file ever has the name of the store. The next writer removes a file that a killed process left under a temporary name.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from ingest.store.opening.own_files import MAKING, WRITE_AHEAD_LOGS, remove_database
from ingest.system.file_locks import sole_use
from ingest.system.signals import put_off
from schemas.errors import StoreBusy

_HEADERS_BYTES = 3 * 4096
"""The headers of a DuckDB file: its first three blocks. A file without more has no content, since a table needs 16 KiB or more."""

_MAGIC = b"DUCK"
_VERSIONS = 1 << 16
"""_MAGIC: bytes 8 to 11 of every DuckDB file. Its version in the next eight bytes is below _VERSIONS; text has no such zeros."""


def is_blank(place: str, descriptor: int | None = None) -> bool:
    """Whether the file is no store yet: empty, or only DuckDB's headers, as after a kill before the first write.

    A write-ahead log beside complete headers may have all the content: then the file is not blank. `descriptor`: of the file, if it is
    open. Raises OSError.
    """
    has_log = any(os.path.exists(f"{place}{end}") for end in WRITE_AHEAD_LOGS)  # noqa: PTH110  before the size: logs disappear as the file grows
    found = os.stat(place)  # noqa: PTH116
    if not stat.S_ISREG(found.st_mode) or found.st_size > _HEADERS_BYTES or (found.st_size == _HEADERS_BYTES and has_log):
        return False
    return not found.st_size or _begins_as_database(place, descriptor)


def _begins_as_database(place: str, descriptor: int | None) -> bool:
    if descriptor is None:
        with open(place, "rb") as file:  # noqa: PTH123  so small a file is not attached in this process
            return _begins_as_database(place, file.fileno())
    os.lseek(descriptor, 0, os.SEEK_SET)
    begin = os.read(descriptor, 20)
    return begin[8:12] == _MAGIC and 0 < int.from_bytes(begin[12:20], "little") < _VERSIONS


class NewStore:
    """An incomplete store at `path`, to be moved to `place`. A blank file at `place` is locked meanwhile, so that nobody else uses it."""

    def __init__(self, place: str) -> None:
        """Raises BlockingIOError where another process uses the blank file, OSError."""
        self._place = place
        self._blank = _held_blank(place)
        for end in WRITE_AHEAD_LOGS:  # of a deleted store: DuckDB would apply them to the new one
            Path(f"{place}{end}").unlink(missing_ok=True)
        self.path = Path(f"{place}{MAKING}{os.getpid()}-{secrets.token_hex(4)}")

    def put_in_place(self) -> None:
        """Move the store to its place. Raises StoreBusy where another process made one meanwhile, which is not changed; OSError."""
        if self._blank is not None:
            self.path.replace(self._place)
            return
        try:
            os.link(self.path, self._place)
        except FileExistsError as error:
            raise self._came_meanwhile() from error
        except OSError:  # the file system has no hard links
            if os.path.lexists(self._place):
                raise self._came_meanwhile() from None
            self.path.rename(self._place)

    def discard(self) -> None:
        """Remove the file under the temporary name, if it is still there."""
        discard(self.path)
        if self._blank is not None:
            os.close(self._blank)

    def _came_meanwhile(self) -> StoreBusy:
        return StoreBusy(
            f"another process created a store at {self._place} meanwhile: nothing was written.",
            "Run the command again to add to it.",
        )


def discard(place: Path) -> None:
    """Remove a database that is not needed any more; errors are ignored."""
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
