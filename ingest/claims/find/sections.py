"""Two sections with like lines: `### Before` / `- First launch: 10 min` and, further down, `### After` / `- First launch: 2 min`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import CLOCK, Kind, Quantity, quantities
from schemas.rows.claim import ClaimMetric

_BEFORE_WORDS, _AFTER_WORDS = "before|优化前|修复前|之前|改善前", "after|now|优化后|修复后|之后|改善後"
_MARKED = r"[ \t]{0,8}(?:#{1,6}[ \t]+|\*\*|__|[-*•][ \t]+\*\*)(?:\W{1,4})?(?:%s)(?![A-Za-z])[^\n:|\d]{0,40}?[:：]?(?:\*\*|__)?[:：]?[ \t]*$"
_BARE = r"^[ \t]*(?:%s)(?:[ \t]\([^()\n]{1,30}\)|[ \t](?:this|the|my) [a-z]{1,12})?[:：]?[ \t]*$"
_OF_BASE, _OF_BRANCH = "old|baseline|main|master", "new|dev|this (?:pr|branch|patch|change)|with this \\w+"
_BEFORE = re.compile(f"{_MARKED % f'{_BEFORE_WORDS}|{_OF_BASE}'}|{_BARE % f'{_BEFORE_WORDS}|{_OF_BASE}'}", re.IGNORECASE | re.MULTILINE)
_AFTER = re.compile(f"{_MARKED % f'{_AFTER_WORDS}|{_OF_BRANCH}'}|{_BARE % f'{_AFTER_WORDS}|{_OF_BRANCH}'}", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    r"^[ \t]{0,40}(?:[-*•+◦][ \t]{1,40})?[*_`]{0,3}(?P<label>[^:：\n|]{2,60}?)[*_`]{0,3}"
    r"(?:[:：][*_`]{0,3}[ \t]{0,40}|[ \t]{1,40}(?=[~<≈]?\d[\d.,]{0,9}[ \t]?[A-Za-zµ/]{1,8}[ \t]*(?:\(|$)))(?=[^\n]*\d)(?P<rest>[^\n]+)$",
    re.MULTILINE,
)
Span = tuple[int, int]
_REACH = 1200
"""Characters that a section is read for."""

_MOST_HEADS = 100
"""Heads of a text whose sections are read; a text with more is no summary but data."""


_SIGNS = (
    "# Before",
    "*Before",
    "*Before ",
    "# Before ",
    "BEFORE",
    "efore:",
    "efore**:",
    "前",
    "main:",
    "aseline",
    "# Old",
    "# old",
    "*Old*",
    "Old:",
    "aseline:",
    "aster:",
    "\nBefore th",
    "\nBefore\n",
    "efore  ",
    "ld version:",
    "change: [",
)


_ENDINGS = {last: tuple(sign for sign in _SIGNS if sign[-1] == last) for last in {sign[-1] for sign in _SIGNS}}


def has_sections(text: str, signs: list[int]) -> bool:
    """Whether one of the signs can be the head of a section; most end with a digit, which none of those does."""
    return any((endings := _ENDINGS.get(text[sign])) is not None and text.endswith(endings, 0, sign + 1) for sign in signs)


def section_effects(text: str) -> Iterator[Effect]:
    """The figure of each labelled line below `After` against that of the line with the same label below `Before`."""
    for first_span, second_span in below(text, _BEFORE, _AFTER, _REACH):
        first, second = _figures(text, *first_span), _figures(text, *second_span)
        likes = [(like, figure) for label, figure in second.items() if (like := _named(label, first)) and like.measures_as(figure)]
        if not likes and _is_bare(text, first_span[0]) and _is_bare(text, second_span[0]):
            likes = _by_metric(_without_labels(text, *first_span), _without_labels(text, *second_span))
        yield from (_effect(text, before, after) for before, after in likes)


_BARE_HEAD = re.compile(r"\W*\w+(?: (?:this|the|my) \w+)?\W*$")


def _is_bare(text: str, end: int) -> bool:
    """Whether the head that ends there names nothing but the side: `Before:`, `After this patch:`."""
    return _BARE_HEAD.match(text[text.rfind("\n", 0, end) + 1 : end]) is not None


def _named(label: str, figures: dict[str, Quantity]) -> Quantity | None:
    """The figure of that label, or of the only one that begins like it: `Cold start to import app` is a `Cold start`."""
    if label in figures:
        return figures[label]
    longer = [figure for other, figure in figures.items() if other.startswith(f"{label} ") or label.startswith(f"{other} ")]
    return longer[0] if len(longer) == 1 else None


_FIRST_LINES = re.compile(
    r"\s*(?:```(?:te?xt|console|bash|sh|shell\S*|log|plain\S*)?[ \t]*\n)?(?!```)"
    r"(?P<lines>(?:[ \t`]*[^\s`][^\n]*(?:\n|$)){1,4})(?=\s*(?:\n|```|$))"
)
"""The few lines right below a head, in a fence or not; a fence that names a language of programs holds code."""

_RATED = (ClaimMetric.TIME, ClaimMetric.MEMORY)


def _without_labels(text: str, start: int, end: int) -> list[Quantity]:
    """The figures of the few lines below a head. A rate says what the time and the volume beside it do."""
    block = _FIRST_LINES.match(text, start, end)
    if block is None:
        return []
    found: list[Quantity] = []
    for line in re.finditer(r"[^\n]+", block["lines"]):
        figures = [one for one in quantities(text, *(block.start("lines") + side for side in line.span())) if one.kind is Kind.VALUE]
        has_rate = any(one.metric is ClaimMetric.THROUGHPUT for one in figures)
        found += [one for one in figures if one.unit and one.unit is not CLOCK and not (has_rate and one.metric in _RATED)]
    return found


def _by_metric(first: list[Quantity], second: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    """Each figure after with that before, where both have but one of the metric."""
    once = [{one.metric: one for one in found if [other.metric for other in found].count(one.metric) == 1} for found in (first, second)]
    return [(once[0][metric], after) for metric, after in once[1].items() if metric in once[0]]


_TOLD_IN_A_LINE = r"^[ \t]*(?:[-*•+][ \t]+)?[*_`]{0,3}(?:%s)\b[^\n:]{0,30}:(?P<rest>[^\n]+)$"
_BASE_LINE = re.compile(_TOLD_IN_A_LINE % r"(?:\w{1,30}[ \t]){0,2}(?:baseline|before)", re.IGNORECASE | re.MULTILINE)
_SUMMED_LINE = re.compile(_TOLD_IN_A_LINE % "median|mean|average|avg", re.IGNORECASE | re.MULTILINE)
_CLOSES = re.compile(r"[^()\n]{0,20}\)")


def summed_below(text: str) -> Iterator[Effect]:
    """`Baseline: 500 s`, the runs, `Median: 200 s (60% faster)`: the pair, if the change is its own."""
    for base in islice(_BASE_LINE.finditer(text), _MOST_HEADS):
        later = _SUMMED_LINE.search(text, base.end() + 1, base.end() + _REACH)
        before = next(quantities(text, *base.span("rest")), None)
        told = list(quantities(text, *later.span("rest"))) if later else []
        if len(told) < 2 or before is None:
            continue
        after, change = told[:2]
        if change.kind is not Kind.VALUE and before.measures_as(after):
            pair = Effect(before.start, change.end, before, after, change)
            closed = _CLOSES.match(text, change.end)
            if agrees(pair, change):
                yield pair._replace(end=closed.end() if closed else change.end)


_TOLD = r"^[ \t]*(?:#{1,6}[ \t]+|\*\*|__|[-*•][ \t]+\*\*)\W{0,4}(?:%s)\b(?P<rest>[^\n]{1,100})$"
_TOLD_BEFORE = re.compile(_TOLD % _BEFORE_WORDS, re.IGNORECASE | re.MULTILINE)
_TOLD_AFTER = re.compile(_TOLD % _AFTER_WORDS, re.IGNORECASE | re.MULTILINE)


def told_in_heads(text: str) -> Iterator[Effect]:
    """`### Before: 4.2 s`, a picture or an output, `### After: 1.1 s`."""
    for head in islice(_TOLD_BEFORE.finditer(text), _MOST_HEADS):
        later = _TOLD_AFTER.search(text, head.end(), head.end() + _REACH)
        if later is None or later.start() < head.end() + 2:  # on the next line: those are labelled lines
            continue
        before = next(quantities(text, *head.span("rest")), None)
        after = next(quantities(text, *later.span("rest")), None)
        if before and after and before.measures_as(after):
            yield Effect(before.start, after.end, before, after)


def below(text: str, before: re.Pattern[str], after: re.Pattern[str], reach: int) -> Iterator[tuple[Span, Span]]:
    """What stands below each head `before`, and what below the head `after` that follows it within so many characters."""
    for head in islice(before.finditer(text), _MOST_HEADS):
        if later := after.search(text, head.end(), head.end() + reach):
            yield (head.end(), later.start()), (later.end(), later.end() + reach)


_RATED_LABEL = ("/s", "/sec")
"""`Transfer/sec: 20 MB` is no size."""


def _figures(text: str, start: int, end: int) -> dict[str, Quantity]:
    """The first figure of each line, by its label; lines after a blank line behind them are of something else."""
    blank = text.find("\n\n", start + 2, end)
    found: dict[str, Quantity] = {}
    for line in _LINE.finditer(text, start, blank if blank >= 0 else end):
        figure = next(quantities(text, *line.span("rest")), None)
        if figure and figure.unit and figure.start - line.start("rest") <= 3 and not line["label"].endswith(_RATED_LABEL):
            found.setdefault(line["label"].strip().lower(), figure)
    return found


_BEHIND = 160
"""Characters of the line behind a figure in which its change is told."""


def _effect(text: str, before: Quantity, after: Quantity) -> Effect:
    """The pair; it stands where the figure after does, up to the change that is told behind it."""
    end = text.find("\n", after.end, after.end + _BEHIND)
    pair = Effect(after.start, after.end, before, after)
    behind = quantities(text, after.end, end if end >= 0 else min(len(text), after.end + _BEHIND))
    change = next((one for one in behind if one.kind is not Kind.VALUE and agrees(pair, one)), None)
    return pair._replace(end=change.end, change=change) if change else pair
