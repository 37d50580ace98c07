"""A new store of a test begins as a copy of empty tables: to make them and write their comments takes as long as a small ingest."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path


def copies_of(empty: Callable[[], Path]) -> Callable[[Path], Path]:
    """Copies of these tables, which are asked for with the first of them; for `ingest.store.opening.tables.tables_in`."""
    found = cache(empty)
    return lambda place: Path(shutil.copy(found(), place))
