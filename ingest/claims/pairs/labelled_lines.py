"""Runs of labelled lines: `Before: 240 s` / `After: 110 s` / `Speedup: 2.2x`, and `Original: 74 s` / `Cached: 18 s (4x)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from ingest.claims.find.passages import Passage, role_of_label
from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity, quantities
from ingest.claims.numbers.units import unit
from ingest.claims.patterns import pattern
from ingest.claims.prose import prose_effects
from ingest.claims.tables.cells import with_unit
from ingest.claims.words.vocabulary import BARE_FACTOR, BULLETS, Sense

Line = tuple[Quantity, ...]

_MOST_FIGURES = 8
"""The most quantities of a line that are read: a labelled line has few."""

_LINE = pattern(r"[^\n]+")


def labelled_effects(text: str, passage: Passage) -> Iterator[Effect]:
    """The effects of a run of labelled lines: pairs of the baseline line with later lines, each with the change behind it.

    `Before: 240 s` / `After: 110 s` / `Speedup: 2.2x` is one pair with its factor. Lines without a pair are read as running text.
    """
    spans = [match.span() for match in _LINE.finditer(text, passage.start, passage.end)]
    above = text[text.rfind("\n", 0, max(0, passage.start - 1)) + 1 : max(0, passage.start - 1)].rstrip(" *_`:")
    lines = [_line(text, low, high, above) for low, high in spans]
    roles = [role_of_label(text, low) for low, _ in spans]
    named = [_words_before_figures(text, low, line) for (low, _), line in zip(spans, lines, strict=True)]
    if roles == ["before", None] and all(_BRANCH.match(text, low, high) for low, high in spans):
        roles = ["before", "after"]
    if roles[0] == "before":
        pairs = list(_pairs_with_baseline_line(lines, roles, named))
    else:
        pairs = list(_pair_with_candidate_line_first(lines) if roles == ["after", "before"] else _pair_proven_by_change(text, lines))
    if pairs:
        for index, pair in enumerate(pairs):
            following = pairs[index + 1].end if index + 1 < len(pairs) else passage.end
            yield _with_change(pair, lines, following)
        yield from _pairs_within_lines(text, pairs, lines, spans)
        yield from _further_changes(text, pairs, lines, spans, roles)
        if _is_another_change(lines[-1], roles[-1], pairs):
            yield from prose_effects(text, list(lines[-1]), *spans[-1])
    else:
        for (low, high), line in zip(spans, lines, strict=True):
            yield from prose_effects(text, list(line), low, high)


_BRANCH = pattern(rf"[\s{BULLETS}]{{0,12}}[*_]{{0,3}}`[^`\n]+`[*_]{{0,3}}:")
"""A label that is a name in backticks: "`main`: 30 s"."""

_LABEL_WORDS = pattern(r"[\W\d_]{0,12}((?:[\w/]{1,20} ){1,3}?)(?:before|after|old|new)\b[*_`]*:", re.IGNORECASE)
_AMBIGUOUS_UNITS = frozenset({"min", "m", "h", "d", "b", "s", "w", "j"})


def _line(text: str, start: int, end: int, above: str) -> Line:
    """The figures of a line; bare numbers with the unit of the line above or of the label, `NPS before: 4000`."""
    found = tuple(with_unit(figure, above, source=MeasureSource.LABEL) for figure in islice(quantities(text, start, end), _MOST_FIGURES))
    if not found or found[0].unit or found[0].kind is not Kind.VALUE or not (words := _LABEL_WORDS.match(text, start, end)):
        return found
    named = next((known for word in words[1].lower().split() if word not in _AMBIGUOUS_UNITS and (known := unit(word))), None)
    return (found[0].in_unit(named, MeasureSource.LABEL), *found[1:])


def _pair_with_candidate_line_first(lines: list[Line]) -> Iterator[Effect]:
    """`this branch: 2 s` / `main: 3 s`: the first comparable figures of two lines, the second line being the baseline."""
    for pair in _comparable_figures(lines[1], lines[0])[:1]:
        first, second = pair.after, pair.before
        if first and second:
            yield pair._replace(start=first.start, end=second.end)


def _is_another_change(last: Line, role: str | None, pairs: list[Effect]) -> bool:
    """Whether the last line is a change that agrees with none of the pairs: without a label, `24% faster`, or below counts without a unit.

    `Before: 50 layers` / `After: 18 layers` / `Speedup: 2-3x faster`
    """
    if not last or last[0].kind is Kind.VALUE or any(agrees(pair, last[0]) for pair in pairs):
        return False
    return role is None or (role == "change" and all(pair.unit is None for pair in pairs))


def _pairs_within_lines(text: str, pairs: list[Effect], lines: list[Line], spans: list[tuple[int, int]]) -> Iterator[Effect]:
    """The further pairs within single lines, behind the figures used: `After: longest pause 2 s. Import 41 s → 52 s`."""
    used = max(pair.end for pair in pairs)
    for (low, high), line in zip(spans, lines, strict=True):
        behind = [figure for figure in line if figure.start >= used]
        if len(behind) > 1:
            yield from (effect for effect in prose_effects(text, behind, max(low, used), high) if effect.is_pair)


_ENUMERATED = pattern(r"[^\d;:()\n]{0,30}(?:[,;]|\band\b|&)\s+[*_`~]{0,3}", re.IGNORECASE)


def _further_changes(
    text: str, pairs: list[Effect], lines: list[Line], spans: list[tuple[int, int]], roles: list[str | None]
) -> Iterator[Effect]:
    """The changes behind the first of a line of changes, each with a noun of its own: `Improvement: 60% faster, 80% less memory`."""
    used = max(pair.end for pair in pairs)
    for (_, high), line, role in zip(spans, lines, roles, strict=True):
        for before, change in pairwise(line if role == "change" else ()):
            is_next = change.kind is not Kind.VALUE and _ENUMERATED.fullmatch(text, before.end, change.start) is not None
            if is_next and change.start >= used and not any(agrees(pair, change) for pair in pairs):
                yield from (effect for effect in prose_effects(text, [change], before.end, high) if effect.word != BARE_FACTOR)


_LABEL = pattern(r"[^\n:=]{0,60}[:=]")
_SPREAD = pattern(r"mean|avg|average|median|min|max|std|stdev|user|sys|σ|range|samples|runs", re.IGNORECASE)
"""Statistics of one measurement: of several, only the first figure is read."""


_BRACKETS = pattern(r"\([^()\n]{1,30}\)")


def _words_before_figures(text: str, start: int, line: Line) -> tuple[str, ...]:
    """The words before each figure, in lower case, without the label of the line: `indexing` in `After: rebuild 109 s; indexing 81 s`."""
    label_of_line = _LABEL.match(text, start)
    begins = [label_of_line.end() if label_of_line else line[0].start if line else start, *(figure.end for figure in line)]
    return tuple(_BRACKETS.sub("", text[low : figure.start]).strip(" *_`,;/|(~").lower() for low, figure in zip(begins, line, strict=False))


def _pairs_in_order(first: Line, line: Line, names: tuple[str, ...], other_names: tuple[str, ...]) -> list[Effect]:
    """The pairs of two lines with the same words before their figures, in order; none if the words do not tell the figures apart.

    `full rebuild 141 s; indexing 114 s` above `full rebuild 109 s; indexing 81 s` gives two pairs.
    """
    are_comparable = all(before.has_metric_of(after) for before, after in zip(first, line, strict=False))
    if len(first) != len(line) or len(first) < 2 or names != other_names or not are_comparable or any(map(_SPREAD.search, names)):
        return []
    is_named = len(set(names)) == len(names) and all(name[0].isalpha() for name in names if name)
    are_distinguishable = is_named or len({figure.metric for figure in first}) == len(first) or _have_different_names(names)
    return (
        [Effect(before.start, after.end, before, after) for before, after in zip(first, line, strict=True)] if are_distinguishable else []
    )


def _have_different_names(names: tuple[str, ...]) -> bool:
    """Whether all names but the first, which may be empty behind the label, are there and different: `Before: 3 s, p95 9 s, p99 12 s`."""
    behind = names[1:]
    return all(behind) and len(set(behind)) == len(behind)


_CLAUSES = pattern(r"[,;()|.]")
_NO_NAMES = frozenset({"and", "with", "at", "in", "of", "the", "a", "is", "was", "for", "to", "about", "~"})


def _pairs_by_name(first: Line, line: Line, names: tuple[str, ...], other_names: tuple[str, ...]) -> list[Effect]:
    """The pairs of figures of which one name contains the words of the other; none if fewer than two.

    `longest write pause 40 s (all of it), max read latency 20 s` above `longest pause 2 s, max latency 5 s` gives two pairs.
    """
    known = [(figure, words) for figure, name in zip(first, names, strict=True) if figure.unit and (words := _name_words(name))]
    found: list[Effect] = []
    for figure, name in zip(line, other_names, strict=True):
        words = _name_words(name)
        are_comparable = [
            before for before, others in known if words and (words <= others or others <= words) and before.has_metric_of(figure)
        ]
        if len(are_comparable) == 1:
            found.append(Effect(are_comparable[0].start, figure.end, are_comparable[0], figure))
    is_one_to_one = len({effect.start for effect in found}) == len(found)
    if len(found) < 2 or not is_one_to_one:
        return []
    totals = [figure.start for figure, name in zip(line, other_names, strict=True) if "total" in name]
    return [effect for effect in found if effect.after and effect.after.start in totals] or found  # its parts may only have shifted


def _name_words(name: str) -> frozenset[str]:
    """The words of the clause right before a figure; empty if that is only a statistic, such as `max`."""
    clause = _CLAUSES.split(name)[-1].strip(" *_`")
    return frozenset() if _SPREAD.fullmatch(clause) else frozenset(clause.split()) - _NO_NAMES


def _pairs_with_baseline_line(lines: list[Line], roles: list[str | None], named: list[tuple[str, ...]]) -> Iterator[Effect]:
    """The pairs of the first line, the baseline, with each later line labelled as candidate or with an agreeing change, `18 s (4x)`."""
    for index, line in enumerate(lines[1:], 1):
        if roles[index] == "after" and (each := _pairs_in_order(lines[0], line, named[0], named[index])):
            yield from each
            continue
        if roles[index] == "after" and (each := _pairs_by_name(lines[0], line, named[0], named[index])):
            yield from each
            continue
        if roles[index] == "change" and "after" in roles[:index]:  # `Reduction: 100 KB (50%)` is a difference, not a candidate figure
            continue
        candidates = _comparable_figures(lines[0], line)
        bare = [] if candidates else _bare_figures(lines[0], line)
        changes = [*line, *lines[index + 1]] if index + 1 < len(lines) and roles[index + 1] == "change" else list(line)
        proven = _pairs_with_agreeing_change([*candidates, *bare], changes)
        if proven or (roles[index] == "after" and candidates):
            yield (proven or candidates)[0]


_OF_FIGURES = pattern(r"\b(?:change|delta|diff\w*|Δ)[*_`]*\s*[:=][^:=\n]*$", re.IGNORECASE)
"""The label of a change whose sign is that of the figures, as that of `Improvement: +25%` is not."""


def _in_order_of_sign(pair: Effect, signed: Quantity) -> Effect:
    """The pair with the baseline first if the figures move as the sign says, `12 s`, `15 s`, `+25%`; else the other way round."""
    assert pair.before
    assert pair.after
    is_in_order = (pair.after.scaled() < pair.before.scaled()) is (signed.sign == "-")
    return pair if is_in_order else pair._replace(before=pair.after, after=pair.before)


def _pair_proven_by_change(text: str, lines: list[Line]) -> Iterator[Effect]:
    """`Sequential: 4046 ms` / `Parallel: 805 ms` / `Improvement: 80%`: the pair of the first two lines that the change agrees with."""
    proven = _pairs_with_agreeing_change(_comparable_figures(lines[0], lines[1]), lines[-1])
    if proven:
        signed = next((change for change in lines[-1] if change.kind is Kind.PERCENT and change.sign), None)
        if signed and _OF_FIGURES.search(text, lines[1][-1].end, signed.start):
            yield _in_order_of_sign(proven[0], signed)
            return
        is_loss = any(change.kind is Kind.TIMES and change.high < 1 for change in lines[-1])  # `Speedup: 0.98x`
        yield proven[0]._replace(is_order_open=True, sense=Sense.LOSS if is_loss else Sense.GAIN)


def _comparable_figures(first: Line, second: Line) -> list[Effect]:
    """All pairs of a figure of the first line and one of the second with the same metric: `2 s, 40 MB` and `1 s, 10 MB` give two."""
    return [Effect(before.start, after.end, before, after) for before in first for after in second if before.has_metric_of(after)]


def _bare_figures(first: Line, second: Line) -> list[Effect]:
    """The pair of the first figures of two lines without units, `24K` and `19K`; it counts only with a change that agrees."""
    if not first or not second or not all(one.kind is Kind.VALUE and one.unit is None for one in (first[0], second[0])):
        return []
    return [Effect(first[0].start, second[0].end, first[0], second[0])]


def _pairs_with_agreeing_change(candidates: list[Effect], changes: list[Quantity] | Line) -> list[Effect]:
    """The pairs that agree with a factor or percentage behind them: 4046 ms and 805 ms with `80%`."""
    stated = [change for change in changes if change.kind is not Kind.VALUE]
    return [pair for pair in candidates for change in stated if change.start >= pair.end and agrees(pair, change)]


def _with_change(pair: Effect, lines: list[Line], end: int) -> Effect:
    """The pair with the factor or percentage, behind it and before `end`, that agrees with it; else the pair as it is."""
    for quantity in (quantity for line in lines for quantity in line):
        if pair.end <= quantity.start < end and quantity.kind is not Kind.VALUE and agrees(pair, quantity):
            return pair._replace(end=quantity.end, change=quantity)
    return pair
