"""Runs of labelled lines: `Before: 240 s` / `After: 110 s` / `Speedup: 2.2x`, and `Original: 74 s` / `Cached: 18 s (4x)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.effect import Effect
from ingest.claims.grammar import effects
from ingest.claims.passages import Passage, label
from ingest.claims.quantities import Kind, Quantity, quantities
from ingest.claims.ratios import agrees

Line = tuple[Quantity, ...]


def labelled_effects(text: str, passage: Passage) -> Iterator[Effect]:
    """The effects of the lines: every figure against the like one of the first line, with the change that follows."""
    spans = [(match.start(), match.end()) for match in re.compile(r"[^\n]+").finditer(text, passage.start, passage.end)]
    lines = [tuple(quantities(text, low, high)) for low, high in spans]
    pairs = list(_pairs(text, lines, spans))
    if not pairs:
        for (low, high), line in zip(spans, lines, strict=True):
            yield from effects(text, list(line), low, high)
        return
    for index, pair in enumerate(pairs):
        following = pairs[index + 1].end if index + 1 < len(pairs) else passage.end
        yield _with_change(pair, lines, following)


def _pairs(text: str, lines: list[Line], spans: list[tuple[int, int]]) -> Iterator[Effect]:
    """Figures of the later lines, each with the like one of the first line."""
    for (low, _), line in zip(spans[1:], lines[1:], strict=True):
        role = label(text, low)
        candidates = [Effect(before.start, after.end, before, after) for before in lines[0] for after in line if _alike(before, after)]
        changes = [quantity for quantity in line if quantity.kind is not Kind.VALUE]
        proven = [pair for pair in candidates for change in changes if change.start >= pair.end and agrees(pair, change)]
        if proven or (role == "after" and candidates):
            yield (proven or candidates)[0]


def _alike(before: Quantity, after: Quantity) -> bool:
    return before.kind is after.kind is Kind.VALUE and before.metric is not None and before.metric is after.metric


def _with_change(pair: Effect, lines: list[Line], end: int) -> Effect:
    """The pair with the factor or percentage that is its own."""
    assert pair.before
    for quantity in (quantity for line in lines for quantity in line):
        if pair.end <= quantity.start < end and quantity.kind is not Kind.VALUE and agrees(pair, quantity):
            return pair._replace(end=quantity.end, change=quantity)
    return pair
