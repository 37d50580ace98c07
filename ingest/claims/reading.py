"""From a text to its claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingest.claims import context
from ingest.claims.claim import Claim
from ingest.claims.context import Setting
from ingest.claims.effect import Effect
from ingest.claims.grammar import effects
from ingest.claims.idioms import idiomatic
from ingest.claims.labelled import labelled_effects
from ingest.claims.lexicon import Sense
from ingest.claims.merging import merged, with_remark
from ingest.claims.passages import Passage, passages
from ingest.claims.quantities import Kind, Quantity, quantities
from ingest.claims.ratios import HIGHER_IS_BETTER, Range, middle, ratio_of
from ingest.claims.tables import row_effects
from schemas.claim import ClaimKind, ClaimMetric, Direction, Evidence


def extract(text: str) -> tuple[Claim, ...]:
    """The performance claims of the text, ordered by where they start. Any text will do; one without claims gives none."""
    found = [(effect, metric, setting) for effect, setting in _effects(text) if (metric := context.metric_of(effect, setting)) is not None]
    if not found:
        return ()
    pairs = [context.evidence_of(effect, setting, None) for effect, _, setting in found if effect.is_pair]
    figures = min(pairs, key=list(Evidence).index) if pairs else None
    claims = [_claim(effect, metric, setting, figures) for effect, metric, setting in found]
    return tuple(sorted((claim for claim in claims if claim), key=lambda claim: (claim.start, claim.end)))


def _effects(text: str) -> Iterator[tuple[Effect, Setting]]:
    title = text.lstrip()[:200].partition("\n")[0]
    for passage in passages(text):
        if passage.is_table:
            yield from _of_table(text, passage, title)
        else:
            yield from _of_prose(text, passage, title)


def _of_prose(text: str, passage: Passage, title: str) -> Iterator[tuple[Effect, Setting]]:
    found = list(quantities(text, passage.start, passage.end))
    of_passage = labelled_effects(text, passage) if passage.is_labelled else effects(text, found, passage.start, passage.end)
    whole = merged(text, _with_idioms(list(of_passage), idiomatic(text, passage.start, passage.end)))
    for index, effect in enumerate(whole):
        low = whole[index - 1].end if index else passage.start
        high = whole[index + 1].start if index + 1 < len(whole) else passage.end
        yield with_remark(text, effect, high), Setting(text, passage, low, high, title)


def _with_idioms(effects: list[Effect], idioms: Iterable[Effect]) -> list[Effect]:
    """Both in order; where they overlap, the one with the numeral stays."""
    free = [idiom for idiom in idioms if not any(effect.start < idiom.end and idiom.start < effect.end for effect in effects)]
    return sorted([*effects, *free], key=lambda effect: effect.start) if free else effects


def _of_table(text: str, passage: Passage, title: str) -> Iterator[tuple[Effect, Setting]]:
    above = text[max(0, passage.start - 160) : passage.start].strip().rpartition("\n")[2]
    for effect, words in row_effects(text, passage.start, passage.end):
        yield effect, Setting(text, passage, effect.start, effect.end, title, f"{above} | {words} | ")


def _claim(effect: Effect, metric: ClaimMetric, setting: Setting, figures: Evidence | None) -> Claim | None:
    ends = ratio_of(effect, metric)
    if ends is None and not effect.is_pair and effect.change is not None:
        return None
    start, end = effect.start, effect.end
    is_range = ends is not None and ends[0] != ends[1]
    return Claim(
        start,
        end,
        setting.text[start:end],
        ClaimKind.QUANTIFIED,
        metric,
        _direction(ends, effect, metric),
        middle(ends) if ends else None,
        ends[0] if ends and is_range else None,
        ends[1] if ends and is_range else None,
        _figure(effect.before),
        _figure(effect.after if effect.is_pair else None),
        _unit(effect),
        context.evidence_of(effect, setting, figures),
        context.scope_of(effect, setting),
        context.is_hedged(effect, setting),
        context.origin_of(effect, setting),
        context.subject_of(effect, setting),
    )


def _direction(ends: Range | None, effect: Effect, metric: ClaimMetric) -> Direction:
    if ends is not None:
        ratio = middle(ends)
        return Direction.SAME if ratio == 1 else Direction.BETTER if ratio > 1 else Direction.WORSE
    if effect.before is not None and effect.after is not None:
        is_less = effect.after.low < effect.before.low
        return Direction.BETTER if is_less is (metric not in HIGHER_IS_BETTER) else Direction.WORSE
    return Direction.BETTER if effect.sense in (Sense.FALL, Sense.GAIN) else Direction.WORSE


def _figure(quantity: Quantity | None) -> float | None:
    return quantity.low if quantity and quantity.kind is Kind.VALUE and not quantity.is_range else None


def _unit(effect: Effect) -> str | None:
    unit = next((quantity.unit for quantity in (effect.after, effect.before) if quantity and quantity.unit), None)
    return unit.name if unit and effect.is_pair else None
