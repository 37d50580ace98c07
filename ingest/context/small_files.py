"""Small files around a record: their names as sources, and their JSON."""

from __future__ import annotations

import json
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

LARGEST_READ = 64 << 20

MEASURE_FILE, MAP_FILE = "measure.toml", "tachograph-map.toml"

NEIGHBOURS = frozenset(
    (
        MAP_FILE,
        MEASURE_FILE,
        "benchmark.json",
        "benchmarks.json",
        "best_program_info.json",
        "estimates.json",
        "machine.json",
        "sample.json",
    )
)
"""Files that describe measured results or loops beside them. In an archive or an upload they are
unpacked first.

criterion's files name each other's benchmark, asv's `benchmarks.json` has the units of its results
and `machine.json` the name of their machine, OpenEvolve's `best_program_info.json` has the best
program of a checkpoint, and `measure.toml` has facts that people state.
"""


def split(name: str) -> tuple[str, str]:
    """Split `logs.zip!item-3/journal.json` into `logs.zip!item-3/`, `journal.json`."""
    end = max(name.rfind("/"), name.rfind("!")) + 1
    return name[:end], name[end:]


def json_object(path: Path, *, first_line: bool = False) -> dict[str, Any]:
    """Return the object in a file, or an empty one. Never raises.

    A pipe is not opened: it would block.
    """
    with suppress(OSError, ValueError, RecursionError):
        found = path.stat()
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_READ:
            with path.open("rb") as file:
                value = json.loads(file.readline() if first_line else file.read())
            return value if isinstance(value, dict) else {}
    return {}
