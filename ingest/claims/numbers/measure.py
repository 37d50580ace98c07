"""Metric and unit of an effect, and the part of the text that states them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ingest.claims.numbers.units import Unit
from schemas.rows.claim import ClaimMetric


class MeasureSource(Enum):
    """The part of the text that states what a figure measures. The first group names the metric; the second only implies it."""

    FIGURE = "the unit behind the figure, or behind the other figure of the pair"
    LIST = "the unit of an earlier pair of the same list"
    LABEL = "the label of the line, or the line above"
    OUTPUT = "the output of a tool, whose unit is known"
    HEADER = "a header cell, or the label of the row"
    CAPTION = "the line above the table"
    NOUN = "a noun near the number"

    COMPARISON = "the word of comparison: `faster`"
    TITLE = "the title of the text, or a text that is about speed"
    LIST_HEADING = "the line that leads the list"
    OTHER_CLAIM = "the other claims of the text"
    NOTHING = "nothing: the usual metric of the word of comparison or of the sign"


_INFERRED = frozenset(
    {MeasureSource.COMPARISON, MeasureSource.TITLE, MeasureSource.LIST_HEADING, MeasureSource.OTHER_CLAIM, MeasureSource.NOTHING}
)


class Measure(NamedTuple):
    """What an effect measures. `unit` is the unit of a pair; None for bare numbers and for changes without figures.

    `is_setting`: the words around it are those of a setting, limit or condition, `timeout 30s → 60s`.
    """

    metric: ClaimMetric
    source: MeasureSource
    unit: Unit | None = None
    is_setting: bool = False

    @property
    def is_stated(self) -> bool:
        """Whether the text says that it is performance: it names or implies a metric, and does not speak of a setting."""
        return self.source is not MeasureSource.NOTHING and not self.is_setting

    @property
    def is_named(self) -> bool:
        """Whether the text names the metric near the figures; otherwise the metric is inferred."""
        return self.source not in _INFERRED
