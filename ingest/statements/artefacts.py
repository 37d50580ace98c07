"""Artefacts that a summary says it left: patch files with their line counts, and what a heading `Deliverables` lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.statements.lines import Lines, Mark, next_line
from ingest.statements.paths import is_path
from ingest.statements.statement import Statement, whole_number
from schemas.statement import StatementKind

HEADINGS = 10
"""Most headings whose lists are read."""

LISTED = 50
"""Most artefacts read from the list beneath one heading."""

_PATCH = re.compile(r"(?<![\w/.~+@-])[\w/.~+@-]{1,200}\.(?:patch|diff)\b")
_MADE = re.compile(r"[Gg]enerated|[Cc]reated|[Ss]aved|[Ww]ritten|[Pp]roduced|[Ee]xported|[Ss]tored|[Ww]rote")
_UNMADE = re.compile(r"(?:not|n't|will|should|would|lease|to be|[Ii]f)\b")
_LINES = re.compile(r"`?\*{0,2}\s{0,2}[(\[:–—-]\s{0,2}(\d[\d,]{0,14}) lines\b")
_HEADING = re.compile(r"[^\w\n]*(?:\w+ )?[Dd]eliverables(?: \w+)?[^\w\n]*")
_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s")
_QUOTED = re.compile(r"`([^`\n]{1,300})`")


def artefacts(text: str, lines: Lines) -> Iterator[Statement]:
    """Each artefact once, at its first mention."""
    seen: set[str] = set()
    for found in (*_patches(text, lines), *_deliverables(text, lines)):
        if found.subject not in seen:
            seen.add(found.subject or "")
            yield found


def _patches(text: str, lines: Lines) -> Iterator[Statement]:
    """Patch files of which their line says that they were made."""
    for start, end in lines[Mark.ARTEFACTS]:
        made = _MADE.search(text, start, end)
        if made and not _UNMADE.search(text, start, made.start()):
            yield from (_statement(text, *found.span(), end) for found in _PATCH.finditer(text, start, end))


def _deliverables(text: str, lines: Lines) -> Iterator[Statement]:
    """The first path in backticks of each item of the list beneath such a heading."""
    for start, end in lines[Mark.DELIVERABLES][:HEADINGS]:
        line = next_line(text, end) if _HEADING.fullmatch(text, start, end) else None
        if line and not text[slice(*line)].strip():
            line = next_line(text, line[1])
        for _ in range(LISTED):
            if line is None or not _ITEM.match(text, *line):
                break
            quoted = _QUOTED.search(text, *line)
            if quoted and is_path(quoted[1]):
                yield _statement(text, *quoted.span(1), line[1])
            line = next_line(text, line[1])


def _statement(text: str, start: int, path_end: int, line_end: int) -> Statement:
    """The path, and the number of lines that stands behind it."""
    lines = _LINES.match(text, path_end, line_end)
    end = lines.end() if lines else path_end
    count = whole_number(lines[1]) if lines else None
    return Statement(StatementKind.ARTEFACT, start, end, text[start:end], text[start:path_end], count)
