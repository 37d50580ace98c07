"""The statements of a text. The fields are those of the rows in `schemas`, without run and number."""

from __future__ import annotations

from typing import NamedTuple

from ingest.findings.statements.lines import Lines
from schemas.rows.claim import StatementKind


class Statement(NamedTuple):
    """The values of a `schemas.rows.claim.StatementRow`. Offsets are code points into the text, the end exclusive."""

    kind: StatementKind
    start: int
    end: int
    quote: str
    subject: str | None = None
    count: int | None = None  # type: ignore[assignment]  # named like the column; hides tuple.count, which is not used


class FileChange(NamedTuple):
    """The values of a `schemas.rows.run.FileChangeRow`."""

    path: str
    insertions: int | None = None
    deletions: int | None = None


class Statements(NamedTuple):
    """All statements of a text."""

    file_changes: tuple[FileChange, ...] = ()
    statements: tuple[Statement, ...] = ()
    lines: Lines | None = None
    """The lines with marks, which some rules read too. None where no text was read."""


def whole_number(digits: str) -> int | None:
    """The number with its thousands separators; None where it is implausibly large."""
    plain = digits.replace(",", "")
    return int(plain) if len(plain) <= 12 else None
