"""The screen Cost & time.

Its sentence is what its tables say, its sums are those of every report, and no bound is lost.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from app.queries import agents as agent_queries
from app.queries import cost as cost_queries
from app.queries import runs as run_queries
from app.queries.agents import AgentFigures
from app.queries.cost import Times
from app.queries.filters import Filters
from app.text import costs
from app.text import costs as sentences
from app.text.formatting import usd
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, COST_MEASURES, CostMeasure
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
    assert f"Three runs of Claude Code with sonnet-4-5 cost  {usd(total.cost_usd)} ." in told(app)
    assert "no date" in told(app), "the samples are plain records"
    assert any("--trust-file-times" in caption.value for caption in app.caption)
    assert len(app.get("plotly_chart")) == 1
    slow = screen(sample_store, view="time")
    assert "took  10m 09s" in told(slow)
    assert "n 3" in told(slow), "of three runs no median is said"


@pytest.mark.parametrize("measure", COST_MEASURES.values(), ids=COST_MEASURES)
def test_months_add_up_to_the_sum_of_the_runs(measure: CostMeasure, mixed: Store) -> None:
    months = cost_queries.by_month(mixed, ALL, measure)
    [total, *_] = agent_queries.agents(mixed, ALL, measure)
    assert sum(row.cost_usd or 0 for row in months) == months[-1].total_usd == total.cost_usd
    assert sum(row.started for row in months) == total.started
    assert [row.month for row in months] == sorted(
        (row.month for row in months), key=lambda month: month or "9"
    ), "no date comes last"
    assert months[-1].month is None


def test_a_bound_stays_one_in_the_row_and_in_every_total_after_it() -> None:
    row = cost_queries.MonthCost(
        "trae-agent", "gpt-5", "2026-01", 3, 2, Decimal(5), "upper_bound", Decimal(7), "upper_bound"
    )
    shown = costs.month_table([row], ALL)
    assert shown.count("≤\u00a0$5.00") == shown.count("≤\u00a0$7.00") == 1
    assert "2 of 3" in shown


def test_what_a_month_cost_is_read_off_its_first_row(mixed: Store) -> None:
    months = cost_queries.by_month(mixed, ALL)
    shown = re.findall(r"<tr class=\"first\">.*?</tr>", costs.month_table(months, ALL))
    asked = run_queries.summary(mixed, ALL, ("month",), ("cost_best_usd",)).to_pylist()
    assert len(shown) == len({row.month for row in months}) == len(asked)
    for row, line in zip(
        sorted(asked, key=lambda row: (row["month"] is None, row["month"])), shown, strict=True
    ):
        assert str(row["month"] or "no date")[:7] in line
        assert f"{usd(row['cost_best_usd'])}</b>" in line


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


@cache
def _row_of(store: Store) -> AgentFigures:
    return agent_queries.agents(store, ALL)[0]


def figures(
    store: Store,
    agent: str,
    usd: str | None,
    *,
    runs: int = 9,
    known: int | None = None,
    bounds: str = "",
) -> AgentFigures:
    """A row of a model, made of a real one."""
    row = _row_of(store)
    known = (0 if usd is None else runs) if known is None else known
    return replace(
        row,
        agent=agent,
        model="m",
        is_all=False,
        is_model=True,
        runs=runs,
        started=runs,
        cost_usd=None if usd is None else Decimal(usd),
        cost=replace(row.cost, known=known, median=1.0),
        bounds=bounds,
        bounded=known if bounds else 0,
    )


@pytest.mark.parametrize(
    ("parts", "heading", "second"),
    [
        (
            (("codex", "60", {}), ("trae-agent", "40", {})),
            "Codex with m cost **$60.00, 60%** of the $100.00 that all runs cost.",
            "",
        ),
        (
            (("codex", "60", {"bounds": "upper_bound"}), ("trae-agent", "40", {})),
            (
                "18 runs cost **≤\u00a0$100.00**: ≤\u00a0$60.00 by Codex with m and $40.00 by "
                "TRAE with m."
            ),
            "",
        ),
        (
            (("codex", "60", {}), ("trae-agent", None, {})),
            "Nine runs of Codex with m cost **$60.00**, a median of $1.00 each.",
            "What 9 runs of TRAE with m cost is not recorded.",
        ),
        (
            (("codex", "60", {"known": 4}), ("trae-agent", "40", {})),
            (
                "13 runs cost **$100.00** as far as is known: $60.00 by Codex with m and $40.00 "
                "by TRAE with m."
            ),
            "What 5 runs of Codex with m cost is not recorded.",
        ),
        (
            (("codex", "50", {}), ("trae-agent", "50", {})),
            "18 runs cost **$100.00**: $50.00 by Codex with m and $50.00 by TRAE with m.",
            "",
        ),
        ((("codex", None, {}),), "What nine runs cost **is not recorded**.", ""),
    ],
    ids=["share", "bound", "one-is-unknown", "partly-unknown", "tie", "nothing-known"],
)
def test_the_sentence_is_never_stronger_than_its_figures(
    parts: tuple[tuple[str, str | None, dict[str, Any]], ...],
    heading: str,
    second: str,
    read_samples: Store,
) -> None:
    """A share needs both sides known and unbounded, a first place an exact lead."""
    rows = [figures(read_samples, agent, usd, **more) for agent, usd, more in parts]
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    total = replace(
        rows[0],
        is_all=True,
        is_model=False,
        started=sum(row.started for row in rows),
        bounds=", ".join(filter(None, (row.bounds for row in rows))),
        cost_usd=sum(costs, Decimal(0)) if costs else None,
        cost=replace(rows[0].cost, known=sum(row.cost.known for row in rows)),
    )
    said = sentences.cost([total, *rows], BEST)
    assert (said.heading, said.second) == (heading, second)


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
