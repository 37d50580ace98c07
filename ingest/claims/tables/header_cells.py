"""Baseline, candidate and change columns of a table: by header cells, or by a row whose change agrees with two of its figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ingest.claims.judge.ratios import agrees, factor_of
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.numbers.units import unit
from ingest.claims.patterns import pattern
from ingest.claims.tables.cells import Row, with_unit
from ingest.claims.words.vocabulary import (
    ARROW,
    BASELINE_LABELS,
    CANDIDATE_LABELS,
    CHANGE_LABELS,
    FALL_HEADERS,
    GAIN_HEADERS,
    RECIPROCAL_HEADERS,
    Sense,
)
from schemas.rows.claim import ClaimMetric


class Columns(NamedTuple):
    """The roles of columns, by index. Of several candidate columns, the change of each row decides."""

    before: int | None = None
    after: tuple[int, ...] = ()
    change: int | None = None
    is_reciprocal: bool = False
    headers: tuple[str, ...] = ()
    is_inferred: bool = False
    """Whether a row, not the header cells, gave the sides."""
    has_goals: bool = False
    """Whether a goal for the change is in another column: `Target | Achieved`."""
    only_falls: bool = False
    """Whether the changes below `Improvement` are all negative: they are those of the figures, `90 µs | -95%`, and no losses."""


_ROLE_WORDS = pattern(
    rf"[*_`\s]*(?:\w+\s+){{0,2}}?(?:.*?[(\s>])??(?:(?P<before>{BASELINE_LABELS})|(?P<after>{CANDIDATE_LABELS})|(?P<change>{CHANGE_LABELS}))"
    r"(?![A-Za-z]|_(?!(?:[mnuµ]?s|[kmg]i?b|x|pct)$))",
    re.IGNORECASE,
)
_AFTER = pattern(rf"[*_`\s]*\b(?:{CANDIDATE_LABELS})(?![A-Za-z_])", re.IGNORECASE)
GAIN_HEADER = pattern(GAIN_HEADERS, re.IGNORECASE)
FALL_HEADER = pattern(FALL_HEADERS, re.IGNORECASE)


_BOTH_SIDES = pattern(ARROW)
"""`Errors before→after`: each cell of the column has a pair."""


_VERSUS = pattern(r"\w\W{1,4}(?:vs|versus)\b", re.IGNORECASE)
"""`Branch vs base`: the column compares both sides."""


def role_of(words: str) -> str | None:
    """What the label of a row or column names: `before` (baseline), `after` (candidate) or `change`; None for any other label."""
    found = _ROLE_WORDS.match(words)
    return "change" if found and _VERSUS.search(words) else found.lastgroup if found else None


def names_a_candidate(words: str) -> bool:
    """Whether a label begins with a word for the candidate, as `Current` does, which `role_of` takes for the baseline."""
    return _AFTER.match(words) is not None


_NOT_A_SIDE = pattern(
    r"\b(?:session|sprint|week|month|quarter|year|retro|loop|day|run) ?#?\d*\b|^\W*(?:%|percent(?:age)?|share) of\b", re.IGNORECASE
)
"""`Previous (session 57)`, `this week`: columns of two periods, not of a change. `% of bill`: a column of shares."""

_STATE = pattern(r"(?:[\w-]+ )?ratio\b|vs\.?\s", re.IGNORECASE)
"""`Speed ratio`, `vs baseline`: how one thing compares with another, beside `Improvement`."""


def _says_more(words: str, chosen: str) -> bool:
    """Whether another change column says more about the change than the chosen one: of percentages, or of gains."""
    return bool((_DIFFERENCE.match(chosen) and "%" in words) or (_STATE.match(chosen) and GAIN_HEADER.search(words)))


_DIFFERENCE = pattern(r"(?:Δ|delta|diff\w*|change|sav(?:ed|ings?))(?![^%]*%)", re.IGNORECASE)
"""A column of absolute differences. Beside a column of percentages, it is not the change column."""


def columns_by_headers(headers: Row) -> Columns:
    """The columns by their header cells alone: `Case | Before | After | Speedup`."""
    before: int | None = None
    change: int | None = None
    after: list[int] = []
    for index, header in enumerate(headers[1:], 1):
        role = role_of(header.words) if not _NOT_A_SIDE.search(header.words) else None
        if role == "before" and before is None:
            before = index
        elif role == "before" and before is not None and _AFTER.match(headers[before].words) and not _AFTER.match(header.words):
            before, after = index, [before, *after]  # `Current | Previous`
        elif role == "after" or (role == "before" and _AFTER.match(header.words)):  # `Before | Current`
            after.append(index)
        elif role == "change" and (change is None or _says_more(header.words, headers[change].words)):
            change = index
    if before is None and len(after) > 1 and _MAIN_BRANCH.fullmatch(headers[after[0]].words):
        before, after = after[0], after[1:]
    if before is not None:
        after = _candidates_named_as_baseline(headers, before, after) if after else _column_named_as_baseline(headers, before)
    achieved = _achieved_column(headers) if before is None and change is None else None
    change = achieved if achieved is not None else change
    reciprocal = change is not None and bool(RECIPROCAL_HEADERS.search(headers[change].words))
    words = tuple(header.words for header in headers)
    return Columns(before, tuple(after), change, reciprocal, words, has_goals=achieved is not None)


def with_filled_change(columns: Columns, rows: list[Row]) -> Columns:
    """The columns; the change column another one if the first has only words: `Attempt | Change | Time | Δ vs Baseline`."""

    def is_filled(column: int) -> bool:
        return any(column < len(row) and row[column].quantities for row in rows)

    if columns.change is None or is_filled(columns.change):
        return columns
    others = [index for index, header in enumerate(columns.headers) if index > columns.change and role_of(header) == "change"]
    filled = next(filter(is_filled, others), None)
    return columns if filled is None else columns._replace(change=filled)


_MAIN_BRANCH = pattern(r"(?:dev|head)(?: \([^()]*\))?", re.IGNORECASE)
"""`dev | This PR`: of two candidate columns, the one of a main branch is the baseline."""

_BEFORE = pattern(rf"[*_`\s]*\b(?:{BASELINE_LABELS})(?![A-Za-z])\s*", re.IGNORECASE)


def _candidates_named_as_baseline(headers: Row, before: int, after: list[int]) -> list[int]:
    """`new rows | old median | new median`: of several candidate columns, those named like the baseline column, else all."""
    name = _BEFORE.sub("", headers[before].words, 1).lower()
    return [index for index in after if name and _AFTER.sub("", headers[index].words, 1).strip().lower() == name] or after


def _column_named_as_baseline(headers: Row, before: int) -> list[int]:
    """The column named like the baseline column without its word for the side: `Baseline mean | Mean`, `t/s master | t/s wide`."""
    name = _BEFORE.sub("", headers[before].words, 1).lower()
    if not name:
        return []
    equal = [
        index for index, header in enumerate(headers) if index != before and header.words.lower() == name != headers[before].words.lower()
    ]
    ahead = f"{name} "
    with_unit = [index for index, header in enumerate(headers) if index > before and unit(name) and header.words.lower().startswith(ahead)]
    return equal[:1] or (with_unit if len(with_unit) == 1 else [])


_GOAL = pattern(r"(?:target|goal|expected|planned|estimate)", re.IGNORECASE)
_ACHIEVED = pattern(r"(?:achieved|reached|measured|actual|result)", re.IGNORECASE)


def _achieved_column(headers: Row) -> int | None:
    """The column of achieved changes beside their goals: `Target | Achieved`."""
    goal = next((index for index, header in enumerate(headers) if index and _GOAL.match(header.words)), None)
    return next((index for index, header in enumerate(headers) if goal and _ACHIEVED.match(header.words)), None)


def paired_columns(headers: Row) -> list[Columns]:
    """The pairs of columns of `p50 before | p50 after | p99 before | p99 after`; none if there are not several of each side.

    In each pair the same side comes first.
    """
    roles = [role_of(header.words) if index and not _BOTH_SIDES.search(header.words) else None for index, header in enumerate(headers)]
    before = [index for index, role in enumerate(roles) if role == "before"]
    after = [index for index, role in enumerate(roles) if role == "after"]
    if len(before) < 2 or len(before) != len(after) or len({one < other for one, other in zip(before, after, strict=True)}) > 1:
        return []
    words = tuple(header.words for header in headers)
    behind = [max(both) + 1 for both in zip(before, after, strict=True)]
    changes = [column if roles[column : column + 1] == ["change"] else None for column in behind]
    columns = zip(before, after, changes, strict=True)
    return [Columns(first, (second,), change, headers=words) for first, second, change in columns]


def completed_by_row(columns: Columns, rows: list[Row]) -> Columns:
    """The columns with both sides: where the header cells do not name both, from the first row whose change agrees with two figures.

    `op | stock | lean | Δ` with a row `scan | 20 ms | 10 ms | -50%`: `stock` is the baseline column.
    """
    if columns.before is not None and (columns.after or (columns := _with_only_other_column(columns)).after):
        return columns
    for row in rows:
        if found := proven_pair(row, columns):
            before, after = (
                next((index for index, cell in enumerate(row) if side in cell.quantities), None) for side in (found.before, found.after)
            )
            if before in columns.after or (after is not None and after == columns.before):  # a header cell knows better
                before, after = after, before
            return columns._replace(before=before, after=() if after is None else (after,), is_inferred=True)
    return columns


_IMPROVEMENT = pattern(r"\b(?:improvements?|gains?|improved)\b", re.IGNORECASE)


def with_signs_of(columns: Columns, rows: list[Row]) -> Columns:
    """The columns, and whether the changes below `Improvement` only fall. A single one above zero makes the others losses."""
    if columns.change is None or not _IMPROVEMENT.search(columns.headers[columns.change]):
        return columns
    cells = (row[columns.change].quantities for row in rows if columns.change < len(row))
    signs = {one.sign for found in cells for one in found if one.kind is Kind.PERCENT and one.high}
    return columns._replace(only_falls=signs == {"-"})


_NOT_A_CANDIDATE = pattern(
    r"goal|target|limit|expect|notes?\b|status|units?\b|budget|threshold|samples?|count|n\b|runs\b|max|min|p\d\d|std|comment|description|source|where",
    re.IGNORECASE,
)
_AMBIGUOUS_BASELINE = pattern(r"current|from|was", re.IGNORECASE)
BASE_BRANCH = pattern(r"\b(?:main|master|develop|trunk|upstream)\b", re.IGNORECASE)
"""A main branch: the baseline, even right of the candidate column."""


def _with_only_other_column(columns: Columns) -> Columns:
    """`Case | Without | CACHE=1`: the only column that is neither label, baseline nor change becomes the candidate column."""
    if columns.before is None or columns.after or _AMBIGUOUS_BASELINE.match(columns.headers[columns.before]):
        return columns
    others = [index for index, header in enumerate(columns.headers) if index and header and index not in (columns.before, columns.change)]
    is_in_order = others[:1] > [columns.before] or BASE_BRANCH.search(columns.headers[columns.before])
    if len(others) != 1 or not is_in_order or _NOT_A_CANDIDATE.match(columns.headers[others[0]]):
        return columns
    return columns._replace(after=tuple(others), is_inferred=True)


_OF_INPUTS = pattern(
    r"(?:source|size|input|file|data(?:set)?|rows?|records?|items?|documents?|payload|context|prompt|batch|length)\b", re.IGNORECASE
)
"""The header cell of row labels that say what was measured: `| 20 MiB | 40 MB (1.9x of it) |` is no pair."""


def proven_pair(row: Row, columns: Columns) -> Effect | None:
    """Two figures in neighbouring cells and a change behind them that agrees with them, whatever the header cells say.

    `| 1 | 2,000 | 4,000 | 2.0x |` gives the pair of 2,000 and 4,000. None if no change agrees.
    """
    for index, (first, second) in enumerate(pairwise(row)):
        if not index and columns.headers and _OF_INPUTS.match(columns.headers[0]):
            continue
        if first.quantities and second.quantities and first.quantities[0].kind is second.quantities[0].kind:
            one, other = (
                with_unit(cell.quantities[0], row[0].words, *columns.headers[at : at + 1])
                for at, cell in ((index, first), (index + 1, second))
            )
            pair = Effect(one.start, other.end, one, other)
            for change, header, words in _changes_behind(row, index + 1, columns):
                if found := _pair_with_change(pair, change, header, is_fall="↓" in words):
                    return found
    return None


OF_REAL_TIME = pattern(r"\brtf\b|real[- ]?time", re.IGNORECASE)
"""`Audio | Total | RTF`: how long the audio is and how long it takes to make it, not two versions."""


def _changes_behind(row: Row, column: int, columns: Columns) -> Iterator[tuple[Quantity, str, str]]:
    """The changes behind the figure in that column, `10 ms (-50%)`, and in the next one, each with header cell and words of its cell."""
    yield from ((change, "change", row[column].words) for change in row[column].quantities[1:])
    header = columns.headers[column + 1] if column + 1 < len(columns.headers) else ""
    if column + 1 < len(row) and not OF_REAL_TIME.search(header):
        yield from ((change, header, row[column + 1].words) for change in row[column + 1].quantities[:1])


def _pair_with_change(pair: Effect, change: Quantity, header: str, *, is_fall: bool) -> Effect | None:
    """The pair with its change, if they agree; else None.

    The sign of the change gives the order of the figures, `10 ms | 20 ms | -50%`, except in a column of gains.
    """
    one, other = pair.before, pair.after
    assert one
    assert other
    is_bare = one.kind is Kind.VALUE and one.unit is other.unit is None
    is_named = change.kind is Kind.PERCENT and (GAIN_HEADER.search(header) or FALL_HEADER.search(header))
    is_explicit = change.sign or is_named or (change.kind is Kind.TIMES and agrees(pair, change, math.log(1.03)))
    is_clear = one.has_metric_of(other) or (is_bare and is_explicit and (not header or role_of(header) == "change"))
    if change.kind is Kind.VALUE or not is_clear or not agrees(pair, change) or _is_small_by_chance(change, header):
        return None
    sense = Sense.GAIN if change.kind is Kind.TIMES else None
    whole = pair._replace(end=change.end, change=change, sense=sense)
    return whole if _is_in_order(pair, change, header, is_fall=is_fall) else whole._replace(before=other, after=one)


_SMALL = 5
"""Percentages below it are near the difference of any two like figures."""


def _is_small_by_chance(change: Quantity, header: str) -> bool:
    """Whether a small percentage without a sign is below a header cell that names no change: `Idle RSS | Peak RSS | CPU`."""
    is_small = change.kind is Kind.PERCENT and change.high < _SMALL and not change.sign
    return is_small and bool(header) and role_of(header) != "change"


def _is_in_order(pair: Effect, change: Quantity, header: str, *, is_fall: bool) -> bool:
    """Whether the baseline is the first figure of a pair, by the change that agrees with it; so without anything that tells.

    `10 ms | 20 ms | -50%` is not: a change with a sign is that of the figures. Below `Improvement` or `Speedup` it says whether the
    candidate is better, below `Reduction` by how much of the baseline it is less. `is_fall`: its minus sign is that of the figures.
    """
    one, other = pair.before, pair.after
    assert one
    assert other
    falls = other.scaled() < one.scaled()
    if change.kind is Kind.PERCENT and FALL_HEADER.search(header):
        return falls is not (change.sign == "-" and _is_rise(pair, change))
    if GAIN_HEADER.search(header):
        if is_fall:
            return falls
        less_is_better = one.metric is not ClaimMetric.THROUGHPUT
        if change.kind is Kind.PERCENT and change.sign == "-":  # a loss, or what the figures fell by
            return not _is_rise(pair, change) if falls else less_is_better
        if one.unit is None:
            return falls or change.kind is Kind.TIMES or _is_rise(pair, change)
        return (falls is less_is_better) is (change.kind is Kind.PERCENT or change.high > 1)
    return not change.sign or falls is (change.sign != "+")


def _is_rise(pair: Effect, change: Quantity) -> bool:
    """Whether a percentage is what the larger figure has more than the smaller one, rather than what that has less."""
    factor, share = factor_of(pair) or 1.0, change.high / 100
    return abs(share - (factor - 1)) < abs(share - (1 - 1 / factor))
