"""The files of a store, known by their names: which are its own, and which of them a killed process left behind."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from ingest.system.held_folder import clear, is_old

REBUILDING = ".rebuilding"
MAKING = ".making-"
SPOOL = ".ingest-"
QUEUE = ".queue"
WATCHING = ".watching"
"""Suffixes to the name of a store: a new store during a rebuild, a first store until it is complete, the spool folder of an ingest, the
folder of the queue, and the lock of the watcher."""

WRITE_AHEAD_LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""Suffixes of DuckDB's files beside a database."""

_WAL = rf"({'|'.join(map(re.escape, WRITE_AHEAD_LOGS))})?"
_DATABASES = rf"({re.escape(REBUILDING)}|{re.escape(MAKING)}\d+-[0-9a-f]+)?{_WAL}|{re.escape(WATCHING)}"
_FOLDERS = rf"{re.escape(SPOOL)}\d+-[^/\\]+([/\\].*)?|{re.escape(QUEUE)}([/\\](lock|\d+-(reader|writer)-[^/\\]*))?"
_LEFT_DATABASES = re.compile(rf"({re.escape(REBUILDING)}|{re.escape(MAKING)}\d+-[0-9a-f]+){_WAL}", re.ASCII)
_LEFT_FOLDERS = re.compile(rf"{re.escape(SPOOL)}\d+-.+", re.ASCII | re.DOTALL)
_BESIDE = re.compile(rf"{_DATABASES}|{_FOLDERS}", re.DOTALL)


def is_path(location: str) -> bool:
    """Whether a location is a path. Two or more letters before a colon name a kind of store (`md:…`); one letter is a drive."""
    return not re.match(r"[A-Za-z][\w+.-]+:", location)


class OwnFiles:
    """The files of the store at `place` (a real path): its file, DuckDB's files beside it and ours."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._folders: dict[str, str] = {}

    def __contains__(self, path: Path) -> bool:
        """Called for every file of an ingest: the links of each folder are resolved once."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        place = os.path.join(self._folders[folder], name)  # noqa: PTH118 - pathlib takes ten times as long
        if os.path.islink(place):  # noqa: PTH114
            place = os.path.realpath(place)
        return place.startswith(self._place) and _BESIDE.fullmatch(place, len(self._place)) is not None


def remove_database(place: Path) -> None:
    """Remove a database with its write-ahead logs, where there are any."""
    for end in ("", *WRITE_AHEAD_LOGS):
        Path(f"{place}{end}").unlink(missing_ok=True)


def has_leftovers(place: str) -> bool:
    """Whether a write-ahead log or an incomplete store is beside the store at `place`: of a writer, or left by a killed one."""
    folder, name = os.path.split(place)
    try:
        ends = [entry.name.removeprefix(name) for entry in os.scandir(folder) if entry.name.startswith(name)]
    except OSError:
        return True
    return any(end in WRITE_AHEAD_LOGS or _LEFT_DATABASES.fullmatch(end) for end in ends)


def remove_leftovers(place: str, keep: Path | None, *, is_our_turn: bool) -> None:
    """Remove the files that killed writers left beside the store at `place`, without the new store `keep`, which is ours.

    `is_our_turn`: by the queue nobody else writes, so that every incomplete store beside ours was left by a killed process.
    """
    folder, name = os.path.split(place)
    with suppress(OSError):
        for entry in os.scandir(folder):
            end, path = entry.name.removeprefix(name), Path(entry.path)
            if end == entry.name:
                continue
            if _LEFT_FOLDERS.fullmatch(end):
                clear(path)
            elif _LEFT_DATABASES.fullmatch(end) and not (keep and entry.path.startswith(str(keep))) and (is_our_turn or is_old(path)):
                path.unlink(missing_ok=True)
