"""Statements of a summary beside its claims: changed files, commits, artefacts, tests.

Exact and conservative: a statement is written in so many words at its offsets; anything ambiguous is no statement. Each kind reads only the
lines with one of its marks (`lines`).
"""

from __future__ import annotations

from operator import attrgetter

from ingest.findings.statements.artefacts import artefacts
from ingest.findings.statements.commits import commits
from ingest.findings.statements.files import read_files
from ingest.findings.statements.lines import NO_LINES, marked_lines
from ingest.findings.statements.statement import FileChange, Statement, Statements
from ingest.findings.statements.tests import tests

_NOTHING = Statements(lines=NO_LINES)
_PLACE = attrgetter("start", "end")

__all__ = ["FileChange", "Statement", "Statements", "read_statements"]


def read_statements(text: str) -> Statements:
    """The statements of the text, in order; a file named twice is one change."""
    lines = marked_lines(text)
    if lines is NO_LINES:
        return _NOTHING
    changes, totals = read_files(text, lines)
    found = [
        *commits(text, lines.commits),
        *artefacts(text, lines.artefacts, lines.deliverables),
        *tests(text, lines.tests_passed, lines.tests_failed),
        *totals,
    ]
    return Statements(changes, _in_order(found) if len(found) > 1 else tuple(found), lines)


def _in_order(found: list[Statement]) -> tuple[Statement, ...]:
    """The statements in the order of the text. The windows of a long line overlap: of two readings at one offset, the longer one."""
    found.sort(key=_PLACE)
    return tuple({(one.kind, one.start): one for one in found}.values())
