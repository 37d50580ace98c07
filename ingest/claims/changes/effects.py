"""Which quantities of a passage make an effect: two a pair, or one a change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.changes.changes import change
from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.pairs.pairs import pair_from
from ingest.claims.pairs.parallel import also_to, parallel
from ingest.claims.words.change_words import METRICS, NOT_PERFORMANCE, SETTINGS


def effects(text: str, found: list[Quantity], start: int, end: int) -> Iterator[Effect]:
    """The effects that the quantities of the passage make, in order. None reads what another has used."""
    index, floor = 0, start
    last = pair = None
    while index < len(found):
        if found[index].start < floor:
            index += 1
            continue
        if both := parallel(text, found, index, floor):
            yield from both
            index, floor, last, pair = index + len(both) * 2, both[-1].end, both[-1], both[-1]
            continue
        effect, taken = pair_from(text, found, index, floor)
        if effect is None and taken == 1:
            effect = also_to(text, found[index], pair) or change(text, found[index], floor, end, last)
        if effect and effect.is_pair and index:
            effect = _announced(text, found[index - 1], effect, floor)
        index += taken
        if effect:
            effect = _listed(text, effect, last)
            floor, last = effect.end, effect
            pair = effect if effect.is_pair else pair
            yield effect


_ANNOUNCES = re.compile(r"[*_`]*\s?(?:[:(]|[—–-]\s)\s?[*_`(]*")


def _announced(text: str, before: Quantity, effect: Effect, floor: int) -> Effect:
    """`8x: 1.16 => 0.14`: the factor right before a pair that is its own."""
    if before.kind is not Kind.TIMES or before.start < floor or effect.change or before.end > effect.start:
        return effect
    is_own = _ANNOUNCES.fullmatch(text, before.end, effect.start) and agrees(effect, before)
    return effect._replace(start=before.start, change=before) if is_own else effect


_NAMED = re.compile(r"(?:\s*\([^()\n]*\))?[,;]\s+(?:and\s+)?(?P<name>(?:[\w./`'’-]+\s+){0,4})[*_]*")
_KNOWN = re.compile(rf"(?<![a-z])(?:{'|'.join([*METRICS.values(), NOT_PERFORMANCE])})|{SETTINGS}", re.IGNORECASE)


def _listed(text: str, effect: Effect, last: Effect | None) -> Effect:
    """`SHA-256 284 ms → 119 ms, ChaCha20 115 → 68`: in a list the unit is given once, unless a name is of another quantity."""
    first = last.after.unit if last and last.is_pair and last.after else None
    if first is None or last is None or not (effect.before and effect.after) or effect.before.unit or effect.after.unit:
        return effect
    named = _NAMED.fullmatch(text, last.end, effect.start)
    if named is None or _KNOWN.search(named["name"]) or not _goes_as(effect, last):
        return effect
    return effect._replace(before=effect.before._replace(unit=first), after=effect.after._replace(unit=first))


def _goes_as(effect: Effect, last: Effect) -> bool:
    """Whether both pairs fall, or both rise."""
    assert effect.before
    assert effect.after
    assert last.before
    assert last.after
    return (effect.after.low < effect.before.low) is (last.after.sized() < last.before.sized())
