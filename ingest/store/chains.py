"""Which records continue the totals of an earlier one, and what each added by itself.

Several results of one process carry cumulative totals; so do, in newer versions, the results of a resumed session. In older
versions every invocation starts from zero, although it shares its session with the others. The record does not say which, so
it is told from the figures: a record continues another one of its session if

- every model's token classes and cost are at least the former's, and
- what was added covers the record's own `usage` (the main loop of its last turn group), class by class.

The second condition is what tells a resumed session of older versions from a continued one: there, later invocations are often
larger in every class, but their usage accounts for all of it. (Among 163 real records the first condition alone would have joined 31
pairs of separate invocations, the second none.) In one event stream the order of the events and the first
condition suffice, unless the figures prove that another process was started and its stream appended.

A process that clears its conversation goes on under another session, and its totals go on too. So do, by chance, those of another
process whose stream was appended to the same file. There growth proves nothing, and figures have to agree to the token: see `carries`.

Outside a stream the two conditions may hold by chance, rarely. A record that is taken to continue another by them alone gets a finding with
what it cost either way: see `is_assumed`.

Pure functions; the order in which records are given does not matter.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from types import MappingProxyType

TOKEN_CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


@dataclass(frozen=True)
class Totals:
    """Cumulative figures of one model: tokens by class in the order of TOKEN_CLASSES, and USD."""

    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)
    cost: Decimal = Decimal(0)

    def covers(self, other: Totals) -> bool:
        """Whether every figure is at least the other's."""
        return self.cost >= other.cost and all(mine >= theirs for mine, theirs in zip(self.tokens, other.tokens, strict=True))

    def less(self, other: Totals) -> Totals:
        """What was added to the other's."""
        first, second, third, fourth = (mine - theirs for mine, theirs in zip(self.tokens, other.tokens, strict=True))
        return Totals((first, second, third, fourth), self.cost - other.cost)


@dataclass(frozen=True)
class Link:
    """What chaining needs of one record. `usage`: tokens by class of its own last turn group, None where it logs none.

    `process`: what it may have totals in common by, mostly its session.
    """

    run_id: str
    process: str
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


def places(links: Iterable[Link], carried: Mapping[str, str] = MappingProxyType({})) -> dict[str, Place]:
    """The place of every record, by run_id. `carried`: records that `carries` tells of → the one of another session that each continues."""
    earlier: dict[str, deque[Link]] = defaultdict(partial(deque, maxlen=CANDIDATES))
    found: dict[str, Place] = {}
    for link in sorted(links, key=_size):
        nearest = reversed(earlier[link.process])
        former = carried.get(link.run_id) or next((other.run_id for other in nearest if continues(link, other)), None)
        earlier[link.process].append(link)
        found[link.run_id] = Place(found[former].chain_id, found[former].position + 1, former) if former else Place(link.run_id, 1, None)
    return found


def continues(later: Link, former: Link) -> bool:
    """Whether the later record's totals include the former's."""
    if not _covers(later, former):
        return False
    if later.in_stream and former.in_stream and later.source_id == former.source_id:
        return later.ordinal > former.ordinal and not _began_anew(later, former)
    added = _added(later, former)
    if later.usage is None or (later.usage == former.usage and any(added)):  # carried over from the former, it tells nothing of the later
        return True
    return all(more >= used for more, used in zip(added, later.usage, strict=True))


def _began_anew(later: Link, former: Link) -> bool:
    """Whether a model's totals are to the token what the record itself used, though the former had used that model before."""
    if later.usage is None or later.usage == former.usage:
        return False
    return any(later.models[name].tokens == later.usage for name, totals in former.models.items() if any(totals.tokens))


def carries(later: Link, former: Link) -> bool:
    """Whether the next result of a stream, though of another session, has the former's totals in it beyond doubt.

    Its totals less the former's cover what it used, and either those of one model are just what it used, or it used none of the
    former's models. A process of its own would have to have used by other means, to the token, what the former one did.
    """
    if later.usage is None or not _covers(later, former):
        return False
    if not all(more >= used for more, used in zip(_added(later, former), later.usage, strict=True)):
        return False
    return _agrees(later, former)


def is_assumed(later: Link, former: Link) -> bool:
    """Whether a record that `continues` another might as well have started from zero: nothing but larger figures speaks for it.

    One stream is one process, and figures that agree to the token are no chance. All else leaves a doubt: no usage, that of the record
    before, or a main loop that used less than was added. Neither version, turns nor times decide: records outside streams name no version,
    turns are of the one result in both cases, and API time is cumulative within a process only.
    """
    if later.in_stream and former.in_stream and later.source_id == former.source_id:
        return False
    return not _agrees(later, former)


def _agrees(later: Link, former: Link) -> bool:
    """Whether what was added to one of the former's models is to the token what the record used, or nothing was added to any."""
    gained = [later.models[name].less(totals) for name, totals in former.models.items() if any(totals.tokens)]
    used = any(later.usage or ()) and any(gain.tokens == later.usage for gain in gained)
    return used or (bool(gained) and all(gain == Totals() for gain in gained))


def _covers(later: Link, former: Link) -> bool:
    """Whether the former's totals are any, and the later's are at least those, model by model."""
    if not any(totals.cost or any(totals.tokens) for totals in former.models.values()):
        return False
    return all(name in later.models and later.models[name].covers(totals) for name, totals in former.models.items())


def _added(later: Link, former: Link) -> tuple[int, ...]:
    return tuple(mine - theirs for mine, theirs in zip(_sums(later), _sums(former), strict=True))


def _sums(link: Link) -> tuple[int, ...]:
    return tuple(sum(column) for column in zip(*(totals.tokens for totals in link.models.values()), strict=True)) or (0, 0, 0, 0)


def _size(link: Link) -> tuple[Decimal, int, str, int, str]:
    """Sorts a record behind every record it may continue, whatever order they came in."""
    cost = sum((totals.cost for totals in link.models.values()), Decimal(0))
    return cost, sum(_sums(link)), link.source_id, link.ordinal, link.run_id
