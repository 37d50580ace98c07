"""Small files around a record: their names as sources, and the JSON in them."""

from __future__ import annotations

import json
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

LARGEST_READ = 64 << 20
"""Bytes of the largest file that is read."""


def split(name: str) -> tuple[str, str]:
    """`logs.zip!item-3/journal.json` → `logs.zip!item-3/`, `journal.json`."""
    end = max(name.rfind("/"), name.rfind("!")) + 1
    return name[:end], name[end:]


def json_object(path: Path, *, first_line: bool = False) -> dict[str, Any]:
    """The object in a file, empty where there is none. Raises nothing. A pipe is not opened: it would wait."""
    with suppress(OSError, ValueError, RecursionError):
        found = path.stat()
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_READ:
            with path.open("rb") as file:
                value = json.loads(file.readline() if first_line else file.read())
            return value if isinstance(value, dict) else {}
    return {}
