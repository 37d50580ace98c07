"""What a visitor chooses on a screen, and what a link chooses for them.

Within the filters, in the words of either.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.queries import runs as screen_queries
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.conftest import StoreOnce, record_text

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

MODELS = {"a": "claude-opus-4-6", "b": "claude-opus-4-6", "c": "glm-5.1", "d": "claude-haiku-4-5"}


def text_of(uuid: str) -> str:
    usage = {
        "inputTokens": 1,
        "outputTokens": 2,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "costUSD": 1,
    }
    return record_text(
        uuid=uuid,
        session_id=uuid,
        total_cost_usd=1,
        modelUsage={MODELS[uuid]: usage},
        is_error=uuid == "b",
        result=f"Beginning. {uuid} ends",
    )


def fill_four(store: Store) -> None:
    """Four runs of three models; of one the time of its file is known."""
    folder = Path(store.location).parent
    (folder / "d.json").write_text(text_of("d"))
    ingest(
        [
            *read_paths([folder / "d.json"]),
            *(Source(f"{uuid}.json", text_of(uuid).encode()) for uuid in "abc"),
        ],
        store,
    )


@pytest.fixture(scope="module")
def four(read_once: StoreOnce) -> Store:
    return read_once("four", fill_four)


@pytest.fixture
def opened(four: Store, screens: Any) -> Any:
    def open_(screen: str, **query: str) -> AppTest:
        app: AppTest = screens(four.location, f"screens/{screen}.py", **query)
        return app

    return open_


@pytest.mark.parametrize("view", ["time", "Time"])
def test_a_link_names_a_choice_as_the_screen_or_as_the_command_line_does(
    opened: Any, view: str
) -> None:
    assert opened("cost", view=view).get("button_group")[-1].value == "time"


def test_compare_has_the_groups_of_the_address_else_the_pair_that_the_filters_leave(
    opened: Any,
) -> None:
    """One group, or none, is a sentence on what is missing; unreadable parts of a link show."""
    said = [
        opened("compare", **query).get("html")
        for query in ({}, {"model": "glm-5.1"}, {"groups": ["outcome=completed", "modle=x", ""]})
    ]
    usual, alone, named = (" ".join(part.proto.body for part in parts) for parts in said)
    assert "opus-4-6" in usual, usual
    assert "a comparison needs runs of <em>another agent or model</em>" in alone
    assert "modle=x: unknown filter" in named
    assert "All runs" in named


def test_a_report_at_prices_that_nobody_knows_is_refused_before_it_is_offered(opened: Any) -> None:
    app = opened("reports", reprice="nope")
    assert "no list price for" in app.error[0].value
    assert not app.get("download_button")
    assert opened("reports", reprice="claude-haiku-4-5").get("download_button")


def test_a_run_stands_in_the_address_of_its_own_screen_only(opened: Any) -> None:
    assert "run" not in opened("cost", run="a").query_params
    assert "run" in opened("run", run="a").query_params


def test_an_excerpt_begins_with_a_word_or_says_that_it_does_not(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.duckdb")
    long = "The quick brown fox jumps over the lazy dog near the river bank"
    ingest([Source("a", record_text(uuid="a", result=long).encode())], store)
    assert screen_queries.excerpts(store, ["a"], "quick")["a"][1].startswith("The quick")
    assert screen_queries.excerpts(store, ["a"], "lazy")["a"][1].startswith(
        "… fox jumps over the lazy"
    )


@pytest.mark.slow
def test_an_excerpt_keeps_what_was_searched_for_behind_blanks(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.duckdb")
    blanks = "\n" * (screen_queries.BEFORE + 1)
    ingest(
        [Source("a", record_text(uuid="a", result=f"Beginning.{blanks}lazy dog").encode())], store
    )
    assert screen_queries.excerpts(store, ["a"], "lazy") == {"a": ("result", "… lazy dog")}
