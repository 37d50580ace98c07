"""Which quantities of a passage make an effect: two a pair, or one a change."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.claims.changes import change
from ingest.claims.effect import Effect
from ingest.claims.pairs import pair_from
from ingest.claims.quantities import Quantity


def effects(text: str, found: list[Quantity], start: int, end: int) -> Iterator[Effect]:
    """The effects that the quantities of the passage make, in order. None reads what another has used."""
    index, floor = 0, start
    last: Effect | None = None
    while index < len(found):
        effect, taken = pair_from(text, found, index, floor)
        if effect is None and taken == 1:
            effect = change(text, found[index], floor, end, last)
        index += taken
        if effect:
            floor, last = effect.end, effect
            yield effect
