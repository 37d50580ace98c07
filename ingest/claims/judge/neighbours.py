"""What an effect measures where its own words do not say it: the measure of the pair before it in a list, or of the other claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingest.claims.changes.coordinated import METRIC_NOUNS
from ingest.claims.judge.metrics import is_change_without_noun, is_signed_without_noun
from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import Measure, MeasureSource
from ingest.claims.patterns import pattern

Measured = tuple[Effect, Measure | None, Surroundings]
"""An effect, its measure (None if it is not performance), and the words around it."""


def with_measures(text: str, measured: Iterable[Measured]) -> Iterator[tuple[Effect, Measure, Surroundings]]:
    """The effects that have a measure, in order. `measured`: all effects of the text, each with the measure of its own words."""
    return _with_measures_of_others(list(_with_measures_of_lists(text, measured)))


_NEXT_IN_LIST = pattern(r"[*_`]*(?:\s*\([^()\n]*\))?(?:[,;]\s+(?:and\s+)?|\s+and\s+)[*_`]*(?P<name>(?:[\w./`'’-]+\s+){1,3})[*_`]*")
"""Between two pairs of a list: `push 21 -> 17, swap 18 -> 14 and pop 13 -> 12`."""


def _with_measures_of_lists(text: str, measured: Iterable[Measured]) -> Iterator[Measured]:
    """The effects; a bare pair without a measure that goes on with a list takes that of the pair before it."""
    end, metric = 0, None
    for effect, own, nearby in measured:
        is_bare = effect.is_pair and effect.unit is None
        link = None if metric is None or not is_bare or (own and own.is_stated) else _NEXT_IN_LIST.fullmatch(text, end, effect.start)
        goes_on = link is not None and metric is not None and not METRIC_NOUNS.search(link["name"])
        measure = Measure(metric, MeasureSource.LIST) if goes_on and metric else own
        end, metric = effect.end, measure.metric if measure and is_bare and measure.is_stated else None
        yield effect, measure, nearby


def _with_measures_of_others(measured: list[Measured]) -> Iterator[tuple[Effect, Measure, Surroundings]]:
    """The effects with a measure. A change without a noun takes the measure of other claims of the text.

    A signed percentage takes the metric of an equal percentage elsewhere in the text; a bare `98% reduction` that of all other claims, if
    they have the same metric.
    """
    stated = [(effect, measure) for effect, measure, _ in measured if measure and measure.is_stated]
    signed = {_signed_value(effect): measure.metric for effect, measure in stated if effect.change and effect.change.sign}
    metrics = {measure.metric for _, measure in stated}
    only = next(iter(metrics)) if len(metrics) == 1 else None
    for effect, measure, nearby in measured:
        if measure is not None and measure.source is not MeasureSource.NOTHING:
            yield effect, measure, nearby
            continue
        other = signed.get(_signed_value(effect)) if signed and is_signed_without_noun(effect, nearby) else None
        other = other or (only if only and is_change_without_noun(effect, nearby) else None)
        if other is not None:
            yield effect, Measure(other, MeasureSource.OTHER_CLAIM, effect.unit), nearby
        elif measure is not None:
            yield effect, measure, nearby


def _signed_value(effect: Effect) -> tuple[str, float, float] | None:
    """Sign, lower and upper end of the change; None for a pair without one."""
    return (effect.change.sign, effect.change.low, effect.change.high) if effect.change else None
