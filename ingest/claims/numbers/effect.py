"""Input of the rules (a number in its text, two neighbouring figures) and their result: an effect, one expression of a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from ingest.claims.numbers.quantities import Quantity
from ingest.claims.numbers.units import Unit
from ingest.claims.words.vocabulary import Sense

NAMED_SIDES = "named sides"
"""The word of a pair whose figures both have the name of their side: `the old loop took 9 s, the new loop took 3 s`."""


class Effect(NamedTuple):
    """One expression of a change, before it is judged: a pair of figures, a factor or percentage, or both.

    `before` is the baseline figure, `after` the candidate figure; a candidate figure alone is an absolute saving, or the result of the
    change. `change` is the factor or percentage. `sense` is the sense of `word`, the word of comparison. `is_order_open`: the words do not
    say which figure is the baseline (`46 ms vs 51 ms`). Offsets are code points into the text, the end exclusive.
    """

    start: int
    end: int
    before: Quantity | None = None
    after: Quantity | None = None
    change: Quantity | None = None
    sense: Sense | None = None
    word: str = ""
    is_order_open: bool = False
    is_idiom: bool = False
    labels: str = ""
    """Header cells and labels that name the metric, if they are not right before the effect."""

    @property
    def is_pair(self) -> bool:
        """Whether it has both figures."""
        return self.before is not None and self.after is not None

    @property
    def unit(self) -> Unit | None:
        """The unit of a pair: that of the candidate figure, else that of the baseline figure; None for anything but a pair."""
        if self.before is None or self.after is None:
            return None
        return self.after.unit or self.before.unit


class TwoFigures(NamedTuple):
    """Two neighbouring quantities that may be a pair, the text between them, and the text before the first (`left`)."""

    text: str
    first: Quantity
    second: Quantity
    between: str
    left: str

    @property
    def baseline_first(self) -> Effect:
        """The pair, if the baseline comes first: `36 ms → 12 ms`."""
        return Effect(self.first.start, self.second.end, self.first, self.second)

    @property
    def candidate_first(self) -> Effect:
        """The pair, if the candidate comes first: `12 ms (was 36 ms)`."""
        return Effect(self.first.start, self.second.end, self.second, self.first)

    @property
    def has_units(self) -> bool:
        """Whether both figures have a unit. Bare numbers are a pair only with an arrow or `from … to` between them."""
        return self.first.metric is not None and self.second.metric is not None


REACH = 90
"""Characters that may be between a number and its word of comparison."""


class NumberInText(NamedTuple):
    """A quantity with the text around it: `left` is the text from `base` to the quantity; behind it, rules read up to `ceiling`."""

    text: str
    quantity: Quantity
    base: int
    ceiling: int
    left: str

    def followed_by(self, pattern: re.Pattern[str], reach: int = REACH) -> re.Match[str] | None:
        """The match right behind the quantity."""
        return pattern.match(self.text, self.quantity.end, min(self.ceiling, self.quantity.end + reach))

    def effect(self, start: int, end: int, sense: Sense, word: str) -> Effect:
        """The quantity as a change. `start` is an offset into `left`, `end` one into the text."""
        return Effect(self.base + start, end, change=self.quantity, sense=sense, word=word.lower())

    @property
    def start_in_left(self) -> int:
        """The start of the quantity as an offset into `left`."""
        return len(self.left)


Given = TypeVar("Given")
Found = TypeVar("Found")


class ReadingRule(NamedTuple, Generic[Given, Found]):
    """A rule for one way to write a change.

    `read` returns the effects, or None if the rule does not apply. `example` is a text that needs the rule; `claim` is the metric and ratio
    of its first claim. tests/test_claims_reading_rules.py takes each rule away and expects another result.
    """

    name: str
    read: Callable[[Given], Found | None]
    example: str
    claim: str


def first_result(rules: Iterable[ReadingRule[Given, Found]], given: Given) -> Found | None:
    """The result of the first rule that applies: the order of the rules decides between several."""
    for rule in rules:
        if found := rule.read(given):
            return found
    return None
