"""What a file is: a log of runs, measured results, or no log at all."""

from __future__ import annotations

from enum import StrEnum


class FileKind(StrEnum):
    """What a source is. All but the first four are no logs. All but the first two count as one ignored document each."""

    LOG = "log"
    """It has records or events of runs, or parts that look like them."""

    ARCHIVE = "archive"
    """Its members are sources of their own."""

    SIDECAR = "sidecar"
    """A file with facts about the record beside it, or one of a benchmark that only sums up runs or grades them."""

    MEASUREMENT = "measurement"
    """It has measured results of a benchmark."""

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
"""Kinds of files in which nothing looked like a run or a measured result."""

MAY_HOLD_RUNS = (FileKind.TEXT, FileKind.JSON, FileKind.CSV)
"""Kinds of files that a later version may find a run or a measured result in, of an agent or a tool that is not known yet."""
