"""Which records continue the totals of an earlier one, and what each added by itself.

Several results of one process carry cumulative totals; so do, in newer versions, the results of a resumed session. In older
versions every invocation starts from zero, although it shares its session with the others. The record does not say which, so
it is told from the figures: a record continues another one of its session if

- every model's token classes and cost are at least the former's, and
- what was added covers the record's own `usage` (the main loop of its last turn group), class by class.

The second condition is what tells a resumed session of older versions from a continued one: there, later invocations are often
larger in every class, but their usage accounts for all of it. (Among 163 real records the first condition alone would have joined 31
pairs of separate invocations, the second none.) In one event stream the order of the events and the first
condition suffice.

Pure functions; the order in which records are given does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

TOKEN_CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


@dataclass(frozen=True)
class Totals:
    """Cumulative figures of one model: tokens by class in the order of TOKEN_CLASSES, and USD."""

    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)
    cost: Decimal = Decimal(0)

    def covers(self, other: Totals) -> bool:
        """Whether every figure is at least the other's."""
        return self.cost >= other.cost and all(mine >= theirs for mine, theirs in zip(self.tokens, other.tokens, strict=True))


@dataclass(frozen=True)
class Link:
    """What chaining needs of one record. `usage`: tokens by class of its own last turn group, None where it logs none."""

    run_id: str
    source_id: str
    ordinal: int
    in_stream: bool
    models: Mapping[str, Totals]
    usage: tuple[int, int, int, int] | None


@dataclass(frozen=True)
class Place:
    """Where a record stands: `position` counts from 1; `former` is the run it continues, None at the start of a chain."""

    chain_id: str
    position: int
    former: str | None


CANDIDATES = 64
"""How many of the next smaller records of a session are looked at: the work grows with a session and no faster. (The longest real one
has 48 records.)"""


def places(session: Iterable[Link]) -> dict[str, Place]:
    """The place of every record of one session, by run_id."""
    ordered = sorted(session, key=_size)
    found: dict[str, Place] = {}
    for number, link in enumerate(ordered):
        nearest = reversed(ordered[max(0, number - CANDIDATES) : number])
        former = next((other for other in nearest if continues(link, other)), None)
        found[link.run_id] = (
            Place(found[former.run_id].chain_id, found[former.run_id].position + 1, former.run_id)
            if former
            else Place(link.run_id, 1, None)
        )
    return found


def continues(later: Link, former: Link) -> bool:
    """Whether the later record's totals include the former's."""
    if not any(totals.cost or any(totals.tokens) for totals in former.models.values()):
        return False
    if not all(name in later.models and later.models[name].covers(totals) for name, totals in former.models.items()):
        return False
    if later.in_stream and former.in_stream and later.source_id == former.source_id:
        return later.ordinal > former.ordinal
    added = _added(later, former)
    if later.usage is None or (later.usage == former.usage and any(added)):  # carried over from the former, it tells nothing of the later
        return True
    return all(more >= used for more, used in zip(added, later.usage, strict=True))


def _added(later: Link, former: Link) -> tuple[int, ...]:
    return tuple(mine - theirs for mine, theirs in zip(_sums(later), _sums(former), strict=True))


def _sums(link: Link) -> tuple[int, ...]:
    return tuple(sum(column) for column in zip(*(totals.tokens for totals in link.models.values()), strict=True)) or (0, 0, 0, 0)


def _size(link: Link) -> tuple[Decimal, int, str, int, str]:
    """Sorts a record behind every record it may continue, whatever order they came in."""
    cost = sum((totals.cost for totals in link.models.values()), Decimal(0))
    return cost, sum(_sums(link)), link.source_id, link.ordinal, link.run_id
