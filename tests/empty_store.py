"""A new store of a test begins as a copy of an empty one: to make its tables and write their comments takes as long as a small ingest."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ingest.store.opening.new_store import NewStore


def copies_of(empty: Callable[[], Path]) -> type[NewStore]:
    """New stores that are copies of this one, which is asked for with the first of them; for `ingest.store.database.NewStore`."""
    found = cache(empty)

    class Copied(NewStore):
        def __init__(self, place: str) -> None:
            super().__init__(place)
            shutil.copy(found(), self.path)

    return Copied
