"""What a summary states beside its claims: the files it changed, its commits, its artefacts, its tests.

Exact and conservative: what is taken is said in so many words, at the offsets given; whatever might mean something else is left.
Every kind looks for a few short words first (`str.find`), and reads only the lines that hold one.
"""

from __future__ import annotations

from operator import attrgetter

from ingest.statements.artefacts import artefacts
from ingest.statements.commits import commits
from ingest.statements.files import read_files
from ingest.statements.statement import FileChange, Statement, Statements
from ingest.statements.tests import tests

__all__ = ["FileChange", "Statement", "Statements", "read_statements"]


def read_statements(text: str) -> Statements:
    """The text's statements in the order they stand there; a file that is named twice is one change."""
    changes, totals = read_files(text)
    found = [*commits(text), *artefacts(text), *tests(text), *totals]
    return Statements(changes, tuple(sorted(found, key=attrgetter("start", "end"))))
