"""Blocks of hours: how long a subscription's usage window lasts, as ccusage and claude-monitor draw them. Pure.

A block starts with its first response, floored to the hour (UTC). A response later than the block's length after that start begins the
next one. Where it is also later than the length after the response before it, there is a gap between the blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

HOURS = 5
"""The usual length: that of the usage windows of Claude's subscriptions."""

_NANODOLLAR = Decimal("1e-9")


@dataclass(frozen=True, slots=True)
class Hour:
    """The responses of one hour (UTC): when it starts, its first response, the first behind its start (None: none), and its last."""

    start: datetime
    first: datetime
    first_behind: datetime | None
    last: datetime


@dataclass(frozen=True, slots=True)
class Block:
    """One block: from its start to its end, with the times of its first and its last response."""

    start: datetime
    end: datetime
    first: datetime
    last: datetime

    def is_active(self, now: datetime) -> bool:
        """Whether it goes on: it has not ended, and its last response is not older than it is long."""
        return self.start <= now < self.end and now - self.last < self.end - self.start


@dataclass(frozen=True, slots=True)
class Burn:
    """How fast a block uses: per minute and per hour between its first and its last response, and what that makes of it at its end."""

    tokens_per_minute: float
    usd_per_hour: Decimal | None
    minutes_left: float
    projected_tokens: int
    projected_usd: Decimal | None


def blocks(hours: Iterable[Hour], length: timedelta) -> list[Block]:
    """The blocks of the hours, which are in order; `length` is a whole number of hours.

    The walk is over hours, of which there are few: a response on the last moment of a block still belongs to it.
    """
    found: list[Block] = []
    for hour in hours:
        if not found or hour.first > found[-1].end:
            found.append(Block(hour.start, hour.start + length, hour.first, hour.last))
        elif hour.start == found[-1].end and hour.first_behind:
            found[-1] = replace(found[-1], last=hour.first)
            found.append(Block(hour.start, hour.start + length, hour.first_behind, hour.last))
        else:
            found[-1] = replace(found[-1], last=hour.last)
    return found


def gaps(found: Sequence[Block]) -> list[tuple[datetime, datetime]]:
    """(start, end) of the time without a response between blocks, as far as it is longer than a block."""
    pairs = pairwise(found)
    return [(one.last + (one.end - one.start), two.first) for one, two in pairs if two.first - one.last > one.end - one.start]


def burn(block: Block, tokens: int | None, usd: Decimal | None, now: datetime) -> Burn | None:
    """The burn rate and projection of a block with these tokens and this list-price cost; None for a single moment or no tokens."""
    minutes = _minutes(block.last - block.first)
    if minutes <= 0 or tokens is None:
        return None
    left = max(Decimal(0), _minutes(block.end - now))
    per_hour = None if usd is None else (usd / minutes * 60).quantize(_NANODOLLAR)
    projected = None if usd is None else (usd + usd / minutes * left).quantize(_NANODOLLAR)
    return Burn(float(tokens / minutes), per_hour, float(left), round(tokens + tokens / minutes * left), projected)


def _minutes(time: timedelta) -> Decimal:
    return Decimal(time // timedelta(microseconds=1)) / 60_000_000
