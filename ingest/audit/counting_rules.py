"""Rules over counts in the text: a headline against the items listed beneath it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.audit.rule import Facts, Noticed
from ingest.statements.lines import lines_with, next_line

_THINGS = (
    r"(?:instances?|occurrences?|places|locations?|call\ssites?|usages?|allocations?|replacements?|calls|changes|edits|conversions?|fixes)"
)
_THING = re.compile(rf"{_THINGS}\b", re.VERBOSE)
_HEADLINE = re.compile(rf"(?<![\w.,/-])(\d{{1,4}})\*{{0,2}}\s(?:\w+\s){{0,2}}?({_THINGS})\b", re.VERBOSE)
_HEADLINE_WORDS = ("nstances", "ccurrences", "call sites")
_ITEM = re.compile(r"(\s{0,12})(?:[-*+•]|\d{1,3}[.)])\s")
_ITEM_COUNT = re.compile(rf"(?:\s[-–—]|:|\()\s*\*{{0,2}}(\d{{1,4}})\*{{0,2}}\s((?:[a-z]\w*\s){{0,2}}?{_THINGS})\b", re.VERBOSE)
_NUMBERED = re.compile(r"\*{0,2}(\d{1,3})[.)]\*{0,2}\s")
_TOTAL = re.compile(r"(?<![\w.])\((\d{1,3}) total\)\W*$")

LINES_TO_LIST = 15
"""The list a headline speaks of begins within so many lines of it."""

LEAST_ITEMS = 3
"""Fewer counted items are no breakdown."""

HEADINGS_READ = 20
"""Headings with a total that are compared with their lists."""

LINES_READ = 400
"""Lines of a list that are read."""


def headline_count(facts: Facts) -> Iterator[Noticed]:
    """`14 instances` above a list whose items each give a number of the same things: the numbers add up, or they do not."""
    text = facts.text
    for line in lines_with(text, *_HEADLINE_WORDS):
        if headline := _HEADLINE.search(text, *line):
            counts = _item_counts(text, line[1])
            said, listed = int(headline[1]), sum(counts)
            if len(counts) >= LEAST_ITEMS and said not in (listed, len(counts)):
                yield Noticed(
                    f"The summary speaks of {said} {headline[2]}; the {len(counts)} items listed beneath add up to {listed}"
                    f"{_elsewhere(text, listed)}.",
                    str(listed),
                    str(said),
                )
            return


def list_length(facts: Facts) -> Iterator[Noticed]:
    """A heading that ends in `(6 total)` above a numbered list."""
    text = facts.text
    for start, end in lines_with(text, " total)")[:HEADINGS_READ]:
        heading = _TOTAL.search(text, start, end)
        last = _last_number(text, end) if heading else 0
        if heading and last > 1 and last != int(heading[1]):
            yield Noticed(f"The heading counts {heading[1]} items; the numbered list beneath it has {last}.", heading[1], str(last))


def _elsewhere(text: str, count: int) -> str:
    """The sum, where the text gives it somewhere else."""
    at = text.find(f"{count} ")
    while at >= 0:
        things = _THING.match(text, at + len(str(count)) + 1)
        if things and not (at and (text[at - 1].isalnum() or text[at - 1] in ".,")):
            return f", and elsewhere it says {count} {things[0]}"
        at = text.find(f"{count} ", at + 1)
    return ""


def _item_counts(text: str, end: int) -> list[int]:
    """The counts of the first list after the line, of its outermost items; nothing unless each item counts the same things."""
    counts: list[int] = []
    things: set[str] = set()
    margin = None
    for number, line in enumerate(_lines(text, end)):
        item = _ITEM.match(line)
        if margin is None and item is None and number >= LINES_TO_LIST:
            break
        if item is None:
            if counts and line.strip() and not line.startswith((" ", "\t")):
                break
            continue
        margin = len(item[1]) if margin is None else margin
        if len(item[1]) > margin:
            continue
        found = _ITEM_COUNT.findall(line)
        if len(found) != 1:
            return []
        counts.append(int(found[0][0]))
        things.add(found[0][1].removesuffix("s"))
    return counts if len(things) == 1 else []


def _last_number(text: str, end: int) -> int:
    """The last number of the list 1, 2, 3 … beneath the line; 0 if its numbers do not run so. Subheadings may divide it."""
    last = 0
    for line in _lines(text, end):
        if line.startswith("#"):
            break
        numbered = _NUMBERED.match(line)
        if numbered:
            if int(numbered[1]) != last + 1:
                return 0
            last += 1
    return last


def _lines(text: str, end: int) -> Iterator[str]:
    line = next_line(text, end)
    for _ in range(LINES_READ):
        if line is None:
            return
        yield text[slice(*line)]
        line = next_line(text, line[1])
