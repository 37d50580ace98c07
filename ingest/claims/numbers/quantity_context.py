"""A quantity in its surroundings, as the rules read it that make a change of it."""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Quantity
from ingest.claims.words.change_words import Sense

REACH = 90
"""Characters that may stand between a number and its word of comparison."""


class Place(NamedTuple):
    """A quantity, and the part of the text that may be read for it: `left` is what stands before it, from `base` on."""

    text: str
    quantity: Quantity
    base: int
    ceiling: int
    left: str

    def behind(self, pattern: re.Pattern[str], reach: int = REACH) -> re.Match[str] | None:
        """The match right behind the quantity."""
        return pattern.match(self.text, self.quantity.end, min(self.ceiling, self.quantity.end + reach))

    def effect(self, start: int, end: int, sense: Sense, word: str) -> Effect:
        """The effect of the quantity as a change; `start` counts in `left`."""
        return Effect(self.base + start, end, change=self.quantity, sense=sense, word=word.lower())

    @property
    def before(self) -> int:
        """Where the quantity starts, counted in `left`."""
        return len(self.left)
