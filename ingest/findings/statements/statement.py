"""What is found in a text. The fields are those of the rows in `schemas`, without run and number."""

from __future__ import annotations

from typing import NamedTuple

from ingest.findings.statements.lines import Lines
from schemas.rows.statement import StatementKind


class Statement(NamedTuple):
    """A `schemas.rows.statement.StatementRow` to be. Offsets are code points into the text, the end exclusive."""

    kind: StatementKind
    start: int
    end: int
    quote: str
    subject: str | None = None
    count: int | None = None  # type: ignore[assignment]  # the column's name; nobody counts in a statement


class FileChange(NamedTuple):
    """A `schemas.rows.run.FileChangeRow` to be."""

    path: str
    insertions: int | None = None
    deletions: int | None = None


class Statements(NamedTuple):
    """Everything a text states."""

    file_changes: tuple[FileChange, ...] = ()
    statements: tuple[Statement, ...] = ()
    lines: Lines | None = None
    """The lines that were looked at, for rules that look at lines as well. None where no text was read."""


def whole_number(digits: str) -> int | None:
    """The number, thousands separators and all; None where nobody counts that far."""
    plain = digits.replace(",", "")
    return int(plain) if len(plain) <= 12 else None
