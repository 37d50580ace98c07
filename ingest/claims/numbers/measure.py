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


_INFERRED = frozenset({MeasureSource.COMPARISON, MeasureSource.TITLE, MeasureSource.LIST_HEADING, MeasureSource.OTHER_CLAIM})


class Measure(NamedTuple):
    """What an effect measures. `unit` is the unit of a pair; None for bare numbers and for changes without figures."""

    metric: ClaimMetric
    source: MeasureSource
    unit: Unit | None = None

    @property
    def is_named(self) -> bool:
        """Whether the text names the metric near the figures; otherwise the metric is inferred."""
        return self.source not in _INFERRED
