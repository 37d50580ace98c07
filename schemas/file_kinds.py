"""Kinds of files: a log of runs, measured results, the log of a loop, or no log at all."""

from __future__ import annotations

from enum import StrEnum


class FileKind(StrEnum):
    """The kind of a source. Only the first five are read.

    All but the first two count as one ignored document each.
    """

    LOG = "log"
    """Has records or events of runs, or parts that look like them."""

    ARCHIVE = "archive"
    """Its members are sources of their own."""

    SIDECAR = "sidecar"
    """Facts about the record beside it, or a benchmark's file that only sums up or grades runs."""

    MEASUREMENT = "measurement"

    LOOP = "loop"
    """The log of an optimization loop."""

    ROWS = "rows"
    """JSON or a table with the cost or tokens of runs, steps or calls, of no known agent."""

    TEXT = "text"
    SOURCE = "source"
    PATCH = "patch"
    JSON = "json"
    CSV = "csv"
    PICTURE = "picture"
    PARQUET = "parquet"
    BINARY = "binary"
    EMPTY = "empty"


NO_LOGS = (
    FileKind.ROWS,
    FileKind.TEXT,
    FileKind.SOURCE,
    FileKind.PATCH,
    FileKind.JSON,
    FileKind.CSV,
    FileKind.PICTURE,
    FileKind.PARQUET,
    FileKind.BINARY,
    FileKind.EMPTY,
)
"""Kinds of files without anything like a run, a measured result or a loop."""

MAY_HOLD_RUNS = (FileKind.ROWS, FileKind.TEXT, FileKind.JSON, FileKind.CSV)
"""Kinds of files in which a later version may find runs or results of agents and tools that are
unknown today.
"""
