"""What a summary states beside its claims: the files it changed, its commits, its artefacts, its tests.

Exact and conservative: what is taken is said in so many words, at the offsets given; whatever might mean something else is left.
Every kind reads only the lines that hold one of a few short words.
"""

from __future__ import annotations

from operator import attrgetter

from ingest.statements.artefacts import artefacts
from ingest.statements.commits import commits
from ingest.statements.files import read_files
from ingest.statements.lines import marked_lines
from ingest.statements.statement import FileChange, Statement, Statements
from ingest.statements.tests import tests

_NOTHING = Statements()

__all__ = ["FileChange", "Statement", "Statements", "read_statements"]


def read_statements(text: str) -> Statements:
    """The text's statements in the order they stand there; a file that is named twice is one change."""
    lines = marked_lines(text)
    if not lines:
        return _NOTHING
    changes, totals = read_files(text, lines)
    found = sorted([*commits(text, lines), *artefacts(text, lines), *tests(text, lines), *totals], key=attrgetter("start", "end"))
    whole = {(one.kind, one.start): one for one in found}  # the windows of a long line overlap: of what both show, the longer reading
    return Statements(changes, tuple(whole.values()))
