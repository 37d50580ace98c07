"""The path from a text to its claims; `ingest.claims` has a map of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter

from ingest.claims.changes.idioms import idiom_effects
from ingest.claims.changes.qualitative import qualitative_claims
from ingest.claims.claim import Claim
from ingest.claims.find.passages import Passage, drawn_tables_as_markdown, passages
from ingest.claims.find.triggers import find_triggers, triggers_beside_numbers
from ingest.claims.judge.confidence import confidence_of
from ingest.claims.judge.evidence import evidence_of, is_hedged, origin_of, subject_of
from ingest.claims.judge.features import Candidate
from ingest.claims.judge.merging import is_restated_on_next_line, joined, repeats_an_earlier, with_expressions_joined, with_trailing_bracket
from ingest.claims.judge.metrics import measure_of, sense_of
from ingest.claims.judge.neighbours import with_measures
from ingest.claims.judge.ratios import HIGHER_IS_BETTER, Range, agrees, geometric_mean, in_order, ratio_of
from ingest.claims.judge.scope import scope_of
from ingest.claims.judge.subjects import is_of_baseline
from ingest.claims.judge.surroundings import Surroundings, Title, surroundings_in_table, surroundings_of, title_of
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import Measure
from ingest.claims.numbers.quantities import Kind, Quantity, quantities
from ingest.claims.numbers.units import Unit
from ingest.claims.pairs.labelled_lines import labelled_effects
from ingest.claims.pairs.readings import reading_effects
from ingest.claims.pairs.sections import baseline_then_summary, figures_in_headings, heading_lines, output_effects, section_effects
from ingest.claims.prose import prose_effects
from ingest.claims.tables.captions import caption_above, unit_words_above
from ingest.claims.tables.table_effects import table_effects
from ingest.claims.words.vocabulary import Sense
from schemas.rows.claim import ClaimKind, ClaimMetric, Direction, Evidence
from schemas.rows.confidence import SHOWN_FROM, is_shown

MOST_CLAIMS, MOST_TRIGGERS = 1000, 5000
"""The most claims and triggers read of a text; a text with more is data, not a summary."""

_MOST_PAIRS = 50
"""The most pairs of a text compared with a factor, to find its evidence."""

_MOST_REPEATED = 4
"""The most effects above a change that it is compared with."""

_MOST_SECTION_EFFECTS = 100
"""The most effects read from sections of a text."""

_POSITION = attrgetter("start", "end")
_EVIDENCE_BY_STRENGTH = list(Evidence)
"""Evidence, strongest first."""


def extract(text: str, least_confidence: float = SHOWN_FROM) -> tuple[Claim, ...]:
    """The performance claims of the text, in the order of their starts; empty if it has none. Any text is accepted, nothing is raised.

    Claims with a number have at least `least_confidence`; 0 gives all that are read.
    """
    plain = drawn_tables_as_markdown(text)
    triggers, phrases = find_triggers(plain)
    if not triggers and not phrases:
        return ()
    found = _quantified(plain, triggers[:MOST_TRIGGERS]) if triggers else []
    quantified = [claim for claim in found if is_shown(claim.confidence, least_confidence)]
    shown = [claim for claim in found if is_shown(claim.confidence)]
    claims = sorted([*quantified, *qualitative_claims(plain, phrases, shown)], key=_POSITION)
    return tuple(claims if plain is text else (claim._replace(quote=text[claim.start : claim.end]) for claim in claims))


def judged(text: str) -> list[tuple[Claim, Candidate]]:
    """All quantified claims of the text, whatever their confidence, each with what it was judged by."""
    plain = drawn_tables_as_markdown(text)
    return [(_claim(plain, found), found) for found in _candidates(plain, find_triggers(plain)[0][:MOST_TRIGGERS])]


def _quantified(text: str, triggers: list[int]) -> list[Claim]:
    """The quantified claims around the triggers, in order."""
    return sorted((_claim(text, candidate) for candidate in _candidates(text, triggers)), key=_POSITION)


def _candidates(text: str, triggers: list[int]) -> Iterator[Candidate]:
    """What may be a quantified claim. A change takes the evidence of the pair it agrees with."""
    effects = _without_restatements(text, islice(_effects(text, triggers), MOST_TRIGGERS))
    measured = [(effect, measure_of(effect, nearby), nearby) for effect, nearby in effects]
    found = list(islice(with_measures(text, measured), MOST_CLAIMS))
    pairs = [(effect, evidence_of(text, effect, nearby, measure.metric, None)) for effect, measure, nearby in found if effect.is_pair]
    own = iter(pairs)
    stated = sum(measure.is_stated for _, measure, _ in found)
    for effect, measure, nearby in found:
        evidence = next(own)[1] if effect.is_pair else _evidence_of_change(text, effect, nearby, measure.metric, pairs)
        if candidate := _candidate(effect, measure, nearby, evidence, stated - measure.is_stated):
            yield candidate


def _without_restatements(text: str, effects: Iterable[tuple[Effect, Surroundings]]) -> list[tuple[Effect, Surroundings]]:
    """The effects in order; those that state one change on two neighbouring lines are joined: `After: 51 ms` / `This is a 10x improvement`.

    A change that only repeats figures right above it is left out.
    """
    found: list[tuple[Effect, Surroundings]] = []
    for effect, nearby in sorted(effects, key=_start_of_effect):
        if found and is_restated_on_next_line(text, found[-1][0], effect):
            earlier, its_surroundings = found[-1]
            found[-1] = joined(earlier, effect), nearby if effect.is_pair else its_surroundings
        elif not repeats_an_earlier(text, (earlier for earlier, _ in found[-_MOST_REPEATED:]), effect):
            found.append((effect, nearby))
    return found


def _start_of_effect(found: tuple[Effect, Surroundings]) -> int:
    return found[0].start


def _evidence_of_change(
    text: str, effect: Effect, nearby: Surroundings, metric: ClaimMetric, pairs: list[tuple[Effect, Evidence]]
) -> Evidence:
    """The evidence of a factor or percentage: that of the pair with the same ratio; in the title, the strongest of all pairs."""
    is_title = effect.start <= nearby.title.end
    same = [evidence for pair, evidence in pairs[:_MOST_PAIRS] if is_title or (effect.change and agrees(pair, effect.change))]
    return evidence_of(text, effect, nearby, metric, min(same, key=_EVIDENCE_BY_STRENGTH.index) if same else None)


def _effects(text: str, triggers: list[int]) -> Iterator[tuple[Effect, Surroundings]]:
    """The effects of sections first, then passage by passage those that overlap none of them."""
    title = title_of(text)
    of_sections = list(_section_effects(text, triggers, title))
    yield from of_sections
    for passage in passages(text, triggers_beside_numbers(text, triggers)):
        for effect, nearby in (_table_effects if passage.is_table else _passage_effects)(text, passage, title):
            if not of_sections or not any(section.start < effect.end and effect.start < section.end for section, _ in of_sections):
                yield effect, nearby


def _section_effects(text: str, triggers: list[int], title: Title) -> Iterator[tuple[Effect, Surroundings]]:
    """The pairs of the sections below `Before` and `After`, then those of named readings, each candidate figure once."""
    read: set[int] = set()
    for effect in islice(chain(_effects_of_headings(text, triggers), reading_effects(text)), _MOST_SECTION_EFFECTS):
        figure = effect.after.start if effect.after else effect.start
        if figure in read:  # a line of a section may be the output of a tool as well
            continue
        read.add(figure)
        start, end = text.rfind("\n", 0, effect.start) + 1, text.find("\n", effect.end)
        whole = with_trailing_bracket(text, effect, end if end >= 0 else len(text))
        yield whole, surroundings_of(text, whole, Passage(start, whole.end), start, whole.end, title)


def _effects_of_headings(text: str, triggers: list[int]) -> Iterator[Effect]:
    """The effects that need a heading or line for the baseline, such as `### Before`."""
    if lines := heading_lines(text, triggers):
        yield from section_effects(text, lines)
        yield from figures_in_headings(text)
        yield from baseline_then_summary(text)
        yield from output_effects(text)


def _passage_effects(text: str, passage: Passage, title: Title) -> Iterator[tuple[Effect, Surroundings]]:
    """The effects of a paragraph, bullet or run of labelled lines, each with the words up to its neighbours."""
    span = passage.start, passage.end
    of_passage = labelled_effects(text, passage) if passage.is_labelled else prose_effects(text, list(quantities(text, *span)), *span)
    whole = with_expressions_joined(text, _with_idioms(list(of_passage), list(idiom_effects(text, *span))))
    for index, effect in enumerate(whole):
        low = whole[index - 1].end if index else passage.start
        high = whole[index + 1].start if index + 1 < len(whole) else passage.end
        complete = with_trailing_bracket(text, effect, high)
        yield complete, surroundings_of(text, complete, passage, low, high, title)


def _with_idioms(effects: list[Effect], idioms: list[Effect]) -> list[Effect]:
    """Effects and idioms in the order of the text; of two that overlap, the one with a numeral is kept: `halves it (from 8 s to 4 s)`."""
    if not idioms:
        return effects
    kept: list[Effect] = []
    for effect in sorted([*effects, *idioms], key=lambda effect: (effect.start, effect.end)):
        if not kept or kept[-1].end <= effect.start:
            kept.append(effect)
        elif kept[-1].is_idiom:
            kept[-1] = effect
    return kept


def _table_effects(text: str, passage: Passage, title: Title) -> Iterator[tuple[Effect, Surroundings]]:
    """The effects of a table, with caption, row label and header cells as the words around them."""
    found = list(table_effects(text, passage.start, passage.end))
    above = f"{caption_above(text, passage.start)} | {unit_words_above(text, passage.start)}" if found else ""
    for effect, words, rest in found:
        yield effect, surroundings_in_table(text, effect, f"{above} | {words} | ", rest, title)


def _candidate(effect: Effect, measure: Measure, nearby: Surroundings, evidence: Evidence, others: int) -> Candidate | None:
    """The effect as a candidate; None for a change whose ratio would be infinite, zero or implausible."""
    effect = effect._replace(sense=sense_of(effect, measure.metric, nearby))
    ends = ratio_of(in_order(effect, measure.metric), measure.metric)
    if effect.change and ends and is_of_baseline(nearby, is_worse=ends[1] < 1):
        effect, ends = _of_candidate(effect, ends, measure.metric)
    effect = in_order(effect, measure.metric)
    if ends is None and not effect.is_pair and effect.change is not None:
        return None
    return Candidate(effect, measure, nearby, ends, _direction(ends, effect, measure.metric), evidence, others)


_OPPOSITE = {Sense.GAIN: Sense.LOSS, Sense.LOSS: Sense.GAIN}


def _of_candidate(effect: Effect, ends: Range, metric: ClaimMetric) -> tuple[Effect, Range | None]:
    """The change of the candidate and its ratio, for a change of the baseline: `the old parser is 3x slower` is a speedup of 3.

    Two figures whose order is open are ordered by the opposite sense; a pair in a known order stays as it is.
    """
    if effect.is_order_open and effect.sense:
        effect = effect._replace(sense=_OPPOSITE.get(effect.sense, effect.sense))
        return effect, ratio_of(in_order(effect, metric), metric)
    return effect, ends if effect.is_pair else (1 / ends[1], 1 / ends[0])


def _claim(text: str, candidate: Candidate) -> Claim:
    """The claim of a candidate."""
    effect, (metric, _, unit, _), nearby, ends, *_ = candidate
    is_range = ends is not None and ends[0] != ends[1]
    return Claim(
        effect.start,
        effect.end,
        text[effect.start : effect.end],
        ClaimKind.QUANTIFIED,
        metric,
        candidate.direction,
        candidate.ratio,
        ends[0] if ends and is_range else None,
        ends[1] if ends and is_range else None,
        _figure(effect.before, unit),
        _figure(effect.after, unit) if effect.is_pair else None,
        unit.name if unit else None,
        candidate.evidence,
        scope_of(candidate),
        is_hedged(effect, nearby),
        origin_of(effect, nearby),
        subject_of(nearby),
        confidence_of(candidate),
    )


def _direction(ends: Range | None, effect: Effect, metric: ClaimMetric) -> Direction:
    """Better, worse or the same: by the ratio, else by the figures, else by the word of comparison."""
    if ends is not None:
        ratio = geometric_mean(ends)
        return Direction.SAME if ratio == 1 else Direction.BETTER if ratio > 1 else Direction.WORSE
    if effect.before is not None and effect.after is not None:
        if effect.after.scaled() == effect.before.scaled():  # `0 → 0 allocs/op` has no ratio
            return Direction.SAME
        is_less = effect.after.low < effect.before.low
        return Direction.BETTER if is_less is (metric not in HIGHER_IS_BETTER) else Direction.WORSE
    return Direction.BETTER if effect.sense in (Sense.FALL, Sense.GAIN) else Direction.WORSE


def _figure(quantity: Quantity | None, unit: Unit | None) -> float | None:
    """The figure of a pair in the unit of the claim; None for a range."""
    if quantity is None or quantity.kind is not Kind.VALUE or quantity.is_range:
        return None
    own = quantity.unit or unit
    return quantity.low * own.size / unit.size if own and unit and own.size != unit.size else quantity.low
