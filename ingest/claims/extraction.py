"""The path from a text to its claims; `ingest.claims` has a map of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import attrgetter

from ingest.claims import MOST_TRIGGERS, Claim, judge
from ingest.claims.evidence import (
    Around,
    Title,
    around,
    evidence_of,
    in_table,
    is_hedged,
    origin_of,
    subject_of,
    title_of,
)
from ingest.claims.model import Candidate, features_of, verdict
from ingest.claims.numbers import ClaimUnit, Effect, Kind, Quantity, quantities
from ingest.claims.printed import labelled_effects, reading_effects
from ingest.claims.qualitative import qualitative
from ingest.claims.readings import effects, idiomatic
from ingest.claims.search import Passage, find_triggers, passages
from ingest.claims.sides import OPPOSITE, is_of_baseline
from ingest.claims.tables import row_effects
from ingest.claims.words import Sense
from schemas.claims import ClaimKind, ClaimMetric, Direction, Evidence
from schemas.rows.confidence import SHOWN_FROM, is_shown

MOST_CLAIMS = 1000

_PAIRS = 50

_REPEATED = 4
"""Effects above a change that it is compared with."""

Measured = tuple[Effect, judge.Measure, Around]

_PLACE = attrgetter("start", "end")
_STRENGTH = list(Evidence)


def claims_of(texts: Sequence[str], least_confidence: float) -> list[tuple[Claim, ...]]:
    """Return the claims of each text, ordered by start.

    Those with a number have at least that confidence.

    One step after the other for all texts: so the expressions of a step stay in the processor's
    caches, which saves a fifth of the time.
    """
    triggers = [find_triggers(text) for text in texts]
    read = [
        effects_of(text, numbers) if numbers else []
        for text, (numbers, _) in zip(texts, triggers, strict=True)
    ]
    measured = [measured_of(own) for own in read]
    found = [
        [claim for claim, _ in judged(text, own)] if own else []
        for text, own in zip(texts, measured, strict=True)
    ]
    return [
        tuple(
            sorted(
                [
                    *_confident(own, least_confidence),
                    *qualitative(text, phrases, _confident(own, SHOWN_FROM)),
                ],
                key=_PLACE,
            )
        )
        for text, (_, phrases), own in zip(texts, triggers, found, strict=True)
    ]


def _confident(claims: list[Claim], least: float) -> list[Claim]:
    return [claim for claim in claims if is_shown(claim.confidence, least)]


def effects_of(text: str, triggers: list[int]) -> list[tuple[Effect, Around]]:
    """Return the effects of a text with the words around them, in order and without repeats.

    A repeat is an effect that repeats an earlier one.
    """
    read: list[tuple[Effect, Around]] = []
    for effect, near in sorted(
        _effects(text, triggers[:MOST_TRIGGERS]), key=lambda read: _PLACE(read[0])
    ):
        if not judge.repeats_an_earlier(
            text, (earlier for earlier, _ in read[-_REPEATED:]), effect
        ):
            read.append((effect, near))
    return read


def measured_of(read: list[tuple[Effect, Around]]) -> list[Measured]:
    """Return the effects of performance quantities with their measures."""
    measured = (
        (effect, measure, near)
        for effect, near in read
        if (measure := judge.measure_of(effect, near))
    )
    return list(islice(measured, MOST_CLAIMS))


def judged(text: str, found: list[Measured]) -> list[tuple[Claim, Candidate]]:
    """Return all claims with a number and any confidence, each with the candidate behind it.

    It was judged by that candidate.
    """
    pairs = [
        (effect, evidence_of(text, effect, near, measure.metric, None))
        for effect, measure, near in found
        if effect.is_pair
    ]
    own = iter(pairs)
    claims = []
    for effect, measure, near in found:
        evidence = (
            next(own)[1]
            if effect.is_pair
            else _evidence_of_change(text, effect, near, measure, pairs)
        )
        if candidate := _candidate(effect, measure, near, evidence, len(found) - 1):
            claims.append((_claim(text, candidate), candidate))
    return sorted(claims, key=lambda judged: _PLACE(judged[0]))


def _evidence_of_change(
    text: str,
    effect: Effect,
    near: Around,
    measure: judge.Measure,
    pairs: list[tuple[Effect, Evidence]],
) -> Evidence:
    """Return the evidence of the pair that states the same as the factor or percentage.

    In the title, of the best pair of all.
    """
    is_title = effect.start <= near.title.end
    same = [
        evidence
        for pair, evidence in pairs[:_PAIRS]
        if is_title or (effect.change and judge.agrees(pair, effect.change))
    ]
    return evidence_of(
        text, effect, near, measure.metric, min(same, key=_STRENGTH.index) if same else None
    )


def _effects(text: str, triggers: list[int]) -> Iterator[tuple[Effect, Around]]:
    """Yield effects of printed results first, then those in passages that do not overlap them."""
    title = title_of(text)
    printed = list(reading_effects(text))
    for effect in printed:
        start, end = text.rfind("\n", 0, effect.start) + 1, text.find("\n", effect.end)
        whole = judge.with_trailing_bracket(text, effect, end if end >= 0 else len(text))
        yield whole, around(text, whole, Passage(start, whole.end), start, whole.end, title)
    for passage in passages(text, triggers):
        for effect, near in (_of_table if passage.is_table else _of_prose)(text, passage, title):
            if not any(one.start < effect.end and effect.start < one.end for one in printed):
                yield effect, near


def _of_prose(text: str, passage: Passage, title: Title) -> Iterator[tuple[Effect, Around]]:
    start, end = passage.start, passage.end
    of_passage = (
        labelled_effects(text, passage)
        if passage.is_labelled
        else effects(text, list(quantities(text, start, end)), start, end)
    )
    whole = judge.joined_expressions(
        text, _with_idioms(list(of_passage), list(idiomatic(text, start, end)))
    )
    for index, effect in enumerate(whole):
        low = whole[index - 1].end if index else passage.start
        high = whole[index + 1].start if index + 1 < len(whole) else passage.end
        complete = judge.with_trailing_bracket(text, effect, high)
        yield complete, around(text, complete, passage, low, high, title)


def _with_idioms(effects: list[Effect], idioms: list[Effect]) -> list[Effect]:
    """Return both in order; of two that overlap, the one with the numeral stays."""
    if not idioms:
        return effects
    kept: list[Effect] = []
    for effect in sorted([*effects, *idioms], key=_PLACE):
        if not kept or kept[-1].end <= effect.start:
            kept.append(effect)
        elif kept[-1].is_idiom:
            kept[-1] = effect
    return kept


def _of_table(text: str, passage: Passage, title: Title) -> Iterator[tuple[Effect, Around]]:
    above = text[max(0, passage.start - 160) : passage.start].strip().rpartition("\n")[2]
    for effect, words in row_effects(text, passage.start, passage.end):
        yield effect, in_table(text, effect, f"{above} | {words} | ", title)


def _candidate(
    effect: Effect, measure: judge.Measure, near: Around, evidence: Evidence, others: int
) -> Candidate | None:
    """Return the effect with its ratio and direction.

    None for a change whose ratio would be infinite, zero or implausible.
    """
    metric = measure.metric
    effect = effect._replace(
        sense=judge.sense_of(effect, metric, near)
        or (judge.sense_before(near) if effect.is_order_open else None)
    )
    ends = judge.ratio_of(judge.in_order(effect, metric), metric)
    if effect.change and ends and is_of_baseline(near, is_worse=ends[1] < 1):
        if effect.is_order_open and effect.sense:
            effect = effect._replace(sense=OPPOSITE.get(effect.sense, effect.sense))
            ends = judge.ratio_of(judge.in_order(effect, metric), metric)
        elif not effect.is_pair:  # a pair in a known order stays as it is
            ends = 1 / ends[1], 1 / ends[0]
    effect = judge.in_order(effect, metric)
    if ends is None and not effect.is_pair and effect.change is not None:
        return None
    return Candidate(
        effect, measure, near, ends, _direction(ends, effect, metric), evidence, others
    )


def _claim(text: str, candidate: Candidate) -> Claim:
    effect, measure, near, ends = (
        candidate.effect,
        candidate.measure,
        candidate.near,
        candidate.ends,
    )
    is_range = ends is not None and ends[0] != ends[1]
    confidence, scope = verdict(features_of(candidate))
    return Claim(
        effect.start,
        effect.end,
        text[effect.start : effect.end],
        ClaimKind.QUANTIFIED,
        measure.metric,
        candidate.direction,
        judge.geometric_mean(ends) if ends else None,
        ends[0] if ends and is_range else None,
        ends[1] if ends and is_range else None,
        _figure(effect.before, effect.unit) if effect.is_pair else None,
        _figure(effect.after, effect.unit) if effect.is_pair else None,
        effect.unit.name if effect.unit else None,
        candidate.evidence,
        scope,
        is_hedged(effect, near),
        origin_of(effect, near),
        subject_of(near),
        confidence,
    )


def _direction(ends: judge.Range | None, effect: Effect, metric: ClaimMetric) -> Direction:
    """Return the direction by the ratio, else by the figures, else by the word of comparison."""
    if ends is not None:
        ratio = judge.geometric_mean(ends)
        return Direction.SAME if ratio == 1 else Direction.BETTER if ratio > 1 else Direction.WORSE
    if effect.before is not None and effect.after is not None:
        if effect.after.scaled() == effect.before.scaled():  # `0 → 0 allocs/op` has no ratio
            return Direction.SAME
        is_less = effect.after.low < effect.before.low
        return (
            Direction.BETTER
            if is_less is (metric not in judge.HIGHER_IS_BETTER)
            else Direction.WORSE
        )
    return Direction.BETTER if effect.sense in (Sense.FALL, Sense.GAIN) else Direction.WORSE


def _figure(quantity: Quantity | None, unit: ClaimUnit | None) -> float | None:
    """Return the figure of a pair in the unit of the claim; None for a range."""
    if quantity is None or quantity.kind is not Kind.VALUE or quantity.is_range:
        return None
    own = quantity.unit or unit
    return (
        quantity.low * own.size / unit.size
        if own and unit and own.size != unit.size
        else quantity.low
    )
