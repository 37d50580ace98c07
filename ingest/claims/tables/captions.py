"""The lines above a table: its caption, and a heading or short line with the unit of its bare numbers."""

from __future__ import annotations

import re

from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import BEGINS, METRICS, TABLE_ROW
from schemas.rows.claim import ClaimMetric

_REACH = 1000
"""Characters above a table in which the line with the unit is searched."""

_SHORT = 80
"""The most characters of a heading."""

_UNIT_OR_METRIC = pattern(
    rf"(?P<rate>\w/s(?:ec)?\b|{BEGINS}(?:{METRICS[ClaimMetric.THROUGHPUT]}))"
    r"|(?P<time>(?:\(|\bin )(?:[nµμum]?s|sec|(?:milli|micro|nano)?seconds|minutes)\b)"
    rf"|{BEGINS}(?P<other>{'|'.join(words for metric, words in METRICS.items() if metric is not ClaimMetric.THROUGHPUT)})",
    re.IGNORECASE,
)
_UNIT_WORDS = {"rate": "per second", "time": "elapsed"}
_TITLE = pattern(r"\s*(?:#{1,6}\s|<\w|(?![-*•+]\s).*:[*_\s]*$|[*_]*\S+(?: \S+)?$)")
"""Headings, lines that end with a colon, and lines of a word or two."""


def caption_above(text: str, start: int) -> str:
    """The last line above the table that is not blank."""
    return text[max(0, start - 160) : start].strip().rpartition("\n")[2]


def unit_words_above(text: str, start: int) -> str:
    """Words for the unit in the nearest heading above that names a metric.

    `per second` for `Requests/sec:` and `## Average fps`, `elapsed` for `Times in ms:`, else empty.
    """
    lines = text[max(0, start - _REACH) : start].splitlines()
    for line in reversed(lines):
        if TABLE_ROW.match(line):
            return ""
        found = {match.lastgroup for match in _UNIT_OR_METRIC.finditer(line)} if len(line) <= _SHORT and _TITLE.match(line) else ()
        if found:
            return next((word for group, word in _UNIT_WORDS.items() if group in found), "")
    return ""
