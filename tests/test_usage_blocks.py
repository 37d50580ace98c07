"""Blocks of hours: where they start and end, the gaps between them, and what the active one will have used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries.usage import Block, Hour, blocks, burn, gaps

DAY = datetime(2026, 2, 1, tzinfo=UTC)
FIVE = timedelta(hours=5)


def floored(time: datetime) -> datetime:
    return time.replace(minute=0, second=0, microsecond=0)


def hours_of(times: list[datetime]) -> list[Hour]:
    """What the query makes of responses at these times, which are in order."""
    found = []
    for start, group in groupby(times, floored):
        each = list(group)
        found.append(Hour(start, each[0], next((time for time in each if time > start), None), each[-1]))
    return found


def one_by_one(times: list[datetime], length: timedelta) -> list[Block]:
    """The rule as it is written, response by response."""
    found: list[Block] = []
    for time in times:
        if found and time <= found[-1].start + length and time <= found[-1].last + length:
            found[-1] = Block(found[-1].start, found[-1].end, found[-1].first, time)
        else:
            found.append(Block(floored(time), floored(time) + length, time, time))
    return found


def times(*texts: str) -> list[datetime]:
    return [datetime.fromisoformat(f"2026-02-01T{text}+00:00") for text in texts]


def test_a_block_starts_at_the_full_hour_and_a_gap_ends_at_the_next_response() -> None:
    found = blocks(hours_of(times("10:15", "14:59", "15:01", "21:30")), FIVE)
    assert [block.start.hour for block in found] == [10, 15, 21]
    assert gaps(found) == [tuple(times("20:01", "21:30"))]


@pytest.mark.parametrize(
    ("texts", "starts", "between"),
    [
        (("10:00", "15:00"), [10], 0),  # the last moment of a block belongs to it
        (("10:00", "15:00", "15:00:00.000001"), [10, 15], 0),
        (("10:59", "15:30"), [10, 15], 0),  # no gap: less than five hours after the response before
        (("10:59", "15:59"), [10, 15], 0),
        (("10:59", "15:59:00.000001"), [10, 15], 1),
    ],
)
def test_limits_of_blocks(texts: tuple[str, ...], starts: list[int], between: int) -> None:
    found = blocks(hours_of(times(*texts)), FIVE)
    assert ([block.start.hour for block in found], len(gaps(found))) == (starts, between)


@given(st.lists(st.integers(0, 60 * 60 * 8), min_size=1, max_size=30).map(sorted), st.integers(1, 12))
def test_blocks_by_hours_are_those_of_the_rule(minutes: list[int], length: int) -> None:
    """Steps of half a minute, so that full hours are met often."""
    moments = [DAY + timedelta(seconds=30 * number) for number in minutes]
    found = blocks(hours_of(moments), timedelta(hours=length))
    assert found == one_by_one(moments, timedelta(hours=length))
    assert all(one.end <= two.start for one, two in pairwise(found)), "blocks never overlap"


def test_a_chain_every_four_hours_keeps_its_blocks() -> None:
    moments = [DAY + timedelta(hours=4 * number) for number in range(71)]
    assert blocks(hours_of(moments), FIVE) == one_by_one(moments, FIVE)


def test_an_active_block_projects_its_rate_to_its_end() -> None:
    [block] = blocks(hours_of(times("10:00", "12:00")), FIVE)
    rate = burn(block, 120_000, Decimal(6), times("13:00")[0])
    assert rate
    assert (rate.tokens_per_minute, rate.minutes_left, rate.projected_tokens) == (1000.0, 120.0, 240_000)
    assert (rate.usd_per_hour, rate.projected_usd) == (Decimal(3), Decimal(12))
    unpriced = burn(block, 120_000, None, times("13:00")[0])
    assert unpriced
    assert (unpriced.projected_tokens, unpriced.usd_per_hour, unpriced.projected_usd) == (240_000, None, None)
    assert burn(Block(block.start, block.end, block.first, block.first), 10, Decimal(1), DAY) is None, "a single moment has no rate"


@pytest.mark.parametrize(("now", "is_active"), [("09:59", False), ("10:00", True), ("14:59", True), ("15:00", False)])
def test_a_block_is_active_from_its_start_to_its_end(now: str, is_active: bool) -> None:
    [block] = blocks(hours_of(times("10:15")), FIVE)
    assert block.is_active(times(now)[0]) is is_active


def test_a_response_of_the_future_does_not_hide_the_block_that_goes_on() -> None:
    found = blocks(hours_of(times("10:15", "20:00")), FIVE)
    assert [block.is_active(times("11:00")[0]) for block in found] == [True, False]
