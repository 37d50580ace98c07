"""The metric of an effect: by its unit, else by the nearest noun, else inferred; None if it is not performance."""

from __future__ import annotations

from ingest.claims.judge.inferred_metrics import by_title_of_speed, inferred
from ingest.claims.judge.not_performance import is_a_setting, is_a_threshold, is_other_than_performance
from ingest.claims.judge.nouns import BURDENS, NO_PERFORMANCE, NOUN_REACH, NOUNS, PREFIX, SIGNED, last_noun, nearest_noun
from ingest.claims.judge.ratios import agrees
from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import Measure, MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import BARE_FACTOR, BEGINS, GAMES, OTHER_SPEEDS, Sense
from ingest.claims.words.word_tables import words
from schemas.rows.claim import ClaimMetric


def measure_of(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure of an effect; None if the text names another quantity than performance, or none for a bare pair.

    The unit of a figure decides first, then the nearest noun (`judge.nouns`); without one it is inferred (`judge.inferred_metrics`).
    """
    measure = _measure_of(effect, nearby)
    if measure is None or is_other_than_performance(effect, nearby):
        return None
    is_setting = is_a_setting(effect, nearby) if effect.before or effect.after else is_a_threshold(nearby)
    return measure._replace(is_setting=True) if is_setting else measure


def _measure_of(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure, whether or not the figures are those of a setting."""
    if effect.word == BARE_FACTOR and not effect.is_pair:
        return by_title_of_speed(effect, nearby)
    if effect.is_pair and _are_speedups(effect, nearby):
        return Measure(ClaimMetric.THROUGHPUT, MeasureSource.NOUN, effect.unit)
    figure = next((figure for figure in (effect.before, effect.after) if figure and figure.unit), None)
    return _by_unit(figure, effect, nearby) if figure else _by_noun(effect, nearby)


def is_signed_without_noun(effect: Effect, nearby: Surroundings) -> bool:
    """Whether it is a signed percentage without a noun near it: `−30%` in a list."""
    is_bare = effect.word in SIGNED and effect.change is not None and not effect.is_pair and not nearby.is_table
    return is_bare and nearest_noun(effect, nearby) is None and not NOUNS.search(nearby.left[-SUBJECT_REACH:])


def is_change_without_noun(effect: Effect, nearby: Surroundings) -> bool:
    """Whether no noun is near a `98% reduction`, or near a table row whose change agrees with its figures."""
    if (
        effect.change is None
        or is_other_than_performance(effect, nearby)
        or is_a_setting(effect, nearby)
        or nearest_noun(effect, nearby) is not None
    ):
        return False
    if nearby.is_table:
        return effect.is_pair and agrees(effect, effect.change)
    return effect.sense is Sense.FALL and effect.after is None


# --- by the unit of a figure

_BURDEN = pattern(BURDENS)


def _by_unit(figure: Quantity, effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure by the unit of a figure: bytes may be a size, cycles are time, `faults/s` operations."""
    metric = figure.metric
    if metric is ClaimMetric.OPERATIONS and _is_of_cycles(effect):
        metric = ClaimMetric.TIME
    elif metric is ClaimMetric.MEMORY:
        metric = _memory_or_size(nearby)
    elif metric is ClaimMetric.THROUGHPUT and effect.before and effect.before.low == 0:  # from nothing: a new feature
        metric = None
    elif metric is ClaimMetric.THROUGHPUT and (_BURDEN.search(nearby.left[-40:]) or _counts_burdens(figure)):
        metric = ClaimMetric.OPERATIONS
    return Measure(metric, figure.source, effect.unit) if metric else None


def _counts_burdens(figure: Quantity) -> bool:
    """Whether the unit counts events of which less is better: `3,000 syscalls per second`."""
    return figure.unit is not None and bool(_BURDEN.match(figure.unit.name))


def _is_of_cycles(effect: Effect) -> bool:
    """Whether the figures are CPU cycles."""
    return any(figure.unit.name.lower().startswith("cyc") for figure in (effect.before, effect.after) if figure and figure.unit)


def _memory_or_size(nearby: Surroundings) -> ClaimMetric:
    """Whether bytes are memory or the size of a file: by the nearest noun of either, memory without one."""
    for part in (nearby.right[:40], nearby.left[-100:], nearby.inside, nearby.title.lower):
        for match in NOUNS.finditer(part):
            if match.lastgroup in ("MEMORY", "SIZE"):
                return ClaimMetric[match.lastgroup]
            if match.lastgroup == "OPERATIONS" and "alloc" in match[0]:
                return ClaimMetric.MEMORY
    return ClaimMetric.MEMORY


_FASTER = pattern(r"\b(?:faster|speed-?ups?)\b")
_SPEEDUP_OF = pattern(r"\bspeed-?ups?(?: of| from)?[\s:*_`~]*$")


def _are_speedups(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the pair is one of speedups, of which more is better: `1.28x faster → 1.38x faster`, `speedup 1.1 → 1.3`."""
    assert effect.before
    if effect.before.kind is Kind.VALUE:
        return effect.unit is None and _SPEEDUP_OF.search(nearby.left) is not None
    return effect.before.kind is Kind.TIMES and bool(_FASTER.search(nearby.inside) or _FASTER.search(nearby.left[-40:]))


# --- by a noun

_OF_GAMES = pattern(f"{BEGINS}(?:{GAMES})")
_SCORE_HEADER = pattern(r"\| (?:\w+ )?(?:scores?|grade|rating) \|")
"""The header cell of a column of scores, which are not performance."""

_COUNTED_ROW = pattern(r"\| (?:(?:number|count) of )?(?:\w+ )?(?:files|images|packages|chunks|logs|responses|downloads) \|")
_COUNTED_INSIDE = pattern(r"\d\+? (?:packages|files|modules|images|chunks|logs|dependencies)\b")
_OF_SIZE = pattern(r"\b(?:size|bytes?|[kmg]i?b|large|big|small)")
"""Without one of these words, bare numbers beside a file or image are counts or versions."""


def _by_noun(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure by the nearest noun, else inferred; None for scores, games and nouns that are not performance."""
    if OTHER_SPEEDS.match(nearby.right) or (nearby.is_table and _SCORE_HEADER.search(nearby.left)) or _OF_GAMES.search(nearby.left[-40:]):
        return None
    noun = nearest_noun(effect, nearby)
    if noun is None:
        return inferred(effect, nearby)
    if noun.group == NO_PERFORMANCE or (noun.group == "SIZE" and _counts_files(effect, nearby)):
        return None
    if noun.group == "THROUGHPUT" and effect.sense is Sense.FALL and not effect.is_pair and _uses_bandwidth(nearby):
        return Measure(ClaimMetric.SIZE, noun.source, effect.unit)
    if noun.is_performance and _is_more_performance(effect, nearby):
        return Measure(ClaimMetric.THROUGHPUT, noun.source, effect.unit)
    return Measure(ClaimMetric[noun.group], noun.source, effect.unit)


_USES = pattern(r"\b(?:us(?:es?|age|ing)|consum\w+|sav\w+|need\w*|with)\b[^.;\n]{0,20}$")


def _uses_bandwidth(nearby: Surroundings) -> bool:
    """Whether the bandwidth is what is transferred, of which less is better: `uses 3x less bandwidth`."""
    is_of_bandwidth = any("bandwidth" in part for part in (nearby.left, nearby.inside, nearby.right[:NOUN_REACH]))
    return is_of_bandwidth and _USES.search(nearby.left) is not None


_IMPROVED = pattern(r"\b(?:improv\w+|better|optimi[sz]\w+)\b")


def _is_more_performance(effect: Effect, nearby: Surroundings) -> bool:
    """Whether bare numbers are performance, of which more is better: `performance from 300 to 330`.

    Numbers that fall while performance improves are times.
    """
    before, after = effect.before, effect.after
    if before is None or after is None or before.unit or after.unit or effect.change or before.kind is not Kind.VALUE:
        return False
    return after.low > before.low or not (_IMPROVED.search(nearby.left[-40:]) or _IMPROVED.search(nearby.inside))


def _counts_files(effect: Effect, nearby: Surroundings) -> bool:
    """Whether bare numbers beside a file or image are counts or versions, not sizes."""
    is_load = effect.before is not None and effect.before.kind is Kind.PERCENT
    if effect.is_pair and _COUNTED_INSIDE.search(nearby.inside):
        return True
    heading = nearby.list_heading() if "\n" in nearby.inside else ""
    if not effect.is_pair or is_load or any(map(_OF_SIZE.search, (nearby.left, nearby.right, heading))):
        return False
    return not nearby.is_table or _COUNTED_ROW.search(nearby.left) is not None


# --- the sense of the change for its metric


def _labels(nearby: Surroundings) -> str:
    """Row label and header cells of an effect in a table, without the lines above it."""
    return " | ".join(nearby.left.split(" | ")[2:])


_LOST = tuple(words("comparisons", "alone_lost"))
_BETTER_IF_MORE = pattern(r"\b(?:speeds?|performance|perf|efficiency|parallel scaling)\b")
SUBJECT_REACH = 60
"""Characters before a verb in which its subject is searched."""


def sense_of(effect: Effect, metric: ClaimMetric, nearby: Surroundings) -> Sense | None:
    """The sense of the change, adapted to its metric.

    Of time, more is a rise; but more speed or performance, whose metric is time too, is a gain. A `20% throughput loss` is a fall: it says
    how much is gone, not how much slower it became.
    """
    if metric is ClaimMetric.THROUGHPUT and effect.sense is Sense.LOSS and effect.word.startswith(_LOST) and not effect.is_pair:
        return Sense.FALL
    if metric is not ClaimMetric.TIME or effect.sense not in (Sense.RISE, Sense.FALL) or effect.is_pair:
        return effect.sense
    words_near = f"{nearby.inside} {nearby.right[:NOUN_REACH].partition('(')[0]}"
    if _names_time(nearby.inside):
        words_near = nearby.inside  # `5% encode time reduction at speed 7`
    elif effect.word in SIGNED:
        nearest = NOUNS.match(nearby.right, 1) or last_noun(PREFIX.sub("", nearby.left)[-SUBJECT_REACH:])
        words_near = nearest[0] if nearest else ""
    elif not _names_time(words_near):
        words_near = _labels(nearby) if nearby.is_table else PREFIX.sub("", nearby.left)[-SUBJECT_REACH:]
    if not _BETTER_IF_MORE.search(words_near):
        return effect.sense
    return Sense.GAIN if effect.sense is Sense.RISE else Sense.LOSS


def _names_time(words_near: str) -> bool:
    """Whether any of the words is a noun of time."""
    return any(match.lastgroup == "TIME" for match in NOUNS.finditer(words_near))
