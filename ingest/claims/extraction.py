"""From a text to its claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter

from ingest.claims.changes.effects import effects
from ingest.claims.changes.idioms import idiomatic
from ingest.claims.changes.qualitative import qualitative
from ingest.claims.claim import Claim
from ingest.claims.find.box_drawing import undrawn
from ingest.claims.find.captions import caption_above, unit_above
from ingest.claims.find.passages import Passage, passages
from ingest.claims.find.sections import has_sections, section_effects, summed_below, told_in_heads
from ingest.claims.find.signs import signs
from ingest.claims.judge import evidence_and_scope
from ingest.claims.judge.merging import is_told_again, joined, merged, with_remark
from ingest.claims.judge.metrics import is_signed_alone, is_unnamed_change, metric_of, sense_of
from ingest.claims.judge.ratios import HIGHER_IS_BETTER, Range, agrees, middle, ratio_of
from ingest.claims.judge.surroundings import Around, Title, around, in_table, title_of
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity, quantities
from ingest.claims.numbers.units import Unit
from ingest.claims.pairs.labelled_lines import labelled_effects
from ingest.claims.pairs.tool_outputs import output_effects
from ingest.claims.tables.tables import row_effects
from ingest.claims.words.change_words import Sense
from schemas.rows.claim import ClaimKind, ClaimMetric, Direction, Evidence

MOST_CLAIMS, MOST_SIGNS = 1000, 5000
"""Claims and signs of a text that are read; a text with more is no summary but data."""

_PAIRS = 50
"""Pairs of a text that a factor is compared with."""

_FROM_SECTIONS = 100
"""Pairs of a text that stand in two sections, at most."""

_PLACE = attrgetter("start", "end")
_STRENGTH = list(Evidence)
"""Evidence, strongest first."""


def extract(text: str) -> tuple[Claim, ...]:
    """The performance claims of the text, ordered by where they start. Any text will do; one without claims gives none."""
    plain = undrawn(text)
    numbers, phrases = signs(plain)
    if not numbers and not phrases:
        return ()
    quantified = _quantified(plain, numbers[:MOST_SIGNS]) if numbers else []
    claims = sorted([*quantified, *qualitative(plain, phrases, quantified)], key=_PLACE)
    return tuple(claims if plain is text else (claim._replace(quote=text[claim.start : claim.end]) for claim in claims))


def _quantified(text: str, numbers: list[int]) -> list[Claim]:
    told = _told_once(text, islice(_effects(text, numbers), MOST_SIGNS))
    judged = [(effect, metric_of(effect, near), near) for effect, near in told]
    found = list(islice(_with_repeated(judged), MOST_CLAIMS))
    pairs = [(effect, evidence_and_scope.evidence_of(text, effect, near, None)) for effect, _, near in found if effect.is_pair]
    own = iter(pairs)
    claims = (
        _claim(text, effect, metric, near, next(own)[1] if effect.is_pair else _of_change(text, effect, near, pairs))
        for effect, metric, near in found
    )
    return sorted(filter(None, claims), key=_PLACE)


def _told_once(text: str, effects: Iterable[tuple[Effect, Around]]) -> list[tuple[Effect, Around]]:
    """The effects, what two neighbouring lines tell of one and the same but once."""
    told: list[tuple[Effect, Around]] = []
    for effect, near in effects:
        if told and is_told_again(text, told[-1][0], effect):
            former, around_it = told[-1]
            told[-1] = joined(former, effect), near if effect.is_pair else around_it
        else:
            told.append((effect, near))
    return told


def _with_repeated(judged: list[tuple[Effect, ClaimMetric | None, Around]]) -> Iterator[tuple[Effect, ClaimMetric, Around]]:
    """The effects of performance, and signed percentages of nothing that is named where the text says of what the same one is."""
    told = {_stated(effect): metric for effect, metric, _ in judged if metric and effect.change and effect.change.sign}
    only = _the_only_one({metric for _, metric, _ in judged if metric})
    for effect, metric, near in judged:
        known = metric or (told.get(_stated(effect)) if told and is_signed_alone(effect, near) else None)
        known = known or (only if only and is_unnamed_change(effect, near) else None)
        if known is not None:
            yield effect, known, near


def _the_only_one(metrics: set[ClaimMetric]) -> ClaimMetric | None:
    """What all other claims of the text are of, if that is one thing: then a `98% reduction` of nothing that is named is of it too."""
    return next(iter(metrics)) if len(metrics) == 1 else None


def _stated(effect: Effect) -> tuple[str, float, float] | None:
    return (effect.change.sign, effect.change.low, effect.change.high) if effect.change else None


def _of_change(text: str, effect: Effect, near: Around, pairs: list[tuple[Effect, Evidence]]) -> Evidence:
    """The evidence of a factor or percentage: that of the pair which says the same; in the title, of the best pair of the text."""
    is_title = effect.start <= near.title.end
    same = [evidence for pair, evidence in pairs[:_PAIRS] if is_title or (effect.change and agrees(pair, effect.change))]
    return evidence_and_scope.evidence_of(text, effect, near, min(same, key=_STRENGTH.index) if same else None)


def _effects(text: str, numbers: list[int]) -> Iterator[tuple[Effect, Around]]:
    title = title_of(text)
    of_sections = list(_of_sections(text, numbers, title))
    yield from of_sections
    for passage in passages(text, numbers):
        for effect, near in (_of_table if passage.is_table else _of_prose)(text, passage, title):
            if not of_sections or not any(section.start < effect.end and effect.start < section.end for section, _ in of_sections):
                yield effect, near


def _of_sections(text: str, numbers: list[int], title: Title) -> Iterator[tuple[Effect, Around]]:
    if not has_sections(text, numbers):
        return
    read: set[int] = set()
    for effect in islice(chain(section_effects(text), told_in_heads(text), summed_below(text), output_effects(text)), _FROM_SECTIONS):
        figure = effect.after.start if effect.after else effect.start
        if figure in read:  # a line of a section that is the output of a tool
            continue
        read.add(figure)
        start, end = text.rfind("\n", 0, effect.start) + 1, text.find("\n", effect.end)
        whole = with_remark(text, effect, end if end >= 0 else len(text))
        yield whole, around(text, whole, Passage(start, whole.end), start, whole.end, title)


def _of_prose(text: str, passage: Passage, title: Title) -> Iterator[tuple[Effect, Around]]:
    low, high = passage.start, passage.end
    of_passage = labelled_effects(text, passage) if passage.is_labelled else effects(text, list(quantities(text, low, high)), low, high)
    whole = merged(text, _with_idioms(list(of_passage), list(idiomatic(text, low, high))))
    for index, effect in enumerate(whole):
        low = whole[index - 1].end if index else passage.start
        high = whole[index + 1].start if index + 1 < len(whole) else passage.end
        complete = with_remark(text, effect, high)
        yield complete, around(text, complete, passage, low, high, title)


def _with_idioms(effects: list[Effect], idioms: list[Effect]) -> list[Effect]:
    """Both in order; where they overlap, the one with the numeral stays."""
    if not idioms:
        return effects
    kept: list[Effect] = []
    for effect in sorted([*effects, *idioms], key=lambda effect: (effect.start, effect.end)):
        if not kept or kept[-1].end <= effect.start:
            kept.append(effect)
        elif kept[-1].is_idiom:
            kept[-1] = effect
    return kept


def _of_table(text: str, passage: Passage, title: Title) -> Iterator[tuple[Effect, Around]]:
    found = list(row_effects(text, passage.start, passage.end))
    above = f"{caption_above(text, passage.start)} | {unit_above(text, passage.start)}" if found else ""
    for effect, words, rest in found:
        yield effect, in_table(text, effect, f"{above} | {words} | ", rest, title)


def _claim(text: str, effect: Effect, metric: ClaimMetric, near: Around, evidence: Evidence) -> Claim | None:
    effect = effect._replace(sense=sense_of(effect, metric, near))
    ends = ratio_of(effect, metric)
    if ends is None and not effect.is_pair and effect.change is not None:
        return None
    start, end, unit = effect.start, effect.end, _unit(effect)
    is_range = ends is not None and ends[0] != ends[1]
    return Claim(
        start,
        end,
        text[start:end],
        ClaimKind.QUANTIFIED,
        metric,
        _direction(ends, effect, metric),
        middle(ends) if ends else None,
        ends[0] if ends and is_range else None,
        ends[1] if ends and is_range else None,
        _figure(effect.before, unit),
        _figure(effect.after, unit) if effect.is_pair else None,
        unit.name if unit else None,
        evidence,
        evidence_and_scope.scope_of(effect, metric, near),
        evidence_and_scope.is_hedged(effect, near),
        evidence_and_scope.origin_of(effect, near),
        evidence_and_scope.subject_of(near),
    )


def _direction(ends: Range | None, effect: Effect, metric: ClaimMetric) -> Direction:
    if ends is not None:
        ratio = middle(ends)
        return Direction.SAME if ratio == 1 else Direction.BETTER if ratio > 1 else Direction.WORSE
    if effect.before is not None and effect.after is not None:
        if effect.after.sized() == effect.before.sized():  # `0 → 0 allocs/op` has no ratio, and is no change
            return Direction.SAME
        is_less = effect.after.low < effect.before.low
        return Direction.BETTER if is_less is (metric not in HIGHER_IS_BETTER) else Direction.WORSE
    return Direction.BETTER if effect.sense in (Sense.FALL, Sense.GAIN) else Direction.WORSE


def _figure(quantity: Quantity | None, unit: Unit | None) -> float | None:
    """The figure of a pair in the unit that is given for both; None for a range."""
    if quantity is None or quantity.kind is not Kind.VALUE or quantity.is_range:
        return None
    own = quantity.unit or unit
    return quantity.low * own.size / unit.size if own and unit and own.size != unit.size else quantity.low


def _unit(effect: Effect) -> Unit | None:
    """The unit of a pair: that of the later figure, where it has one."""
    figures = (effect.after, effect.before) if effect.is_pair else ()
    return next((figure.unit for figure in figures if figure and figure.unit), None)
