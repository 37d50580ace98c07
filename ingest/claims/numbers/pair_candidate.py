"""Two quantities that may be a pair."""

from __future__ import annotations

from typing import NamedTuple

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Quantity


class Candidate(NamedTuple):
    """Two neighbouring quantities, what stands between them and what before them."""

    text: str
    first: Quantity
    second: Quantity
    glue: str
    left: str

    @property
    def whole(self) -> Effect:
        """The pair in the order of the text."""
        return Effect(self.first.start, self.second.end, self.first, self.second)

    @property
    def has_units(self) -> bool:
        """Whether both figures have a unit: without one, only an arrow or `from … to` is clear enough."""
        return self.first.metric is not None and self.second.metric is not None
