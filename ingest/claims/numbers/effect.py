"""What the rules read (a number in its text, two neighbouring figures) and what they give: an effect, one expression of a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from ingest.claims.numbers.quantities import Quantity
from ingest.claims.numbers.units import Unit
from ingest.claims.words.vocabulary import Sense


class Effect(NamedTuple):
    """One expression of a change, before it is judged: a pair of figures, a factor or percentage, or both.

    `before` is the baseline figure, `after` the candidate figure; a candidate figure alone is an absolute saving, or the result of the
    change. `sense` is that of `word`, the word of comparison. `is_order_open` is set where the order of the pair leaves open which is the baseline.
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
    """Header cells and labels that say what it measures, where they are not right before it."""

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
    """Two neighbouring quantities that may be a pair, the text between them, and the text to the left of the first."""

    text: str
    first: Quantity
    second: Quantity
    between: str
    left: str

    @property
    def baseline_first(self) -> Effect:
        """The pair with the baseline first."""
        return Effect(self.first.start, self.second.end, self.first, self.second)

    @property
    def candidate_first(self) -> Effect:
        """The pair with the candidate first: `12 ms (was 36 ms)`."""
        return Effect(self.first.start, self.second.end, self.second, self.first)

    @property
    def has_units(self) -> bool:
        """Whether both figures have a unit: without one, only an arrow or `from … to` is clear enough."""
        return self.first.metric is not None and self.second.metric is not None


REACH = 90
"""Characters that may be between a number and its word of comparison."""


class NumberInText(NamedTuple):
    """A quantity, and the part of the text that may be read for it: `left` is the text from `base` to the quantity."""

    text: str
    quantity: Quantity
    base: int
    ceiling: int
    left: str

    def followed_by(self, pattern: re.Pattern[str], reach: int = REACH) -> re.Match[str] | None:
        """The match right behind the quantity."""
        return pattern.match(self.text, self.quantity.end, min(self.ceiling, self.quantity.end + reach))

    def effect(self, start: int, end: int, sense: Sense, word: str) -> Effect:
        """The quantity as a change; `start` counts in `left`."""
        return Effect(self.base + start, end, change=self.quantity, sense=sense, word=word.lower())

    @property
    def start_in_left(self) -> int:
        """Where the quantity starts, counted in `left`."""
        return len(self.left)


Given = TypeVar("Given")
Found = TypeVar("Found")


class ReadingRule(NamedTuple, Generic[Given, Found]):
    """One way to write a change: its name, the function that reads it, and a text with its claim (metric and ratio) that proves it."""

    name: str
    read: Callable[[Given], Found | None]
    example: str
    claim: str


def first_result(ways: Iterable[ReadingRule[Given, Found]], given: Given) -> Found | None:
    """What the first way finds that finds anything: where several ways fit, their order decides."""
    return next((found for way in ways if (found := way.read(given))), None)
