"""Small files around a record: their names as sources, and the JSON in them."""

from __future__ import annotations

import json
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

LARGEST_READ = 64 << 20
"""Bytes of the largest file that is read."""

MEASURE_FILE = "measure.toml"

NEIGHBOURS = frozenset((MEASURE_FILE, "benchmark.json", "benchmarks.json", "estimates.json", "machine.json", "sample.json"))
"""Names of files that say something of measured results beside them. Those of an archive or an upload are unpacked first.

criterion's files name the benchmark of one another, `benchmarks.json` of asv has the units of its results, its `machine.json` the name of
their machine, and `measure.toml` says what people know.
"""


def split(name: str) -> tuple[str, str]:
    """`logs.zip!item-3/journal.json` → `logs.zip!item-3/`, `journal.json`."""
    end = max(name.rfind("/"), name.rfind("!")) + 1
    return name[:end], name[end:]


def json_object(path: Path, *, first_line: bool = False) -> dict[str, Any]:
    """The object in a file, or an empty one. Raises nothing. A pipe is not opened: it would wait."""
    with suppress(OSError, ValueError, RecursionError):
        found = path.stat()
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_READ:
            with path.open("rb") as file:
                value = json.loads(file.readline() if first_line else file.read())
            return value if isinstance(value, dict) else {}
    return {}
