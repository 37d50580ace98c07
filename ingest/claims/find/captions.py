"""What stands above a table: its caption, and a heading or short line that gives the unit its figures leave out."""

from __future__ import annotations

import re

from ingest.claims.words.change_words import BEGINS, METRICS
from schemas.rows.claim import ClaimMetric

_REACH = 1000
"""Characters above a table in which the line that gives the unit is looked for."""

_SHORT = 80
"""Characters of a heading, at most."""

_NOUNS = re.compile(
    rf"(?P<rate>\w/s(?:ec)?\b|{BEGINS}(?:{METRICS[ClaimMetric.THROUGHPUT]}))"
    r"|(?P<time>(?:\(|\bin )(?:[nµμum]?s|sec|(?:milli|micro|nano)?seconds|minutes)\b)"
    rf"|{BEGINS}(?P<other>{'|'.join(words for metric, words in METRICS.items() if metric is not ClaimMetric.THROUGHPUT)})",
    re.IGNORECASE,
)
_TOLD = {"rate": "per second", "time": "elapsed"}
_TITLE = re.compile(r"\s*(?:#{1,6}\s|<\w|(?![-*•+]\s).*:[*_\s]*$|[*_]*\S+(?: \S+)?$)")
"""Headings, leads that end with a colon, and lines of a word or two."""

_ROW = re.compile(r"[ \t]*\|")


def caption_above(text: str, start: int) -> str:
    """The line above the table."""
    return text[max(0, start - 160) : start].strip().rpartition("\n")[2]


def unit_above(text: str, start: int) -> str:
    """What the unit is of that the nearest heading above gives, if it names a metric.

    `per second` for `Requests/sec:` and `## Average fps`, `elapsed` for `Times in ms:`, else empty.
    """
    lines = text[max(0, start - _REACH) : start].splitlines()
    for line in reversed(lines):
        if _ROW.match(line):
            return ""
        found = {match.lastgroup for match in _NOUNS.finditer(line)} if len(line) <= _SHORT and _TITLE.match(line) else ()
        if found:
            return next((word for group, word in _TOLD.items() if group in found), "")
    return ""
