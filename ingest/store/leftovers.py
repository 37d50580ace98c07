"""What killed processes left beside a store: found by its name, and removed once nobody holds it any more."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from ingest.store.own_files import MAKING, REBUILDING, SPOOL, WRITE_AHEAD_LOGS
from ingest.system.held_folder import clear, is_old

_LOGS = f"({'|'.join(map(re.escape, WRITE_AHEAD_LOGS))})?"
_STORES = re.compile(rf"({re.escape(REBUILDING)}|{re.escape(MAKING)}\d+-[0-9a-f]+){_LOGS}", re.ASCII)
_FOLDERS = re.compile(rf"{re.escape(SPOOL)}\d+-.+", re.ASCII | re.DOTALL)


def sweep(place: str, keep: Path | None, *, is_our_turn: bool) -> None:
    """Remove what killed writers of the store at `place` left beside it, but not the new store `keep`, which is ours.

    `is_our_turn`: whether the queue says that nobody else writes, so that no unfinished store beside ours has an owner that lives.
    """
    folder, name = os.path.split(place)
    with suppress(OSError):
        for entry in os.scandir(folder):
            end = entry.name.removeprefix(name)
            if end == entry.name:
                continue
            if _FOLDERS.fullmatch(end):
                clear(Path(entry.path))
            elif _STORES.fullmatch(end) and not (keep and entry.path.startswith(str(keep))) and (is_our_turn or is_old(Path(entry.path))):
                Path(entry.path).unlink(missing_ok=True)
