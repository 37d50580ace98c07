"""Running text: the effects of its quantities, pairs of two and changes of one.

Tried at each quantity, in this order: parallel lists; a pair with a later figure; a second candidate figure for the last pair; a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.changes.coordinated import METRIC_NOUNS
from ingest.claims.changes.single_numbers import change_effect
from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.pairs.parallel_lists import parallel_pairs, second_candidate_figure
from ingest.claims.pairs.running_text import pair_starting_at
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import SETTINGS


def prose_effects(text: str, found: list[Quantity], start: int, end: int) -> Iterator[Effect]:
    """The effects of the quantities `found` between `start` and `end`, in order; no part of the text is used by two of them."""
    index, floor = 0, start
    last = pair = None
    while index < len(found):
        if found[index].start < floor:
            index += 1
            continue
        if both := parallel_pairs(text, found, index, floor):
            yield from both
            index, floor, last, pair = index + len(both) * 2, both[-1].end, both[-1], both[-1]
            continue
        effect, taken = pair_starting_at(text, found, index, floor)
        if effect is None and taken == 1:
            effect = second_candidate_figure(text, found[index], pair) or change_effect(text, found[index], floor, end, last)
        if effect and effect.is_pair and index:
            effect = _with_factor_before(text, found[index - 1], effect, floor)
        index += taken
        if effect:
            effect = _with_unit_of_list(text, effect, last)
            floor, last = effect.end, effect
            pair = effect if effect.is_pair else pair
            yield effect


_ANNOUNCES = pattern(r"[*_`]*\s?(?:[:(]|[—–-]\s)\s?[*_`(]*")


def _with_factor_before(text: str, before: Quantity, effect: Effect, floor: int) -> Effect:
    """The pair with the factor right before it, if they agree: `8x: 1.16 => 0.14`."""
    if before.kind is not Kind.TIMES or before.start < floor or effect.change or before.end > effect.start:
        return effect
    is_own = _ANNOUNCES.fullmatch(text, before.end, effect.start) and agrees(effect, before)
    return effect._replace(start=before.start, change=before) if is_own else effect


_NAMED = pattern(r"(?:\s*\([^()\n]*\))?[,;]\s+(?:and\s+)?(?P<name>(?:[\w./`'’-]+\s+){0,4})[*_]*")
_SETTINGS = pattern(SETTINGS, re.IGNORECASE)


def _with_unit_of_list(text: str, effect: Effect, last: Effect | None) -> Effect:
    """The effect with the unit of the list: `SHA-256 284 ms → 119 ms, ChaCha20 115 → 68`. Not after a name with another metric."""
    first = last.after.unit if last and last.is_pair and last.after else None
    if first is None or last is None or not (effect.before and effect.after) or effect.before.unit or effect.after.unit:
        return effect
    named = _NAMED.fullmatch(text, last.end, effect.start)
    if named is None or METRIC_NOUNS.search(named["name"]) or _SETTINGS.search(named["name"]) or not _move_alike(effect, last):
        return effect
    return effect._replace(before=effect.before.in_unit(first, MeasureSource.LIST), after=effect.after.in_unit(first, MeasureSource.LIST))


def _move_alike(effect: Effect, last: Effect) -> bool:
    """Whether both pairs fall, or both rise."""
    assert effect.before
    assert effect.after
    assert last.before
    assert last.after
    return (effect.after.low < effect.before.low) is (last.after.scaled() < last.before.scaled())
