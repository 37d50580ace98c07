"""The screen Cost & time.

Its sentence is what its tables say, its sums are those of every report, and no bound is lost.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from app.queries import agents as agent_queries
from app.queries import cost as cost_queries
from app.queries import runs as run_queries
from app.queries.cost import Times
from app.queries.filters import Filters
from app.text import costs
from app.text import costs as sentences
from app.text.formatting import usd
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.conftest import StoreOnce, record_text

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

ALL = Filters()
HOSTILE = '<a href="https://example.com">x</a>'
USAGE = {
    "inputTokens": 1000,
    "outputTokens": 2000,
    "cacheReadInputTokens": 30_000,
    "cacheCreationInputTokens": 400,
}


def usage(model: str, usd: float) -> dict[str, Any]:
    return {model: USAGE | {"costUSD": usd}}


def at(day: int) -> str:
    """An event of a stream, which says when the record after it was made."""
    return f'{{"type":"user","timestamp":"2026-03-{day + 1:02}T12:00:00Z","session_id":"{json.loads(record_text())["session_id"]}"}}\n'  # noqa: E501


def fill_mixed(store: Store) -> None:
    """Runs of twelve models and helpers, with and without times, models, prices and costs.

    One that reports more than its models.
    """
    texts = [
        record_text(
            uuid=f"m{number}",
            total_cost_usd=number + 1.5,
            modelUsage=usage(f"model-{number}", number + 1) | usage("helper", 0.5),
        )
        for number in range(12)
    ]
    texts += [
        record_text(uuid="priced", total_cost_usd=0.25),
        record_text(uuid="silent", total_cost_usd=..., modelUsage={}),
        record_text(uuid="nameless", total_cost_usd=7.5, modelUsage={}, usage=...),
        record_text(
            uuid="more", total_cost_usd=3.000000001, modelUsage=usage("claude-opus-4-6", 1)
        ),
        record_text(uuid="hostile", total_cost_usd=0.125, modelUsage=usage(HOSTILE, 0.125)),
    ]
    sources = [
        Source(f"{number:02}.jsonl", (at(number) + text if number % 2 else text).encode())
        for number, text in enumerate(texts)
    ]
    for place, team in enumerate((HOSTILE, "red")):
        ingest(sources[place::3], store, Options((("team", team),)))
    ingest(sources[2::3], store)


@pytest.fixture(scope="module")
def mixed(read_once: StoreOnce) -> Store:
    return read_once("mixed", fill_mixed)


@pytest.fixture
def screen(screens: Any) -> Any:
    """The screen as a visitor of a store sees it."""

    def open_(store: Store, **query: str) -> AppTest:
        app: AppTest = screens(store.location, "screens/cost.py", **query)
        assert not app.error
        return app

    return open_


def told(app: AppTest) -> str:
    """The HTML of a screen as text."""
    return html.unescape(
        re.sub(r"<[^>]+>", " ", " ".join(element.proto.body for element in app.get("html")))
    )


def test_the_samples_as_a_visitor_sees_them(sample_store: Store, screen: Any) -> None:
    app = screen(sample_store)
    [total, *_] = agent_queries.agents(sample_store, ALL)
    assert f"3 runs cost  {usd(total.cost_usd)} ; none of them has a date." in told(app)
    assert not app.get("plotly_chart")
    assert len(screen(sample_store, by="agent").get("plotly_chart")) == 1
    slow = screen(sample_store, view="time")
    assert "took  10m 09s" in told(slow)
    assert "n 3" in told(slow), "of three runs no median is said"


def test_causes_and_their_sum_stand_beside_reported_and_list_price(mixed: Store) -> None:
    rows = cost_queries.list_prices(mixed, ALL)
    [facts] = run_queries.summary(
        mixed, ALL, (), ("runs", "cost_compared_usd", "cost_delta_usd")
    ).to_pylist()
    assert sum(row.reported_usd for row in rows) == facts["cost_compared_usd"]
    assert sum(row.delta_usd for row in rows) == facts["cost_delta_usd"]
    assert sum(row.runs for row in rows) == facts["cost_delta_usd_known"]


def test_a_hostile_model_is_text(mixed: Store, screen: Any) -> None:
    assert '<a href="https://example.com' not in "".join(
        element.proto.body for element in screen(mixed).get("html")
    )


def test_slow_is_what_is_slow_for_its_own_agent_and_model(store: Store) -> None:
    """Ten usual runs and a slow one of one model, of another model runs that always take as long.

    A failed run is no outlier.
    """

    def run(name: str, model: str, ms: int, **more: Any) -> str:
        return record_text(
            uuid=name, session_id=name, duration_ms=ms, modelUsage=usage(model, 1), **more
        )

    texts = [run(f"a{number}", "claude-opus-4-6", 1_000 + number) for number in range(10)]
    texts += [
        run("slow", "claude-opus-4-6", 9_000),
        run("failed", "claude-opus-4-6", 90_000, is_error=True),
    ]
    texts += [run(f"b{number}", "claude-haiku-4-5", 9_000) for number in range(10)]
    ingest([Source("runs.jsonl", "\n".join(texts).encode())], store)
    assert [row["run_id"] for row in cost_queries.slow(store, ALL, 9)] == ["slow"]
    total, *parts = cost_queries.times(store, ALL)
    assert (total.lost, total.lost_ms) == (1, 90_000)
    assert sum(row.wall_ms or 0 for row in parts) == total.wall_ms
    assert sentences.time([total, *parts]).heading.startswith(
        "Claude Code with opus-4-6 took **1m 49s, 55%** of the 3m 19s"
    )


def test_a_median_over_different_agents_is_not_said() -> None:
    one = Times(
        "codex", "m", False, 9, 9, 9, 9, 9_000, 0, None, 9, 1_000.0, 2_000.0, 3_000, None, 0
    )
    rows = [
        replace(one, agent=None, model=None, is_all=True, median=7_777.0),
        one,
        replace(one, agent="trae-agent"),
    ]
    assert "7.8s" not in costs.time_table(rows, ALL)
