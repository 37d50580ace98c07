"""Artefacts that a summary says it left: patch files with their line counts, and what a heading `Deliverables` lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from ingest.statements.lines import Span, list_below
from ingest.statements.paths import is_path
from ingest.statements.statement import Statement, whole_number
from schemas.statement import StatementKind

HEADINGS = 10
"""Most headings whose lists are read."""

LISTED = 50
"""Most artefacts read from the list beneath one heading."""

_PATCH = re.compile(r"(?<![\w/.~+@-])[\w/.~+@-]{1,200}\.(?:patch|diff)\b")
_PATCH_ENDING = re.compile(r"\.(?:patch|diff)\b")
_VERBS = ("created", "exported", "generated", "produced", "saved", "stored", "written", "wrote")
_MADE = re.compile(
    f"[CcEeGgPpSsWw](?:{'|'.join(f'(?<=[{verb[0].upper()}{verb[0]}]){verb[1:]}' for verb in _VERBS)})"  # by initials: half the time
)
_UNMADE = re.compile(r"(?:not|n't|will|should|would|lease|to be|[Ii]f)\b")
_LINES = re.compile(r"`?\*{0,2}\s{0,2}[(\[:–—-]\s{0,2}(\d[\d,]{0,14}) lines\b")
_HEADING = re.compile(r"[^\w\n]*(?:\w+ )?[Dd]eliverables(?: \w+)?[^\w\n]*")
_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s")
_QUOTED = re.compile(r"`([^`\n]{1,300})`")


def artefacts(text: str, patched: Sequence[Span], headed: Sequence[Span]) -> Iterator[Statement]:
    """Each artefact once, at its first mention: of lines with patch files, then beneath headings."""
    seen: set[str | None] = set()
    for found in (*_patches(text, patched), *_deliverables(text, headed)):
        if found.subject not in seen:
            seen.add(found.subject)
            yield found


def _patches(text: str, lines: Sequence[Span]) -> Iterator[Statement]:
    """Patch files of which their line says that they were made."""
    for start, end in lines:
        made = _MADE.search(text, start, end)
        if made and not _UNMADE.search(text, start, made.start()):
            for path in _patch_files(text, start, end):
                yield _statement(text, *path, end)


def _patch_files(text: str, start: int, end: int) -> Iterator[Span]:
    """The paths, each looked for from the blank in front of its ending: from the line's start it would take twice as long."""
    while ending := _PATCH_ENDING.search(text, start, end):
        path = _PATCH.search(text, max(start, text.rfind(" ", start, ending.start())), end)
        if path is None:
            return
        yield path.span()
        start = path.end()


def _deliverables(text: str, lines: Sequence[Span]) -> Iterator[Statement]:
    """The first path in backticks of each item of the list beneath such a heading."""
    for start, end in lines[:HEADINGS]:
        listed = islice(list_below(text, end), LISTED) if _HEADING.fullmatch(text, start, end) else ()
        for line in takewhile(lambda line: _ITEM.match(text, *line), listed):
            quoted = _QUOTED.search(text, *line)
            if quoted and is_path(quoted[1]):
                yield _statement(text, *quoted.span(1), line[1])


def _statement(text: str, start: int, path_end: int, line_end: int) -> Statement:
    """The path, and the number of lines that stands behind it."""
    lines = _LINES.match(text, path_end, line_end)
    end = lines.end() if lines else path_end
    count = whole_number(lines[1]) if lines else None
    return Statement(StatementKind.ARTEFACT, start, end, text[start:end], text[start:path_end], count)
