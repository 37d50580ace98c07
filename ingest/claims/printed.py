"""Results as they are printed, line by line.

Labelled lines: `Before: 240 s` / `After: 110 s` / `Speedup: 2.2x`. Named readings, as benchmark
scripts print them: `'bind_time_s': 0.0995` below `Baseline:`, or `baseline_ms=3.9,
optimized_ms=2.1`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from re import IGNORECASE, Match
from typing import NamedTuple

from ingest.claims.judge import agrees
from ingest.claims.numbers import ClaimUnit, Effect, Kind, Quantity, quantities, unit
from ingest.claims.readings import effects
from ingest.claims.search import Passage, label
from ingest.claims.sides import ordered_by_sign
from ingest.claims.words import BULLETS, Sense
from ingest.literals import pattern

Line = tuple[Quantity, ...]

_FIGURES = 8
"""Quantities of a line that are compared with those of another: a labelled line has few."""

_LINE = pattern(r"[^\n]+")


def labelled_effects(text: str, passage: Passage) -> Iterator[Effect]:
    """Yield the effects of labelled lines.

    The figures of later lines against the like one of the first, with the change that follows.
    """
    spans = [match.span() for match in _LINE.finditer(text, passage.start, passage.end)]
    lines = [tuple(islice(quantities(text, low, high), _FIGURES)) for low, high in spans]
    roles = [label(text, low) for low, _ in spans]
    if roles == ["after", "before"]:
        pairs = [pair.reversed() for pair in _candidates(lines[0], lines[1])[:1]]
    else:
        pairs = (
            list(_against_first(lines, roles))
            if roles[0] == "before"
            else list(_by_change(text, lines))
        )
    if pairs:
        for index, pair in enumerate(pairs):
            following = pairs[index + 1].end if index + 1 < len(pairs) else passage.end
            yield _with_change(pair, lines, following)
    else:
        for (low, high), line in zip(spans, lines, strict=True):
            yield from effects(text, list(line), low, high)


def _against_first(lines: list[Line], roles: list[str | None]) -> Iterator[Effect]:
    """Pair the first line's figure with each later figure labelled as the one after.

    A figure also counts if it fits the change stated for it.
    """
    for index, line in enumerate(lines[1:], 1):
        candidates = _candidates(lines[0], line)
        changes = (
            [*line, *lines[index + 1]]
            if index + 1 < len(lines) and roles[index + 1] == "change"
            else list(line)
        )
        proven = _proven(candidates, changes)
        if proven or (roles[index] == "after" and candidates):
            yield (proven or candidates)[0]


def _by_change(text: str, lines: list[Line]) -> Iterator[Effect]:
    """Pair two figures under unclear labels if the change in the last line fits them.

    Unclear labels do not say before or after.
    """
    if not (proven := _proven(_candidates(lines[0], lines[1]), lines[-1])):
        return
    signed = next(
        (change for change in lines[-1] if change.kind is Kind.PERCENT and change.sign), None
    )
    if signed and _OF_FIGURES.search(text, lines[1][-1].end, signed.start):
        yield ordered_by_sign(proven[0], signed)
        return
    is_loss = any(
        change.kind is Kind.TIMES and change.high < 1 for change in lines[-1]
    )  # `Speedup: 0.98x`
    yield proven[0]._replace(is_order_open=True, sense=Sense.LOSS if is_loss else Sense.GAIN)


_OF_FIGURES = pattern(r"\b(?:change|delta|diff\w*|Δ)[*_`]*\s*[:=][^:=\n]*$", IGNORECASE)
"""The label of a change that has the sign of the figures, unlike `Improvement: +25%`."""


def _candidates(first: Line, second: Line) -> list[Effect]:
    return [
        Effect(before.start, after.end, before, after)
        for before in first
        for after in second
        if _alike(before, after)
    ]


def _alike(before: Quantity, after: Quantity) -> bool:
    return (
        before.kind is after.kind is Kind.VALUE
        and before.metric is not None
        and before.metric is after.metric
    )


def _proven(candidates: list[Effect], changes: list[Quantity] | Line) -> list[Effect]:
    stated = [change for change in changes if change.kind is not Kind.VALUE]
    return [
        pair
        for pair in candidates
        for change in stated
        if change.start >= pair.end and agrees(pair, change)
    ]


def _with_change(pair: Effect, lines: list[Line], end: int) -> Effect:
    """Return the pair with the factor or percentage that fits it."""
    for quantity in (quantity for line in lines for quantity in line):
        if (
            pair.end <= quantity.start < end
            and quantity.kind is not Kind.VALUE
            and agrees(pair, quantity)
        ):
            return pair._replace(end=quantity.end, change=quantity)
    return pair


# --- named readings

_MOST_LINES, _MOST_READINGS, _MOST_PAIRS = 2000, 2000, 200
"""Limits of the lines searched, the readings and the pairs; a text with more is data, not a
summary.
"""

_BASELINE = frozenset(
    ("baseline before original orig old prior previous unoptimized naive").split()
)
_CANDIDATE = frozenset(("optimized optimised opt after new improved patched post").split())
_FILLERS = frozenset(
    "the this my all our a edit edits edited change changes changed code version "
    "optimization optimizations optimisation"
    " optimisations patch fix run runs timing timings time times result results measurement "
    "measurements benchmark output numbers"
    " observed cpu gpu local refactor implementation microbenchmark avg average median mean".split()
)
"""Words of a label that do not name what is measured: `Baseline timings:`, `After optimizations
(CPU):`.
"""

_SPREAD = frozenset({"std", "stdev", "stddev", "iters", "n", "reps", "count", "samples", "seed"})
"""Names of readings that are no result."""

_MOST_INPUTS = 6
"""Limit of the inputs that distinguish cases."""

SPEAKS_OF_BASELINE = pattern(
    (
        r"(?-i:[bBoOpP])(?<!\w.)(?:(?<=b)(?:aseline|efore)|(?<=o)(?:rig(?:inal)?|ld)|(?<=p)rior)(?:_\w|[^\n:={]{0,"
        r"50}[:={≈])"
    ),
    IGNORECASE,
)
"""A label or name with a word for the baseline. It begins with a class of letters, so that `re`
skips ahead.
"""


class _Reading(NamedTuple):
    """A figure with the words of its name that do not tell its side.

    `is_baseline` is None if the side is unknown.
    """

    figure: Quantity
    words: tuple[str, ...]
    case: tuple[str, ...]
    """The inputs before it on its line, as written: `len=50000` in `len=50000: warmup=3.86ms,
    time=192.79ms`.
    """
    is_baseline: bool | None
    is_named: bool
    """Whether its own name gives the side."""
    line: int


def reading_effects(text: str) -> Iterator[Effect]:
    """Yield the pairs of named readings, in the order of their candidate figures.

    None in a text without a word for the baseline.
    """
    if len(values := [found.start() for found in _VALUE.finditer(text)]) > 1 and (
        first := SPEAKS_OF_BASELINE.search(text)
    ):
        start = text.rfind("\n", 0, first.start()) + 1
        if len(values) - bisect_left(values, start) < 2:
            return
        yield from islice(
            _pairs(list(islice(_readings(text, start, values), _MOST_READINGS))), _MOST_PAIRS
        )


def _pairs(readings: list[_Reading]) -> Iterator[Effect]:
    """Pair each candidate reading with the last baseline reading of the same words and case.

    If there is none, pair it with the one right before it.
    """
    known: dict[tuple[tuple[str, ...], tuple[str, ...]], _Reading] = {}
    cases: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for index, reading in enumerate(readings):
        if reading.is_baseline:
            known[reading.words, reading.case] = reading
            cases.setdefault(reading.words, set()).add(reading.case)
        elif reading.is_baseline is False:
            only = (
                next(iter(cases[reading.words]))
                if len(cases.get(reading.words, ())) == 1
                else reading.case
            )
            before = known.get((reading.words, reading.case)) or known.get((reading.words, only))
            if before and _are_comparable(before.figure, reading.figure):
                yield _effect(
                    before, reading, readings[index + 1] if index + 1 < len(readings) else None
                )


def _are_comparable(before: Quantity, after: Quantity) -> bool:
    """Return whether both have the same metric.

    Bare numbers must differ, since equal ones are the size of the input.
    """
    return before.metric is after.metric and (before.unit is not None or before.low != after.low)


def _effect(before: _Reading, after: _Reading, behind: _Reading | None) -> Effect:
    """Return the pair, with a speedup behind it that agrees.

    Its span has both figures only if they are adjacent.
    """
    is_beside = before.is_named and after.line - before.line <= 1
    start = before.figure.start if is_beside else after.figure.start
    words = " ".join(after.words)
    pair = Effect(start, after.figure.end, before.figure, after.figure, labels=f"{words}: ")
    if (
        behind is None
        or behind.line - after.line > 1
        or frozenset({"speedup", "improvement"}).isdisjoint(behind.words)
    ):
        return pair
    figure = behind.figure
    change = (
        figure._replace(kind=Kind.TIMES)
        if figure.kind is Kind.VALUE and not figure.unit
        else figure
    )
    return (
        pair._replace(end=change.end, change=change)
        if change.kind is not Kind.VALUE and agrees(pair, change)
        else pair
    )


# --- the readings of a text

_SIDE_LABEL = pattern(
    rf"[ \t{BULLETS}#>*_`]*(?P<label>[A-Za-z][^:={{≈\n|]{{1,60}}?)[*_`]*[ \t]*(?:[:=]|≈|(?=\{{)|$)"
)
_FIRST_WORD = pattern(rf"[ \t{BULLETS}#>*_`]*(?P<word>[^\W_]+)")
_WORDS_OF_SIDES = _BASELINE | _CANDIDATE | _FILLERS
_BRACKETS = pattern(r"\([^()]*\)")
_WORDS = pattern(r"[^\W_]+")
_VALUE = pattern(r"[:=≈](?:(?<=≈)|(?<!≈)(?!(?<=\d:)\d)[ \t]{0,12}≈?)[ \t]{0,3}(?=[~<≈*`]{0,3}\d)")
"""The separator before a value, but no colon of a clock: `2:20.30`. It begins with a class, so that
`re` skips ahead.
"""

_LONGEST = 80

_DELIMITER = pattern(r"[,;{}\[\]|:=≈]")
_NAME = pattern(r"[\W\d]*(?P<name>[A-Za-z_].{0,60}?)[*_`'\"\s]*")


def _readings(text: str, start: int, values: list[int]) -> Iterator[_Reading]:
    """Yield the readings of the lines from `start` on, each with its side.

    `values` are the offsets of the separators before values.
    """
    section: bool | None = None
    depth = 0
    for number, line in enumerate(islice(_LINE.finditer(text, start), _MOST_LINES)):
        label = _label_of_side(text, line)
        side = _side_of_label(label["label"]) if label else None
        behind = label.end() if label and side is not None else line.start()
        has_value = bisect_left(values, line.start()) < bisect_left(values, line.end())
        own = (
            list(islice(_readings_of_line(text, behind, line.end()), _MOST_READINGS))
            if has_value
            else []
        )
        if side is not None and not own:
            section, depth = side, _depth(line)
            continue
        if section is not None and (side is not None or not own) and _depth(line) <= depth:
            section = None
        yield from _with_sides(own, section if side is None else side, number)


def _label_of_side(text: str, line: Match[str]) -> Match[str] | None:
    """Return the label of the line if its first word may be in the label of a side.

    A cheap test that most lines fail.
    """
    first = _FIRST_WORD.match(text, *line.span())
    return (
        _SIDE_LABEL.match(text, *line.span())
        if first and first["word"].lower() in _WORDS_OF_SIDES
        else None
    )


def _depth(line: Match[str]) -> int:
    """Return the column where the words of the line begin.

    A bullet below a label without one is deeper.
    """
    return len(line[0]) - len(line[0].lstrip(f" \t{_BULLETS}"))


_BULLETS = "-*•"


def _side_of_label(label: str) -> bool | None:
    """Return whether the label names only the baseline (True) or only the candidate (False).

    `Baseline (before changes)`.
    """
    words = _words(_BRACKETS.sub("", label))
    sides = {word in _BASELINE for word in words if word in _BASELINE or word in _CANDIDATE}
    named = [
        word
        for word in words
        if word not in _BASELINE and word not in _CANDIDATE and word not in _FILLERS
    ]
    return sides.pop() if len(sides) == 1 and not named else None


def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORDS.findall(name))


def _readings_of_line(text: str, start: int, end: int) -> Iterator[tuple[str, Quantity]]:
    """Yield the names and figures between `start` and `end`."""
    floor = start
    for found in _VALUE.finditer(text, start, end):
        name = _NAME.fullmatch(
            _DELIMITER.split(text[max(floor, found.start() - _LONGEST) : found.start()])[-1]
        )
        figure = (
            next(quantities(text, found.end(), min(end, found.end() + _LONGEST)), None)
            if name
            else None
        )
        if name and figure and figure.start - found.end() <= 3:
            floor = figure.end
            yield name["name"], figure


def _with_sides(
    own: Iterable[tuple[str, Quantity]], side: bool | None, line: int
) -> Iterator[_Reading]:
    """Yield the readings with the side that their names tell, else with that of their line."""
    inputs: list[str] = []
    for name, figure in own:
        words = _words(name)
        case = tuple(inputs)
        if figure.unit is None and figure.low == int(figure.low) and len(inputs) < _MOST_INPUTS:
            inputs.append(f"{name}={figure.low}")
        if not _SPREAD.isdisjoint(words[-1:]):
            continue
        sides = {word in _BASELINE for word in words if word in _BASELINE or word in _CANDIDATE}
        is_named = side is None and len(sides) == 1
        rest = tuple(
            word
            for word in words
            if not is_named or (word not in _BASELINE and word not in _CANDIDATE)
        )
        if not rest and figure.unit is None and len(words) == 1:  # `before: 30`: a labelled line
            continue
        yield _Reading(
            _in_unit_of_name(figure, words),
            rest,
            case,
            sides.pop() if is_named else side,
            is_named,
            line,
        )


_TIMES = {"ms": "ms", "s": "s", "sec": "s", "secs": "s", "seconds": "s", "us": "us", "ns": "ns"}


def _in_unit_of_name(figure: Quantity, words: tuple[str, ...]) -> Quantity:
    """Return a bare figure with the unit at the end of its name: `bind_time_s`, `output_tok_s`."""
    if figure.unit or figure.kind is not Kind.VALUE or not words:
        return figure
    named = _unit_of_name(words)
    return figure._replace(unit=named) if named else figure


def _unit_of_name(words: tuple[str, ...]) -> ClaimUnit | None:
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("s", "sec") and (
        before
        in frozenset({"tok", "toks", "tokens", "req", "requests", "ops", "it", "items", "samples"})
        or before == "per"
    ):
        return unit(f"{words[-3] if before == 'per' and len(words) > 2 else before}/s")
    return unit(_TIMES[last]) if last in _TIMES else None
