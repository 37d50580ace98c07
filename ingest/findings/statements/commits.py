"""Commits that a summary names: "Commit created: b0655066a", "committed as 1a2b3c4", a list below a heading "Commits"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ingest.findings.statements.lines import Span, list_below
from ingest.findings.statements.statement import Statement
from schemas.rows.claim import StatementKind

LISTED = 50
"""Most commits read from the list below one heading."""

_WORD = re.compile(r"[cC](?<=\b[cC])(?i:ommit(?:s|ted)?)\b")  # the first letter first: a search then goes from c to c
_MIXED = r"(?=[0-9]{0,39}[a-f])(?=[a-f]{0,39}[0-9])[0-9a-f]{7,40}"  # a letter and a digit: neither a word nor a count
_HASH = re.compile(rf"(?<![\w#.@/-])({_MIXED})(?![\w/@]|[.-]\w)|(?<=/commit/)({_MIXED})\b|`([0-9a-f]{{7,40}})`")
_SIGN = re.compile(r"[0-9`](?:(?<=[0-9])[a-f]|(?<=[a-f][0-9])|(?<=`)[0-9a-f]{7})")  # of a hash: a digit beside a letter, or a backtick
_HEADING = re.compile(r"[^\w\n]*(?:(?:git|new|the|all) )?commits?(?: (?:created|made|history|hash(?:es)?))?[^\w\n]*", re.IGNORECASE)
_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])?[\s*`]{0,6}(?=[0-9a-f]{7})")


def commits(text: str, lines: Sequence[Span]) -> Iterator[Statement]:
    """Hashes behind the word `commit` on its line, and hashes at the beginning of lines below a heading of that word."""
    read_to = 0
    for start, end in lines:
        word = _WORD.search(text, max(start, read_to), end)
        if word is None:
            continue
        if _SIGN.search(text, word.end(), end):
            yield from (_statement(text, found) for found in _HASH.finditer(text, word.end(), end))
        read_to = end
        if _HEADING.fullmatch(text, start, end):
            for item in _listed(text, end):
                yield _statement(text, item)
                read_to = item.end()


def _listed(text: str, end: int) -> Iterator[re.Match[str]]:
    """The hashes at the beginning of the next lines, until a line without one; a blank line may come first."""
    for line in islice(list_below(text, end), LISTED):
        found = _first_in(text, line)
        if found is None:
            return
        yield found


def _first_in(text: str, line: Span) -> re.Match[str] | None:
    item = _ITEM.match(text, *line)
    found = _HASH.search(text, max(line[0], item.end() - 1), line[1]) if item else None
    return found if item and found and found.start() <= item.end() else None


def _statement(text: str, found: re.Match[str]) -> Statement:
    start, end = found.span(found.lastindex or 0)
    return Statement(StatementKind.COMMIT, start, end, text[start:end], text[start:end])
