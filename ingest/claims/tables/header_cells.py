"""What the columns of a table hold: by their heads, or by a change in a row that is that of two of its figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.numbers.units import unit
from ingest.claims.tables.cells import Row, with_unit
from ingest.claims.words.change_words import AFTER, BEFORE, CHANGE, GAINS, RECIPROCAL_HEADS, Sense
from ingest.claims.words.regex_parts import ARROW
from schemas.rows.claim import ClaimMetric


class Columns(NamedTuple):
    """Which columns hold what. Of several that hold a figure after, the change of the row tells which is meant."""

    before: int | None = None
    after: tuple[int, ...] = ()
    change: int | None = None
    is_reciprocal: bool = False
    heads: tuple[str, ...] = ()
    is_learnt: bool = False
    """Whether a row proved it, and not the heads."""
    has_goals: bool = False
    """Whether the change stands beside the goal for it."""


_ROLE = re.compile(
    rf"[*_`\s]*(?:\w+\s+){{0,2}}?(?:.*?[(\s>])??(?:(?P<before>{BEFORE})|(?P<after>{AFTER})|(?P<change>{CHANGE}))"
    r"(?![A-Za-z]|_(?!(?:[mnuµ]?s|[kmg]i?b|x|pct)$))",
    re.IGNORECASE,
)
_AFTER = re.compile(rf"[*_`\s]*\b(?:{AFTER})(?![A-Za-z_])", re.IGNORECASE)
GAINING = re.compile(GAINS, re.IGNORECASE)


_BOTH = re.compile(ARROW)
"""`Errors before→after`: the column holds pairs of its own."""


_VERSUS = re.compile(r"\w\W{1,4}(?:vs|versus)\b", re.IGNORECASE)
"""`Branch vs base`: the column compares those of both."""


def role_of(words: str) -> str | None:
    """What the label of a row or column names: `before`, `after` or `change`."""
    found = _ROLE.match(words)
    return "change" if found and _VERSUS.search(words) else found.lastgroup if found else None


_NO_ROLE = re.compile(
    r"\b(?:session|sprint|week|month|quarter|year|retro|loop|day|run) ?#?\d*\b|^\W*(?:%|percent(?:age)?|share) of\b", re.IGNORECASE
)
"""`Previous (session 57)`, `this week`: figures of two periods, between which nobody need have changed anything. `% of bill`: shares."""

_DIFFERENCE = re.compile(r"(?:Δ|delta|diff\w*|change|sav(?:ed|ings?))(?![^%]*%)", re.IGNORECASE)
"""The head of a column of differences; beside one of percentages it is not that of the changes."""


def by_heads(heads: Row) -> Columns:
    """The columns whose heads say what they hold."""
    before: int | None = None
    change: int | None = None
    after: list[int] = []
    for index, head in enumerate(heads[1:], 1):
        role = role_of(head.words) if not _NO_ROLE.search(head.words) else None
        if role == "before" and before is None:
            before = index
        elif role == "after" or (role == "before" and _AFTER.match(head.words)):  # `Before | Current`
            after.append(index)
        elif role == "change" and (change is None or (_DIFFERENCE.match(heads[change].words) and "%" in head.words)):
            change = index
    if before is None and len(after) > 1 and _BASE_BRANCH.fullmatch(heads[after[0]].words):
        before, after = after[0], after[1:]
    if before is not None:
        after = _alike(heads, before, after) if after else _named_alike(heads, before)
    achieved = _achieved(heads) if before is None and change is None else None
    change = achieved if achieved is not None else change
    reciprocal = change is not None and bool(RECIPROCAL_HEADS.search(heads[change].words))
    words = tuple(head.words for head in heads)
    return Columns(before, tuple(after), change, reciprocal, words, has_goals=achieved is not None)


_BASE_BRANCH = re.compile(r"(?:dev|head)(?: \([^()]*\))?", re.IGNORECASE)
"""`dev | This PR`: of two heads that may be after, the one that is a branch."""

_BEFORE = re.compile(rf"[*_`\s]*\b(?:{BEFORE})(?![A-Za-z])\s*", re.IGNORECASE)


def _alike(heads: Row, before: int, after: list[int]) -> list[int]:
    """`new rows | old median | new median`: of several columns after, those that are called like the one before."""
    name = _BEFORE.sub("", heads[before].words, 1).lower()
    return [index for index in after if name and _AFTER.sub("", heads[index].words, 1).strip().lower() == name] or after


def _named_alike(heads: Row, before: int) -> list[int]:
    """The column that is called like the one before, but for the word that says so.

    `Baseline mean | Mean`, and with a unit ahead `t/s master | t/s wide`.
    """
    name = _BEFORE.sub("", heads[before].words, 1).lower()
    if not name:
        return []
    equal = [index for index, head in enumerate(heads) if index != before and head.words.lower() == name != heads[before].words.lower()]
    ahead = f"{name} "
    with_unit = [index for index, head in enumerate(heads) if index > before and unit(name) and head.words.lower().startswith(ahead)]
    return equal[:1] or (with_unit if len(with_unit) == 1 else [])


_GOAL = re.compile(r"(?:target|goal|expected|planned|estimate)", re.IGNORECASE)
_ACHIEVED = re.compile(r"(?:achieved|reached|measured|actual|result)", re.IGNORECASE)


def _achieved(heads: Row) -> int | None:
    """`Target | Achieved`: the column that says what became of the goals; what they are goals of, the label of the row says."""
    goal = next((index for index, head in enumerate(heads) if index and _GOAL.match(head.words)), None)
    return next((index for index, head in enumerate(heads) if goal and _ACHIEVED.match(head.words)), None)


def side_by_side(heads: Row) -> list[Columns]:
    """`p50 before | p50 after | p99 before | p99 after`: as many columns before as after, each with its like; else none."""
    roles = [role_of(head.words) if index and not _BOTH.search(head.words) else None for index, head in enumerate(heads)]
    before = [index for index, role in enumerate(roles) if role == "before"]
    after = [index for index, role in enumerate(roles) if role == "after"]
    if len(before) < 2 or len(before) != len(after) or any(first > second for first, second in zip(before, after, strict=True)):
        return []
    words = tuple(head.words for head in heads)
    changes = [second + 1 if roles[second + 1 : second + 2] == ["change"] else None for second in after]
    columns = zip(before, after, changes, strict=True)
    return [Columns(first, (second,), change, heads=words) for first, second, change in columns]


def completed(columns: Columns, rows: list[Row]) -> Columns:
    """The columns with those for before and after that a row proves, where the heads do not tell both."""
    if columns.before is not None and (columns.after or (columns := _by_elimination(columns)).after):
        return columns
    for row in rows:
        if found := proven(row, columns):
            before = next((index for index, cell in enumerate(row) if found.before in cell.quantities), None)
            after = tuple(index for index, cell in enumerate(row) if found.after in cell.quantities)
            return columns._replace(before=before, after=after, is_learnt=True)
    return columns


_NO_FIGURE_AFTER = re.compile(
    r"goal|target|limit|expect|notes?\b|status|units?\b|budget|threshold|samples?|count|n\b|runs\b|max|min|p\d\d|std|comment|description|source|where",
    re.IGNORECASE,
)
_ALSO_NOW = re.compile(r"current|from|was", re.IGNORECASE)
BRANCH = re.compile(r"\b(?:main|master|develop|trunk|upstream)\b", re.IGNORECASE)
"""What is before, wherever its column stands."""


def _by_elimination(columns: Columns) -> Columns:
    """`Case | Without | CACHE=1`: the one column that is neither that before nor the change, if its head names nothing else."""
    if columns.before is None or columns.after or _ALSO_NOW.match(columns.heads[columns.before]):
        return columns
    others = [index for index, head in enumerate(columns.heads) if index and head and index not in (columns.before, columns.change)]
    is_in_order = others[:1] > [columns.before] or BRANCH.search(columns.heads[columns.before])
    if len(others) != 1 or not is_in_order or _NO_FIGURE_AFTER.match(columns.heads[others[0]]):
        return columns
    return columns._replace(after=tuple(others), is_learnt=True)


def proven(row: Row, columns: Columns) -> Effect | None:
    """Two neighbouring figures with a factor or percentage behind them that is theirs, whatever the heads say."""
    for index, (first, second) in enumerate(pairwise(row)):
        if first.quantities and second.quantities and first.quantities[0].kind is second.quantities[0].kind:
            one, other = (
                with_unit(cell.quantities[0], row[0].words, *columns.heads[at : at + 1])
                for at, cell in ((index, first), (index + 1, second))
            )
            pair = Effect(one.start, other.end, one, other)
            for change, head, words in _stated(row, index + 1, columns):
                if found := _theirs(pair, change, head, is_fall="↓" in words):
                    return found
    return None


def _stated(row: Row, column: int, columns: Columns) -> Iterator[tuple[Quantity, str, str]]:
    """The changes behind the figure of the column and in the next one, each with the head it is under and the words of its cell."""
    yield from ((change, "change", row[column].words) for change in row[column].quantities[1:])
    if column + 1 < len(row):
        head = columns.heads[column + 1] if column + 1 < len(columns.heads) else ""
        yield from ((change, head, row[column + 1].words) for change in row[column + 1].quantities[:1])


def _theirs(pair: Effect, change: Quantity, head: str, *, is_fall: bool) -> Effect | None:
    """The pair with the change that is of it. A sign tells which figure was first, unless the column is one of gains."""
    one, other = pair.before, pair.after
    assert one
    assert other
    is_bare = one.kind is Kind.VALUE and one.unit is other.unit is None
    is_told = bool(change.sign) or (change.kind is Kind.TIMES and agrees(pair, change, math.log(1.03)))
    is_clear = one.measures_as(other) or (is_bare and is_told and (not head or role_of(head) == "change"))
    if change.kind is Kind.VALUE or not is_clear or not agrees(pair, change):
        return None
    falls = other.sized() < one.sized()
    is_gain = GAINING.search(head) is not None
    in_order = not change.sign or (is_gain and not is_fall) or falls is (change.sign != "+")
    if is_gain and change.kind is Kind.TIMES and change.low > 1 and one.unit:  # `ours | theirs | Speedup`
        in_order = falls is (one.metric is not ClaimMetric.THROUGHPUT)
    sense = Sense.GAIN if change.kind is Kind.TIMES else None
    whole = pair._replace(end=change.end, change=change, sense=sense)
    return whole if in_order else whole._replace(before=other, after=one)
