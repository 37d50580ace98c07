"""The results of reading statements. Their fields are those of the rows in `schemas`, without run and number."""

from __future__ import annotations

from typing import NamedTuple

from ingest.findings.statements.lines import Lines
from schemas.rows.statement import StatementKind


class Statement(NamedTuple):
    """A statement, later a `schemas.rows.statement.StatementRow`. Offsets are code points into the text, the end exclusive."""

    kind: StatementKind
    start: int
    end: int
    quote: str
    subject: str | None = None
    count: int | None = None  # type: ignore[assignment]  # the name of the column; it hides `tuple.count`, which nobody calls


class FileChange(NamedTuple):
    """A changed file, later a `schemas.rows.run.FileChangeRow`. Counts are None where the text gives none."""

    path: str
    insertions: int | None = None
    deletions: int | None = None


class Statements(NamedTuple):
    """All statements of a text."""

    file_changes: tuple[FileChange, ...] = ()
    statements: tuple[Statement, ...] = ()
    lines: Lines | None = None
    """The lines with marks, for rules that read lines too. None if no text was read."""


def whole_number(digits: str) -> int | None:
    """The number, with thousands separators or without; None beyond twelve digits."""
    plain = digits.replace(",", "")
    return int(plain) if len(plain) <= 12 else None
