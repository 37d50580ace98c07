"""An effect: one expression of a change, before it is judged."""

from __future__ import annotations

from typing import NamedTuple

from ingest.claims.numbers.quantities import Quantity
from ingest.claims.words.change_words import Sense


class Effect(NamedTuple):
    """One expression of a change: a pair, a factor or percentage, or both.

    `sense` is that of `word`, the word of comparison; `swaps` is set where the order of a pair does not say which figure was first.
    A figure after without one before is an absolute saving, or the figure that the change led to.
    """

    start: int
    end: int
    before: Quantity | None = None
    after: Quantity | None = None
    change: Quantity | None = None
    sense: Sense | None = None
    word: str = ""
    swaps: bool = False
    is_idiom: bool = False
    heads: str = ""
    """The heads of the columns it stands in, where lines are aligned to a table without bars."""

    @property
    def is_pair(self) -> bool:
        """Whether the figures before and after are both there."""
        return self.before is not None and self.after is not None
