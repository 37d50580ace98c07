"""Rules over counts in the text: the count in a headline, and the items listed below it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.findings.rules.rule import Facts, Noticed, rule

_THINGS = (
    r"(?:instances?|occurrences?|places|locations?|call\ssites?|usages?|allocations?|replacements?|calls|changes|edits|conversions?|fixes)"
)
_THING = re.compile(rf"{_THINGS}\b", re.VERBOSE)
_HEADLINE = re.compile(rf"(\d(?<![\w.,/-]\d)\d{{0,3}})\*{{0,2}}\s(?:\w+\s){{0,2}}?({_THINGS})\b", re.VERBOSE)
_ITEM_OR_TEXT = re.compile(r"\n(?:([^\S\n]{0,12})(?:[-*+•]|\d{1,3}[.)])[^\S\n].*|(?![ \t])[^\S\n]*\S)")
_ITEM_COUNT = re.compile(
    rf"[-–—:(](?:(?<=[:(])|(?<=[^\S\n][-–—]))\s*\*{{0,2}}(\d{{1,4}})\*{{0,2}}\s((?:[a-z]\w*\s){{0,2}}?{_THINGS})\b", re.VERBOSE
)
_NUMBERED_OR_HEADING = re.compile(r"\n(?:\*{0,2}(\d{1,3})[.)]\*{0,2}[^\S\n]|#)")
_TOTAL = re.compile(r"\((?<![\w.]\()(\d{1,3}) total\)\W*$")

LINES_TO_LIST = 15
"""The list of a headline begins within this many lines after it."""

LEAST_ITEMS = 3
"""Fewer counted items are no breakdown."""

HEADINGS_READ = 20
"""Headings with a total that are compared with their lists."""

LIST_READ = 100_000
"""Characters after a line that are read for its list."""


@rule
def count_mismatch(facts: Facts) -> Iterator[Noticed]:
    """`14 instances` above a list whose items each count the same things: the sum of the items differs."""
    text, lines = facts.text, facts.lines
    for line in sorted((*lines.instances, *lines.occurrences, *lines.call_sites)):
        if headline := _HEADLINE.search(text, *line):
            counts = _item_counts(text, line[1])
            said, listed = int(headline[1]), sum(counts)
            if len(counts) >= LEAST_ITEMS and said not in (listed, len(counts)):
                yield Noticed(
                    f"The summary states {said} {headline[2]}; the {len(counts)} items listed below it add up to {listed}"
                    f"{_elsewhere(text, listed)}.",
                    str(listed),
                    str(said),
                )
            return


@rule
def list_length(facts: Facts) -> Iterator[Noticed]:
    """A heading with `(6 total)` at its end, above a numbered list of another length."""
    text = facts.text
    for start, end in facts.lines.total[:HEADINGS_READ]:
        heading = _TOTAL.search(text, start, end)
        last = _last_number(text, end) if heading else 0
        if heading and last > 1 and last != int(heading[1]):
            yield Noticed(f"The heading states {heading[1]} items; the numbered list below it has {last}.", heading[1], str(last))


def _elsewhere(text: str, count: int) -> str:
    """Words on another place of the text that has the same sum; empty where there is none."""
    at = text.find(f"{count} ")
    while at >= 0:
        things = _THING.match(text, at + len(str(count)) + 1)
        if things and not (at and (text[at - 1].isalnum() or text[at - 1] in ".,")):
            return f", and elsewhere it says {count} {things[0]}"
        at = text.find(f"{count} ", at + 1)
    return ""


def _item_counts(text: str, end: int) -> list[int]:
    """The counts of the outermost items of the first list after the line; none unless each item counts the same things."""
    counts: list[int] = []
    things: set[str] = set()
    margin = None
    for line in _below(text, end, _ITEM_OR_TEXT):
        indent = line[1]
        if margin is None and text.count("\n", end, line.start()) > LINES_TO_LIST:
            break
        if indent is None:
            if counts:
                break
            continue
        margin = len(indent) if margin is None else margin
        if len(indent) > margin:
            continue
        found = _ITEM_COUNT.findall(text, line.start() + 1, line.end())
        if len(found) != 1:
            return []
        counts.append(int(found[0][0]))
        things.add(found[0][1].removesuffix("s"))
    return counts if len(things) == 1 else []


def _last_number(text: str, end: int) -> int:
    """The last number of the list 1, 2, 3 … below the line; 0 for other numbers. Subheadings may divide the list."""
    last = 0
    for line in _below(text, end, _NUMBERED_OR_HEADING):
        if line[1] is None:
            break
        if int(line[1]) != last + 1:
            return 0
        last += 1
    return last


def _below(text: str, end: int, begin: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The lines that match `begin`, in the LIST_READ characters after the line that ends at `end`."""
    return begin.finditer(text, end, end + LIST_READ if text.startswith("\n", end) else end)
