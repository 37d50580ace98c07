"""Messages that a limit of the account was reached: when it resets, and the block that shows it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.queries.usage import UsageRequest, usage
from app.reports.usage import usage as answer
from app.text.grids import block_grid
from ingest.agents.claude_code.results import reset_time
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.claude_lines import PATH, at, reply, user
from tests.documents import lines

TOLD = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Claude AI usage limit reached|1772449200", "2026-03-02 11:00"),
        ("You've hit your limit · resets 3pm (Europe/Berlin)", "2026-03-02 14:00"),
        ("5-hour limit reached ∙ resets 12:30pm (America/New_York)", "2026-03-02 17:30"),
        ("Claude usage limit reached. Your limit will reset at 8am (UTC).", "2026-03-03 08:00"),
        ("You've hit your limit · resets 12am (UTC)", "2026-03-03 00:00"),
        ("You've hit your limit · resets 14:15 (UTC)", "2026-03-02 14:15"),
        ("You've hit your limit · resets 3pm", None),
        ("You've hit your limit · resets 3pm (Nowhere/Land)", None),
        ("You've hit your limit · resets 25:00 (UTC)", None),
        ("You've hit your weekly limit · resets Dec 5, 3pm (UTC)", None),
        ("Claude AI usage limit reached|-5", None),
        ("Claude AI usage limit reached|soon", None),
        ("API Error: 529 overloaded", None),
    ],
)
def test_the_time_at_which_a_limit_resets(text: str, expected: str | None) -> None:
    found = reset_time(text, TOLD)
    assert (found and found.strftime("%Y-%m-%d %H:%M")) == expected


def test_a_time_of_day_needs_the_time_of_the_message() -> None:
    assert reset_time("resets 3pm (UTC)", None) is None
    assert reset_time("Claude AI usage limit reached|1772449200", None) == datetime(
        2026, 3, 2, 11, tzinfo=UTC
    )


def limited(text: str) -> str:
    """A response at 8:00:10, and the message after it."""
    told = {"isApiErrorMessage": True, "inside": {"model": "<synthetic>", "content": text}}
    return lines(
        user("Make it faster."), reply(second=10), reply("x1", "msg_x", None, second=70, **told)
    )


def test_the_block_of_the_response_before_the_message_shows_it(store: Store) -> None:
    ingest(
        [Source(PATH, limited("You've hit your limit · resets 1pm (UTC)").encode())],
        store,
        Options(jobs=1),
    )
    used = usage(store, UsageRequest(by=("block",)))
    [block] = used.table.to_pylist()
    assert block["limit_resets_at"] == datetime.fromisoformat(at(0)).replace(hour=13)
    assert block["limit_resets_at"] == block["block_start"] + timedelta(hours=5)
    assert "limit_resets_at" in answer(store, UsageRequest(by=("block",))).shown
    assert "limit_resets_at" in [column.name for column in block_grid(used.table).columns]


@pytest.mark.parametrize(
    "text", ["Claude AI usage limit reached|1773000000", "API Error: 529 overloaded"]
)
def test_the_limit_of_a_week_is_none_of_a_block(store: Store, text: str) -> None:
    ingest([Source(PATH, limited(text).encode())], store, Options(jobs=1))
    used = usage(store, UsageRequest(by=("block",)))
    assert used.table["limit_resets_at"].to_pylist() == [None]
    assert "limit_resets_at" not in answer(store, UsageRequest(by=("block",))).shown
