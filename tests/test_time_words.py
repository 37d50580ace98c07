"""Times as people write them, each by the moment at which it begins."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from app.queries.filters import PRESETS, TIME_WORDS, choose, in_zone, moment, where
from schemas.errors import UsageError

NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("7d", "2026-02-25"),
        ("2W", "2026-02-18"),
        ("0d", "2026-03-04"),
        ("today", "2026-03-04"),
        ("yesterday", "2026-03-03"),
        ("this week", "2026-03-02"),
        ("last week", "2026-02-23"),
        ("this month", "2026-03-01"),
        ("Last  Month", "2026-02-01"),
        ("last-month", "2026-02-01"),
        ("2026-03", "2026-03-01"),
        ("2026-11-20", "2026-11-20"),
    ],
)
def test_a_word_means_the_moment_at_which_it_begins(text: str, begins: str) -> None:
    assert moment(text, NOW) == datetime.fromisoformat(begins).replace(tzinfo=UTC)


def test_an_exact_time_stays_what_it_is() -> None:
    assert moment("2026-11-20T14:00+01:00") == datetime(2026, 11, 20, 13, tzinfo=UTC)


@pytest.mark.parametrize("text", ["soon", "2026-13", "9999d9", "7", "", "last year", "99999999d"])
def test_what_means_no_time_is_refused_with_examples(text: str) -> None:
    assert moment(text, NOW) is None
    if text:
        with pytest.raises(UsageError, match="takes a date or time") as refused:
            choose({"since": text})
        assert "last month" in str(refused.value.hint)


def test_more_days_than_there_are_is_refused_and_no_crash() -> None:
    assert moment("9999w", datetime(150, 1, 1, tzinfo=UTC)) is None


def test_every_word_and_preset_is_a_filter() -> None:
    for since, until in PRESETS.values():
        assert where(choose({"since": since, "until": until or None})).parameters
    for word in TIME_WORDS:
        assert moment(word) is not None


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("2026-03", "2026-03-01T00:00+01:00"),
        ("2026-04-01", "2026-04-01T00:00+02:00"),
        ("last month", "2026-02-01T00:00+01:00"),
        ("2026-03-02T10:00", "2026-03-02T10:00+01:00"),
        ("2026-03-02T10:00Z", "2026-03-02T10:00+00:00"),
    ],
)
def test_days_and_months_begin_in_the_zone_that_is_meant(text: str, begins: str) -> None:
    assert moment(text, NOW, ZoneInfo("Europe/Berlin")) == datetime.fromisoformat(begins)


def test_filters_in_a_zone_have_moments_and_keep_what_no_calendar_holds() -> None:
    chosen = choose({"since": "2026-03", "until": "2026-04", "repo": "vllm"})
    assert in_zone(chosen, ZoneInfo("Europe/Berlin")).as_words() == (
        "--repo vllm --since 2026-03-01T00:00:00+01:00 --until 2026-04-01T00:00:00+02:00"
    )
    assert in_zone(choose({"since": "0001-01-01"}), ZoneInfo("Asia/Tokyo")).values("since") == ("0001-01-01",)
