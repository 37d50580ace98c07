"""Artefacts in a summary: patch files with their line counts, and the list below a heading `Deliverables`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ingest.findings.statements.lines import Span, list_below
from ingest.findings.statements.paths import is_path
from ingest.findings.statements.statement import Statement, whole_number
from schemas.rows.claim import StatementKind

HEADINGS = 10
"""Most headings whose lists are read."""

LISTED = 50
"""Most artefacts read from the list below one heading."""

_LINES = r"(?:`?\*{0,2}\s{0,2}[(\[:–—-]\s{0,2}(\d[\d,]{0,14}) lines\b)?"
_PATCH = re.compile(rf"(?<![\w/.~+@-])([\w/.~+@-]{{1,200}}\.(?:patch|diff)\b){_LINES}")
_PATCH_ENDING = re.compile(r"\.(?:patch|diff)\b")
_VERBS = ("generated", "created", "saved", "written", "produced", "exported", "stored", "wrote")
_MADE = re.compile("|".join((*_VERBS, *map(str.capitalize, _VERBS))))  # plain words: a search then goes from first letter to first letter
_UNMADE = re.compile(r"(?:not|n't|will|should|would|lease|to be|if|If)\b")
_HEADING = re.compile(r"[^\w\n]*(?:\w+ )?[Dd]eliverables(?: \w+)?[^\w\n]*")
_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s")
_QUOTED = re.compile(rf"`([^`\n]{{1,300}})(?=`){_LINES}")


def artefacts(text: str, patched: Sequence[Span], headed: Sequence[Span]) -> Iterable[Statement]:
    """Each artefact once, at its first mention: in lines with patch files, then below headings."""
    first: dict[str | None, Statement] = {}
    for found in (*_patches(text, patched), *_deliverables(text, headed)):
        first.setdefault(found.subject, found)
    return first.values()


def _patches(text: str, lines: Sequence[Span]) -> Iterator[Statement]:
    """Patch files in lines that say that they were made."""
    for start, end in lines:
        made = _MADE.search(text, start, end)
        if made and not _UNMADE.search(text, start, made.start()):
            yield from map(_statement, _patch_files(text, start, end))


def _patch_files(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The paths of patch files. Each is searched from the blank before its suffix: twice as fast as from the start of the line."""
    while ending := _PATCH_ENDING.search(text, start, end):
        path = _PATCH.search(text, max(start, text.rfind(" ", start, ending.start())), end)
        if path is None:
            return
        yield path
        start = path.end(1)


def _deliverables(text: str, lines: Sequence[Span]) -> Iterator[Statement]:
    """The first path in backticks of each item of the list below such a heading."""
    for start, end in lines[:HEADINGS]:
        for line in islice(list_below(text, end), LISTED) if _HEADING.fullmatch(text, start, end) else ():
            if not _ITEM.match(text, *line):
                break
            quoted = _QUOTED.search(text, *line)
            if quoted and is_path(quoted[1]):
                yield _statement(quoted)


def _statement(found: re.Match[str]) -> Statement:
    """The statement of a path, and of the number of lines behind it."""
    path, count = found.groups()
    start, end = found.start(1), found.end()
    return Statement(StatementKind.ARTEFACT, start, end, found.string[start:end], path, whole_number(count) if count else None)
