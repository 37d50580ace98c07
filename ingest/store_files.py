"""Which files are a store's own: by what they are called, links followed."""

from __future__ import annotations

import os
import re
from pathlib import Path

REBUILDING = ".rebuilding"
SPOOL = ".ingest-"
"""What the new store beside one that is rebuilt, and the folder of an ingest under way, are called behind the store's own name."""

_WAL = r"(\.wal(\.checkpoint|\.recovery)?)?"
_BESIDE = rf"({_WAL}|{re.escape(REBUILDING)}{_WAL}|{re.escape(SPOOL)}\d+-[^/\\]+([/\\].*)?)"


def is_path(location: str) -> bool:
    """Two letters and more before a colon name a kind of store (`md:…`); one is a drive."""
    return not re.match(r"[A-Za-z][\w+.-]+:", location)


class OwnFiles:
    """What belongs to the store at `place` (a real path): its file, DuckDB's files beside it and ours."""

    def __init__(self, place: str) -> None:
        self._names = re.compile(re.escape(place) + _BESIDE, re.DOTALL)
        self._folders: dict[str, str] = {}

    def __contains__(self, path: Path) -> bool:
        """Asked of every file of an ingest: each folder's links are followed once."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        place = os.path.join(self._folders[folder], name)  # noqa: PTH118 - pathlib takes ten times as long
        if os.path.islink(place):  # noqa: PTH114
            place = os.path.realpath(place)
        return self._names.fullmatch(place) is not None


def remove_database(place: Path) -> None:
    """Remove a database with its write-ahead log, where there is one."""
    for file in (place, Path(f"{place}.wal")):
        file.unlink(missing_ok=True)
