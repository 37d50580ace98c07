"""Messages that a limit of the account was reached: the block that shows it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from app.queries.usage import UsageRequest, usage
from app.reports.usage import usage as answer
from app.text.grids import block_grid
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.claude_lines import PATH, at, reply, user
from tests.documents import lines


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
