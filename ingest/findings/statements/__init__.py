"""What a summary states beside its claims: the files it changed, its commits, its artefacts, its tests.

Exact and conservative: what is taken is said in so many words, at the offsets given; whatever might mean something else is left.
Every kind reads only the lines that hold one of a few short words.
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
    """The text's statements in the order they stand there; a file that is named twice is one change."""
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
    """As they stand in the text. The windows of a long line overlap: of what both show, the longer reading."""
    found.sort(key=_PLACE)
    return tuple({(one.kind, one.start): one for one in found}.values())
