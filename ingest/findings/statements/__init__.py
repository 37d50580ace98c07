"""Statements of a summary beside its claims: changed files, commits, artefacts, tests.

Exact and conservative: only explicit words count, at the offsets given; words that might mean something else do not. For speed, each
kind reads only the lines that have one of a few short words.
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
    """The statements of a text in their order; a file that is named twice is one change."""
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
    """Sorted by place. Windows of a long line overlap: of two readings of one statement, the longer one is kept."""
    found.sort(key=_PLACE)
    return tuple({(one.kind, one.start): one for one in found}.values())
