"""Kinds of files: a log of runs, measured results, or no log at all."""

from __future__ import annotations

from enum import StrEnum


class FileKind(StrEnum):
    """The kind of a source. Only the first four are useful. All but the first two count as one ignored document each."""

    LOG = "log"
    """Has records or events of runs, or parts that look like them."""

    ARCHIVE = "archive"
    """Its members are sources of their own."""

    SIDECAR = "sidecar"
    """Facts about the record beside it, or a benchmark's file that only sums up or grades runs."""

    MEASUREMENT = "measurement"

    TEXT = "text"
    SOURCE = "source"
    PATCH = "patch"
    JSON = "json"
    CSV = "csv"
    PICTURE = "picture"
    PARQUET = "parquet"
    BINARY = "binary"
    EMPTY = "empty"


NO_LOGS = tuple(kind for kind in FileKind if kind not in (FileKind.LOG, FileKind.ARCHIVE, FileKind.SIDECAR, FileKind.MEASUREMENT))
"""Kinds of files without anything like a run or a measured result."""

MAY_HOLD_RUNS = (FileKind.TEXT, FileKind.JSON, FileKind.CSV)
"""Kinds of files in which a later version may find runs or results of agents and tools that are unknown today."""
