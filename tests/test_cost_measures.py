"""Cost as reported or at list prices.

Every place that adds it up says the same, what it leaves out, and which bounds it includes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from app.charts.spending import report_charts
from app.cli.output import report_text
from app.queries import agents as agent_queries
from app.queries import comparison as group_queries
from app.queries import cost as cost_queries
from app.queries import models as model_queries
from app.queries import months as month_queries
from app.queries import reading
from app.queries import runs as run_queries
from app.queries.filters import Filters, choose
from app.reports import results
from app.reports.budgets import check
from app.reports.cost_report import CostReport, ReportRequest, report
from app.reports.exports import EXPORTS
from app.text import costs
from app.text.answers import unreported_note
from app.text.columns import columns
from app.text.formatting import bound_sign, short, usd
from app.text.grids import RUNS, Listing, grid
from app.text.run_html import run_figures
from app.text.text_tables import for_people
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, BOUNDS, COST_MEASURES, LIST, REPORTED, CostMeasure
from schemas.catalogue.metrics import DEFAULT_REPORT, RUN_METRICS
from schemas.rows.price import PriceFileRow
from tests.conftest import StoreOnce, record_text
from tests.golden_logs import text_of

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.slow

ALL, TRAE = Filters(), choose({"agent": ["trae-agent"]})
TOKENS = {
    "inputTokens": 1000,
    "outputTokens": 200,
    "cacheReadInputTokens": 0,
    "cacheCreationInputTokens": 0,
}
OURS = {"a-model-of-ours": TOKENS | {"costUSD": 2}, "claude-opus-4-6": TOKENS | {"costUSD": 1}}

ByAgent = Callable[[str], CostReport]


def more(output: int) -> tuple[str, str]:
    """What is replaced in a log of TRAE, and by what, to have so many output tokens."""
    return '"output_tokens": 10,', f'"output_tokens": {output},'


def fill(store: Store) -> None:
    """Two runs of Claude Code, one of them with a model that has no price, and three of TRAE.

    Exact, an upper bound, without tokens.
    """
    silent = json.loads(text_of("trae/providers/anthropic.json")) | {
        "llm_interactions": [],
        "agent_steps": [],
    }
    put = (
        ("a.json", record_text(uuid="a", session_id="a", total_cost_usd=0.25)),
        ("b.json", record_text(uuid="b", session_id="b", total_cost_usd=3, modelUsage=OURS)),
        ("exact.json", text_of("trae/providers/openai.json").replace(*more(50_000))),
        ("bound.json", text_of("trae/providers/bedrock.json").replace(*more(20_000))),
        ("silent.json", json.dumps(silent)),
    )
    ingest([Source(name, text.encode()) for name, text in put], store)
    rates = PriceFileRow(name="", text="", read_at=datetime.now(UTC), machines={"": "3"})
    with store.writing() as writer:
        writer.insert("price_files", [rates])


@pytest.fixture(scope="module")
def mixed(read_once: StoreOnce) -> Store:
    return read_once("cost_measures", fill)


@pytest.fixture(scope="module")
def by_agent(mixed: Store) -> ByAgent:
    """The report of each measure of cost by agent: made once, to be read only."""
    return cache(lambda cost: report(mixed, ReportRequest(by=("agent",), cost=cost)))


def facts(store: Store, filters: Filters = ALL) -> dict[str, Any]:
    [row] = run_queries.summary(store, filters, (), cost_queries.COST_FACTS).to_pylist()
    return dict(row)


def total(table: pa.Table, column: str = "cost_usd") -> Decimal:
    return sum((value for value in table[column].to_pylist() if value is not None), Decimal(0))


@pytest.mark.parametrize("measure", COST_MEASURES.values(), ids=COST_MEASURES)
def test_everything_that_adds_up_cost_says_the_same(
    measure: CostMeasure, mixed: Store, by_agent: ByAgent
) -> None:
    """Card, charts, tables, first page and its lists, the terminal, and a file for programs."""
    card = facts(mixed)[measure.total]
    months, (whole, *_) = (
        month_queries.by_month(mixed, ALL, measure),
        agent_queries.agents(mixed, ALL, measure),
    )
    made = by_agent(measure.key)
    summary = json.loads(EXPORTS["json"].write_report(made), parse_float=Decimal)["summary"]
    spent = {
        "agents": whole.cost_usd,
        "months": sum(filter(None, (row.spend.usd for row in months))),
        "models": total(model_queries.model_costs(mixed, ALL, measure)),
        "runs": total(run_queries.runs(mixed, ALL, None, measure), measure.column),
        "first page": made.first.cost,
        "top models": sum(one.usd for one in made.first.tops[0].shares),
        "top repositories": sum(one.usd for one in made.first.tops[1].shares),
        "groups of the report": total(made.section("groups").table, measure.total),
        "json": summary[measure.total],
    }
    assert card
    assert spent == dict.fromkeys(spent, card)
    assert (summary["cost"], summary["top_models"][0][measure.total]) == (
        measure.key,
        made.first.tops[0].shares[0].usd,
    )
    [line] = [
        line
        for line in report_text(made, 100).decode().splitlines()
        if line.startswith(f"Total {measure.name}")
    ]
    assert short(card, RUN_METRICS[measure.total].unit) in line


def test_the_best_known_cost_is_reported_else_list_with_its_bound(
    mixed: Store, by_agent: ByAgent
) -> None:
    """In lists, groups, comparisons and checks alike; a run without either is unknown, never $0."""
    reported, (exact, bound) = Decimal("3.25"), bounded(mixed)
    listed = {row["run_id"]: row for row in run_queries.runs(mixed, ALL, None, BEST).to_pylist()}
    assert [listed[run]["cost_best_usd"] for run in ("a", "b")] == [Decimal("0.25"), Decimal(3)]
    assert [
        row["cost_best_bounds"] for row in listed.values() if row["cost_best_usd"] == bound
    ] == ["upper_bound"]
    assert facts(mixed)["cost_best_usd"] == reported + exact + bound
    assert (facts(mixed)["costless_runs"], facts(mixed)["bounded_best_usd"]) == (1, bound)
    [verdict] = check(mixed, ALL, {"max-total-usd": Decimal(1)}, measure=BEST).verdicts
    assert (verdict.found, verdict.known) == (reported + exact + bound, 4)
    compared = group_queries.compare(mixed, [ALL, TRAE])
    assert (compared.basis, compared.is_forced) == (LIST, True), (
        "reported costs and list prices would mix"
    )
    assert [group.of("cost").runs for group in compared.groups] == [3, 2]
    assert [
        group_queries.compare(mixed, [TRAE, TRAE], cost=cost).basis for cost in (BEST, REPORTED)
    ] == [LIST, REPORTED]
    groups = for_people(by_agent("best").main_answer)
    signs = {
        row["agent"]: bound_sign(row, "cost_best_usd", row["cost_best_usd_bounds"])
        for row in groups.to_pylist()
    }
    assert signs == {"trae-agent": "≤\u00a0", "claude-code": "", "Total": "≤\u00a0"}
    cells = (
        grid(run_queries.runs(mixed, ALL, None, BEST), Listing(RUNS.of, ("cost_best_usd",)))
        .rows["cost_best_usd"]
        .to_pylist()
    )
    assert [cell.strip() for cell in cells if cell and "≤" in cell] == [f"≤\u00a0${bound:.2f}"], (
        "in a grid of a screen, too"
    )
    assert "1 of 5 runs has no known cost" in results.runs(mixed, ALL, None, "best").note


def test_runs_without_a_reported_cost_are_told_with_what_they_cost_at_list_prices(
    mixed: Store,
) -> None:
    told, exact, bound = facts(mixed), *map(usd, bounded(mixed))
    both = short(sum(bounded(mixed)), RUN_METRICS["cost_usd"].unit)
    assert costs.missing_costs(told, REPORTED) == (
        f"3 of 5 runs report no cost; at list prices they cost {both} (2 of them, incl. "
        f"{bound} upper bounds)."
    )
    assert costs.missing_costs(told, LIST) == (
        "2 of 5 runs have no list-price cost: no tokens in the log (1), or unpriced (1); "
        "they report $3.00."
    )
    assert (
        costs.bounds_sentence(told) == f"{bound} of the list-price cost are upper bounds (1 run)."
    )
    assert exact != bound


def bounded(store: Store) -> list[Decimal]:
    """What the run of TRAE with exact tokens costs, and the one with an upper bound."""
    rows = reading.fetch(
        store,
        (
            "select cost_list_usd from v_runs where agent <> 'claude-code' order by "
            "tokens_basis, run_id"
        ),
    ).to_pylist()
    return [row["cost_list_usd"] for row in rows if row["cost_list_usd"] is not None]


def test_the_bounds_stand_in_card_tables_report_and_terminal(
    mixed: Store, by_agent: ByAgent
) -> None:
    for cost in COST_MEASURES:
        made = by_agent(cost)
        assert any("upper bounds" in note for note in made.first.notes)
    assert "upper bounds (1 run)" in results.runs(mixed, ALL, None, "list").note
    assert "upper bounds" in results.runs(mixed, ALL, None).note
    assert "upper bounds" in results.models(mixed, ALL).note


def test_the_usual_measure_is_the_best_known_cost(mixed: Store) -> None:
    """In the report, the lists, and where no run reports a cost.

    It is that of the list prices then.
    """
    made = report(mixed, ReportRequest(TRAE))
    assert made.measure is BEST
    assert made.first.figures[0].label == "Total best-known cost"
    assert (
        made.first.figures[0].value
        == f"≤\u00a0{short(sum(bounded(mixed)), RUN_METRICS['cost_usd'].unit)}"
    )
    assert made.first.notes[1].startswith("1 of 3 runs has no known cost")
    assert results.runs(mixed, TRAE, None).kept[4] == "cost_best_usd"


def test_a_cost_says_for_how_many_of_the_started_runs_it_is_known_and_never_zero(
    mixed: Store, by_agent: ByAgent
) -> None:
    """From 90 % on it says nothing; of none it is not recorded."""
    made = by_agent("reported").main_answer
    [cost] = [column for column in columns(for_people(made), made.of) if column.name == "cost_usd"]
    rows = {row["agent"]: row for row in for_people(made).to_pylist()}
    assert (cost.text(rows["trae-agent"]), cost.note(rows["trae-agent"])) == ("not recorded", "")
    assert cost.note({"runs": 20, "started_runs": 10, "cost_usd_known": 9}) == ""
    assert cost.note({"runs": 20, "started_runs": 15, "cost_usd_known": 9}) == "9 of 15"


def test_a_median_of_few_values_is_their_range_and_a_rate_of_few_runs_their_count(
    mixed: Store,
) -> None:
    made = report(
        mixed, ReportRequest(by=("agent",), metrics=("cost_median_usd", "error_rate"))
    ).main_answer
    table = for_people(made)
    shown = {column.name: column for column in columns(table, made.of)}
    [row] = [row for row in table.to_pylist() if row["agent"] == "claude-code"]
    assert set(shown) == {"agent", "runs", "cost_median_usd", "error_rate"}
    assert shown["cost_median_usd"].text(row) == "$0.25–$3.00, n 2"
    assert shown["error_rate"].text(row) == "0 of 2"
    assert (
        shown["error_rate"].text(row | {"runs": 30, "error_rate_known": 25, "error_rate": 0.2})
        == "5 of 25 known"
    )
    assert (
        shown["error_rate"].text(row | {"runs": 25, "error_rate_known": 25, "error_rate": 0.2})
        == "20%"
    )


@pytest.mark.parametrize("measure", ["list", "best"])
def test_no_bound_is_lost_between_a_group_and_its_text(
    mixed: Store, by_agent: ByAgent, measure: str
) -> None:
    """Every cost of a group that includes a bound has its sign.

    A median where more than half of its runs are bounds.
    """
    made = by_agent(measure).section("groups").answer
    table = for_people(made)
    keys = [
        key
        for key in COST_MEASURES[measure].among(DEFAULT_REPORT)
        if key in BOUNDS and key in table.column_names
    ]
    bounded = 0
    for row, source in zip(table.to_pylist(), made.table.to_pylist(), strict=False):
        for column in columns(table, made.of):
            if column.name in keys and row[column.name] is not None:
                told = source[BOUNDS[column.name][0]]
                assert column.text(row).startswith(("≤\u00a0", "≥\u00a0", "≈\u00a0")) is bool(
                    told
                ), (
                    column.name,
                    row,
                )
                bounded += bool(told)
    assert bounded


def test_a_list_of_models_says_what_it_adds_to_the_runs(mixed: Store) -> None:
    """The model with a price counts by itself; its run does not, since its other model has none."""
    own = 1000 * Decimal("0.000005") + 200 * Decimal("0.000025")
    listed = total(model_queries.models(mixed, ALL), "cost_list_usd")
    assert listed - facts(mixed)["cost_list_usd"] == own
    assert (
        f"{usd(own)} of it are of runs with another model without a price"
        in results.models(mixed, ALL, "list").note
    )


def test_charts_of_a_report_are_of_its_measure(mixed: Store, by_agent: ByAgent) -> None:
    made = by_agent("list")
    charts = report_charts(
        made.section("groups").table, ("agent",), made.section("models").table, made.measure
    )
    assert charts["groups"].alt == "List-price cost per group, one bar each."


def test_one_click_switches_the_screen_and_the_address_keeps_it(mixed: Store, screens: Any) -> None:
    app: AppTest = screens(mixed.location, "screens/cost.py", month="all")
    assert "Cost known for <em>4</em>" in "".join(element.proto.body for element in app.get("html"))
    app.button(key="cost-list").click().run()
    assert not app.exception
    shown = "".join(element.proto.body for element in app.get("html"))
    assert f"<em>{usd(facts(mixed)['cost_list_usd'], 'upper_bound')}</em>" in shown
    linked: AppTest = screens(mixed.location, "screens/cost.py", month="all", cost="list")
    assert shown.partition("</h1>")[0] in "".join(
        element.proto.body for element in linked.get("html")
    )


# what agents do not report


def test_a_dash_is_explained_where_it_is_for_the_agent(mixed: Store) -> None:
    listed, keys = (
        run_queries.runs(mixed, ALL),
        (*RUNS.keys, "cost_own_usd", "cost_per_turn_usd", "parallelism", "session_id"),
    )
    assert (
        unreported_note(listed, keys, RUNS.of)
        == "–: not reported by TRAE (Reported cost, Cost per turn, API / wall, Session)."
    )
    of_one_agent = run_queries.runs(mixed, choose({"agent": "claude-code"}))
    assert unreported_note(of_one_agent, keys, RUNS.of) == ""
    assert unreported_note(run_queries.runs(mixed, TRAE), keys, RUNS.of) == "", (
        "an empty column is not shown"
    )


def test_agents_side_by_side_say_which_figures_they_do_not_report(
    mixed: Store, by_agent: ByAgent
) -> None:
    made = by_agent("reported")
    said = "–: not reported by TRAE (Reported cost, Share, Cost per run (p50)"
    assert said in made.section("groups").note
    assert said in made.main_answer.note
    assert "not reported" not in report(mixed, ReportRequest(by=("model",))).section("groups").note


def test_a_run_without_a_reported_cost_shows_its_list_price_first(mixed: Store) -> None:
    ids = reading.fetch(mixed, "select run_id from runs where tokens_basis = 'upper_bound'")[
        "run_id"
    ].to_pylist()
    run = run_queries.run(mixed, ids[0])
    assert run is not None
    first, second, *others = run_figures(run)
    assert [label for label, _, _ in others if "per turn" in label] == ["List-price cost per turn"]
    assert first == (
        "List-price cost",
        "≤\u00a0" + short(bounded(mixed)[1], RUN_METRICS["cost_usd"].unit),
        "an upper bound",
    )
    assert second[::2] == ("Reported cost", "not reported by TRAE")


# on a phone


def test_a_compact_list_has_title_cost_and_day_and_keeps_to_the_address(
    mixed: Store, screens: Any
) -> None:
    app: AppTest = screens(mixed.location, "screens/runs.py")
    assert {"agent", "why", "cost_shown"} <= set(app.dataframe[0].value.columns) | {"why"}
    assert [
        cost.strip()[:2] for cost in app.dataframe[0].value["cost_shown"] if isinstance(cost, str)
    ].count("≤\u00a0") == 1
    app.toggle(key="compact").set_value(True).run()
    assert not app.exception
    assert list(app.dataframe[0].value.columns)[:3] == ["title", "cost_shown", "dated_at"]
    opened: AppTest = screens(
        mixed.location, "screens/runs.py", compact="true", agent="trae-agent", cost="reported"
    )
    assert "cost_shown" not in opened.dataframe[0].value.columns, "TRAE reports no cost"
