"""The screen Cost: what it adds up is what every other report adds up, and it says what it leaves out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from app.charts import cost, cost_along_time, list_cost, looks
from app.charts.base import INKS
from app.charts.palette import OTHERS
from app.queries import cost as cost_queries
from app.queries import runs as run_queries
from app.queries.cost import PARTS, RECEIVED, TIME, Groups
from app.queries.filters.chosen import Filters, choose
from app.text import cost_grids, grid_columns
from app.text.words import costs as cost_words
from ingest.documents.contents import Source
from ingest.pipeline import Options, ingest
from ingest.store.database import Store
from schemas.catalogue.metrics import RUN_METRICS
from tests.conftest import TOTAL_COST, StoreOnce, record_text

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

ALL = Filters()
GROUPINGS = ("model", "outcome", "day", "week", "cause", "label:team", "label:nobody")
HOSTILE = '<a href="https://example.com">x</a>'
USAGE = {"inputTokens": 1000, "outputTokens": 2000, "cacheReadInputTokens": 30_000, "cacheCreationInputTokens": 400}


def usage(model: str, usd: float) -> dict[str, Any]:
    return {model: USAGE | {"costUSD": usd}}


def at(day: int) -> str:
    """An event of a stream, which says when the record after it was made."""
    return f'{{"type":"user","timestamp":"2026-03-{day + 1:02}T12:00:00Z","session_id":"{json.loads(record_text())["session_id"]}"}}\n'


def fill_mixed(store: Store) -> None:
    """Runs of twelve models and helpers, with and without times, models, prices and costs; one that reports more than its models."""
    texts = [
        record_text(uuid=f"m{number}", total_cost_usd=number + 1.5, modelUsage=usage(f"model-{number}", number + 1) | usage("helper", 0.5))
        for number in range(12)
    ]
    texts += [
        record_text(uuid="priced", total_cost_usd=0.25),
        record_text(uuid="silent", total_cost_usd=..., modelUsage={}),
        record_text(uuid="nameless", total_cost_usd=7.5, modelUsage={}, usage=...),
        record_text(uuid="more", total_cost_usd=3.000000001, modelUsage=usage("claude-opus-4-6", 1)),
        record_text(uuid="hostile", total_cost_usd=0.125, modelUsage=usage(HOSTILE, 0.125)),
    ]
    sources = [Source(f"{number:02}.jsonl", (at(number) + text if number % 2 else text).encode()) for number, text in enumerate(texts)]
    for place, team in enumerate((HOSTILE, "red")):
        ingest(sources[place::3], store, Options((("team", team),)))
    ingest(sources[2::3], store)


@pytest.fixture(scope="module")
def mixed(store_once: StoreOnce) -> Store:
    return store_once("mixed", fill_mixed)


@pytest.fixture
def screen(screens: Any) -> Any:
    """The screen as a visitor of a store sees it."""

    def open_(store: Store, **query: str) -> AppTest:
        app: AppTest = screens(store.location, "screens/cost.py", **query)
        assert not app.error
        return app

    return open_


def total(table: pa.Table, column: str = "cost_usd") -> Decimal:
    return sum((value for value in table[column].to_pylist() if value is not None), Decimal(0))


def reported(store: Store) -> Decimal:
    [value] = run_queries.summary(store, ALL, (), ("cost_usd",))["cost_usd"].to_pylist()
    return Decimal(value)


def groups_of(*rows: dict[str, Any], in_order: bool = False, found: int | None = None) -> Groups:
    money = dict.fromkeys(("cost_usd", "cost_uncached_usd", "cache_saved_usd", "cost_cache_write_usd"))
    shares = dict.fromkeys(("cost_share", "cache_hit_ratio"))
    tokens = dict.fromkeys(cost_words.TOKEN_CLASSES)
    types = dict.fromkeys(money, pa.decimal128(38, 9)) | dict.fromkeys(shares, pa.float64()) | dict.fromkeys(tokens, pa.int64())
    schema = pa.schema([("task", pa.string()), *types.items()])
    table = pa.Table.from_pylist([money | shares | tokens | row for row in rows], schema=schema)
    return Groups(table, len(rows) if found is None else found, in_order)


def spent(*rows: tuple[Any, str | None, str]) -> pa.Table:
    """(x, model, cost) of single runs."""
    dicts = [
        {"x": x, "model": model, "is_other": False, "cost_usd": Decimal(usd), "runs": 1, "run_id": f"run-{number}", "title": "Faster"}
        for number, (x, model, usd) in enumerate(rows)
    ]
    return pa.Table.from_pylist(dicts)


def test_the_samples_as_a_visitor_sees_them(sample_store: Store, screen: Any) -> None:
    app = screen(sample_store)
    cards = {metric.label: metric for metric in app.metric}
    assert cards["Reported cost"].value == "$2.83"
    assert cards["Reported cost"].help == f"{RUN_METRICS['cost_usd'].meaning} Exact value: \\${TOTAL_COST.rstrip('0')}."
    titles = [heading.value.replace("\\", "") for heading in app.header]
    assert titles[0] == "Runs with main model claude-sonnet-4-5 account for all cost"
    assert "Cumulative cost: $2.83 (half reached at run 2 of 3)" in titles
    assert any(title.startswith("List price is") and title.endswith("mainly due to regional endpoint") for title in titles)
    assert any(title.startswith("Cache savings: ") for title in titles)
    assert len(app.get("plotly_chart")) == 7


@pytest.mark.slow
@pytest.mark.parametrize("by", GROUPINGS)
def test_the_shares_of_models_add_up_to_their_groups(by: str, mixed: Store) -> None:
    """Helpers, runs without models and totals above those of the models included, to the last billionth."""
    found, shares = cost_queries.groups(mixed, ALL, by, 100), cost_queries.shares(mixed, ALL, by, 100)
    expected = dict(zip(*(found.table[key].to_pylist() for key in (by, "cost_usd")), strict=True))
    sums: dict[Any, Decimal] = {}
    for row in shares.to_pylist():
        sums[row["group"]] = sums.get(row["group"], Decimal(0)) + row["cost_usd"]
    assert sums == {key: value for key, value in expected.items() if value}
    assert sum(sums.values()) == reported(mixed)


@pytest.mark.parametrize("by", ["model", "day"])
def test_few_groups_are_the_same_few_in_both_questions(by: str, mixed: Store) -> None:
    found, shares = cost_queries.groups(mixed, ALL, by, 3), cost_queries.shares(mixed, ALL, by, 3)
    assert set(shares["group"].to_pylist()) == {row[by] for row in found.table.to_pylist() if row["cost_usd"]}
    assert found.total > found.table.num_rows == 3
    assert cost_words.groups_note(found, "Main model").startswith("Showing the last 3 of" if by == "day" else "Showing the top 3 of")


@pytest.mark.parametrize("parts", [PARTS, 4])
def test_what_is_added_up_is_all_there_is(parts: int, mixed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_queries, "PARTS", parts)
    about = cost_queries.times(mixed, ALL)
    along, ordered = (cost_queries.spending(mixed, ALL, axis, about) for axis in (TIME, RECEIVED))
    assert 0 < about["timed"] < about["runs"] == 16
    assert total(ordered) == total(along) + about["untimed_usd"] == reported(mixed)
    for table in (along, ordered):
        places = [step.x for step in cost_along_time.steps(table, looks(table["model"].to_pylist()))]
        assert places == sorted(places)
        assert len(places) <= parts + 1
        assert cost_along_time.steps(table, looks(table["model"].to_pylist()))[-1].so_far == total(table)
    assert ordered["x"].to_pylist()[-1] == about["runs"]
    assert sum(along["runs"].to_pylist()) == about["timed"]


def test_models_beyond_the_most_expensive_are_one(mixed: Store) -> None:
    table = cost_queries.spending(mixed, ALL, RECEIVED, cost_queries.times(mixed, ALL))
    named = {row["model"] for row in table.to_pylist() if not row["is_other"]}
    assert "model-11" in named
    names = [trace.name for trace in cost_along_time.spending(table, RECEIVED, looks(named), None).data if trace.showlegend]
    assert names.count(OTHERS) == 1
    bars = cost.by_model(cost_queries.groups(mixed, ALL, "outcome", 9), cost_queries.shares(mixed, ALL, "outcome", 9), looks(named), None)
    assert [trace.name for trace in bars.data].count(OTHERS) == 1
    assert sum(sum(trace.x) for trace in bars.data) == pytest.approx(float(reported(mixed)))


def test_without_times_the_cost_stands_in_ingestion_order(store: Store, screen: Any) -> None:
    for number in range(2):
        ingest([Source(f"{number}.json", record_text(uuid=f"u{number}").encode())], store)
    app = screen(store, axis="time")
    assert [caption for caption in app.caption if caption.value.startswith("0 of 2 runs have timestamps.")]
    assert any("half reached at run 1 of 2" in heading.value for heading in app.header)


def test_where_some_times_are_known_the_date_comes_first_and_says_what_it_leaves_out(mixed: Store, screen: Any) -> None:
    app = screen(mixed)
    assert [caption for caption in app.caption if "Not shown" in caption.value and "runs without a date" in caption.value]
    app.segmented_control(key="axis").set_value("received").run()
    assert not app.exception
    assert [caption for caption in app.caption if "runs have timestamps." in caption.value]


def test_filters_and_groupings_come_from_the_address(mixed: Store, screen: Any) -> None:
    app = screen(mixed, model="model-3", group="Label team")
    assert {metric.label: metric.value for metric in app.metric}["Reported cost"] == "$4.50"
    assert app.selectbox(key="group").value == "label:team"
    assert not [element for element in app.markdown if "<a" in element.value]


def test_every_figure_of_the_tables_says_what_it_means(mixed: Store) -> None:
    found = cost_queries.groups(mixed, ALL, "model", 100, cost_queries.GROUP_METRICS)
    grids = (
        cost_grids.group_grid(found),
        grid_columns.grid(cost_queries.models(mixed, ALL), cost_grids.MODELS),
    )
    for grid in grids:
        assert not [column.name for column in grid.columns if column.is_figure and not column.meaning]
    assert total(cost_queries.models(mixed, ALL)) == total(run_queries.models(mixed, ALL)), "one definition of a model's cost"


def test_groups_are_compared_over_the_runs_that_have_both_costs(mixed: Store) -> None:
    """Else what is unpriced would look dear as reported."""
    found = cost_queries.groups(mixed, ALL, "label:team", 9)
    [team] = cost_words.comparable(found)
    runs = cost_queries.most_expensive(mixed, choose({"label": f"team={HOSTILE}"}), 99).to_pylist()
    assert 0 < team["cost_delta_usd_known"] < len(runs)
    assert team["reported"] == sum(run["cost_own_usd"] for run in runs if run["cost_list_usd"] is not None)
    assert "only the runs with both costs" in cost_words.prices_note(found, "Label team")


def test_the_most_expensive_runs_are_the_most_expensive(mixed: Store) -> None:
    listed = cost_queries.most_expensive(mixed, ALL, 3)
    assert listed["run_id"].to_pylist() == ["m11", "m10", "m9"]
    parts = cost_queries.models_of(mixed, listed["run_id"].to_pylist())
    assert total(parts) == total(listed, "cost_own_usd"), "with their helpers"
    [totals] = run_queries.summary(mixed, ALL, (), ("runs", "cost_usd")).to_pylist()
    assert cost_words.most_expensive_finding(listed, totals) == "Top 3 of 17 runs account for 36% of cost"


def test_causes_stand_with_the_largest_difference_first() -> None:
    rows = [{"cause": "same", "cost_delta_usd": Decimal(0)}, {"cause": "fallback_price", "cost_delta_usd": Decimal(-5)}]
    table = pa.Table.from_pylist([row | {"runs": 1, "cost_usd": Decimal(9), "cost_list_usd": Decimal(4)} for row in rows])
    totals = {"cost_delta_usd": Decimal("-5"), "cost_delta_share": -0.25, "cost_delta_usd_known": 2, "runs": 3}
    totals |= {"cost_compared_usd": Decimal(20), "cost_compared_usd_known": 2}
    assert cost_words.list_finding(totals, table.slice(1)) == "List price is $5.00 (25.0%) lower, mainly due to fallback pricing"
    assert cost_words.list_finding(totals, table.slice(0, 1)) == "Reported cost matches list prices"
    assert (
        cost_words.causes_note(totals, table)
        == "1 run matches list price. The difference is vs. $20.00 reported, 2 runs (based on 2 of 3 runs)."
    )
    drawn = list_cost.causes(table, "light")
    assert [list(trace.x) for trace in drawn.data] == [[-5.0]]
    assert drawn.data[0].outsidetextfont.color == INKS["light"], "figures beside bars can be read"


@pytest.mark.parametrize(
    ("shares", "in_order", "finding"),
    [
        (("0.5", "0.44", "0.06"), False, "Top 2 of 3 tasks account for 94% of cost"),
        (("0.996", "0.004"), False, "t0 accounts for over 99% of cost"),
        (("1",), False, "t0 accounts for all cost"),
        (("0.2", "0.8"), True, "Highest task: t1, $8.00"),
        ((), False, "Reported cost by task"),
    ],
)
def test_the_title_says_who_made_the_cost(shares: tuple[str, ...], in_order: bool, finding: str) -> None:
    rows = [{"task": f"t{place}", "cost_usd": Decimal(share) * 10, "cost_share": float(share)} for place, share in enumerate(shares)]
    assert cost_words.groups_finding(groups_of(*rows, in_order=in_order), "Task") == finding


def test_the_most_expensive_day_is_a_day() -> None:
    rows = [{"task": day, "cost_usd": Decimal(usd), "cost_share": 0.5} for day, usd in (("2026-03-01", 1), (None, 9))]
    assert cost_words.groups_finding(groups_of(*rows, in_order=True), "Day") == "Highest day: 2026-03-01, $1.00"


@pytest.mark.parametrize(("label", "many"), [("Repository", "repositories"), ("Day", "days"), ("Label team", "values of label team")])
def test_groups_in_the_plural(label: str, many: str) -> None:
    assert cost_words.plural(label) == many


def test_where_half_of_the_cost_was_reached() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    rows = [(noon + timedelta(days=day), "m", usd) for day, usd in enumerate(("1", "1", "3", "1"))]
    assert cost_words.spending_finding(spent(*rows), TIME) == "Cumulative cost: $6.00 (half reached on 2026-03-03)"
    ordered = spent(*((place + 1, model, usd) for place, (_, model, usd) in enumerate(rows)))
    assert cost_words.spending_finding(ordered, RECEIVED) == "Cumulative cost: $6.00 (half reached at run 3 of 4)"


def test_a_loss_by_caching_is_called_one() -> None:
    totals = {"cache_saved_usd": Decimal("-0.5"), "cache_saved_share": -0.1}
    assert cost_words.caching_finding(totals) == "Cache savings are negative: caching cost $0.5000 more than it saved"
    lost = groups_of({"task": "t", "cost_uncached_usd": Decimal(5), "cache_saved_usd": Decimal("-0.5"), "cost_cache_write_usd": Decimal(1)})
    assert {trace.name: list(trace.x) for trace in list_cost.caching(lost, None).data} == {
        "List-price cost": [5.0],
        "Negative cache savings": [0.5],
    }


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("rows", [(), ({"task": None},), ({"task": HOSTILE, "cost_usd": Decimal(0), "cost_uncached_usd": Decimal(0)},)])
def test_charts_survive_what_groups_may_hold(rows: tuple[dict[str, Any], ...], in_order: bool) -> None:
    found = groups_of(*rows, in_order=in_order)
    texts, amounts = pa.array([], pa.string()), pa.array([], pa.decimal128(38, 9))
    shares = pa.table({"group": texts, "model": texts, "cost_usd": amounts})
    for drawn in (cost.by_model(found, shares, looks(()), "dark"), cost.by_token_class(found, None), list_cost.caching(found, None)):
        assert drawn.data or drawn.layout.annotations, "an empty chart says why"
        assert "<a" not in drawn.to_json().replace("\\u003c", "<")


def test_charts_of_a_real_store_hide_nothing_and_believe_nothing(mixed: Store) -> None:
    colours = looks(run_queries.models(mixed, ALL, ("model",))["model"].to_pylist())
    found = cost_queries.groups(mixed, ALL, "label:team", 9)
    drawn = [
        cost.by_model(found, cost_queries.shares(mixed, ALL, "label:team", 9), colours, None),
        cost.by_token_class(found, None),
        list_cost.caching(found, None),
        list_cost.prices(found, None, None),
        list_cost.prices(cost_queries.groups(mixed, ALL, "model", 9), colours, None),
        list_cost.causes(cost_queries.by_cause(mixed, ALL), None),
        cost_along_time.spending(cost_queries.spending(mixed, ALL, RECEIVED, cost_queries.times(mixed, ALL)), RECEIVED, colours, None),
    ]
    for figure in drawn:
        assert "<a" not in figure.update_traces(customdata=None).to_json().replace("\\u003c", "<")
        assert sum(bool(trace.showlegend) for trace in figure.data) != 1 or not figure.layout.showlegend
        assert figure.layout.annotations or figure.layout.xaxis.title.text or figure.layout.yaxis.title.text


def test_a_point_of_the_line_leads_to_its_run_and_tells_exact_sums() -> None:
    drawn = cost_along_time.spending(spent((1, "m", "0.25"), (2, None, "1.000000001")), RECEIVED, looks(["m"]), None)
    points = drawn.data[-1]
    assert list(points.customdata) == ["run-0", "run-1"]
    assert "$1.250000001" in points.text[1]
    assert "unknown: " in points.text[1]
    assert not cost_along_time.spending(spent(), RECEIVED, looks(()), None).data
