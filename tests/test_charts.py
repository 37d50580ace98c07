"""Charts survive what stores hold, say what is true, and leave nothing out without saying so."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from app.charts import CHARTS, distributions, looks, periods
from app.charts.axes import Axis, axis_layout
from app.charts.base import level, tick_name
from app.charts.legend import legend_html, without_legend
from app.charts.palette import OTHER_LOOK, OTHERS, OUTCOMES, PALETTE, TOP, group_looks
from app.queries.filters.chosen import Filters
from app.queries.runs import model_rows, run, runs
from app.text.formatting import exact
from ingest.store.database import Store
from schemas.catalogue.columns import MEASURES
from schemas.rows.run import Outcome
from schemas.unit_names import Unit
from tests.conftest import record_text
from tests.test_dashboard import add

OF_MODELS = {key: chart for key, chart in CHARTS.items() if not key.startswith(("claims-", "verdicts-"))}
"""Charts coloured by model; those of claims and verdicts have tests of their own."""

SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("title", pa.string()),
        ("model", pa.string()),
        ("duration_ms", pa.int64()),
        ("duration_api_own_ms", pa.int64()),
        ("parallelism", pa.float64()),
        ("num_turns", pa.int64()),
        ("cost_per_turn_usd", pa.decimal128(18, 9)),
        ("cost_own_usd", pa.decimal128(18, 9)),
        ("cost_list_usd", pa.decimal128(18, 9)),
        ("cost_best_usd", pa.decimal128(18, 9)),
        ("cost_best_per_turn_usd", pa.decimal128(18, 9)),
        ("cost_list_per_turn_usd", pa.decimal128(18, 9)),
        ("cost_usd", pa.decimal128(18, 9)),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("cache_read_tokens", pa.int64()),
        ("cache_write_tokens", pa.int64()),
    ]
)
"""The columns of all charts in one table: a chart takes what it needs."""
FIGURES = SCHEMA.names[3:]


def row(number: Any = 1, model: Any = "m", **figures: Any) -> dict[str, Any]:
    known = dict.fromkeys(FIGURES, 7) | dict.fromkeys(filter(lambda name: "cost" in name, FIGURES), Decimal("0.5"))
    return {"run_id": f"run-{number}", "title": f"Faster kernel {number}", "model": model} | known | figures


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


TABLES = {
    "no rows": table(),
    "one row": table(row()),
    "all unknown": table(row(model=None, **dict.fromkeys(FIGURES)), row(2, **dict.fromkeys(FIGURES))),
    "all zero": table(row(**dict.fromkeys(FIGURES, 0)), row(2, **dict.fromkeys(FIGURES, 0))),
    "some unknown": table(row(), row(2, **dict.fromkeys(FIGURES))),
    "huge": table(row(), row(2, duration_ms=2**62, duration_api_own_ms=2**62, num_turns=2**40, cost_own_usd=Decimal("999999999"))),
    "thousands": table(*(row(number, f"model-{number % 30}", duration_ms=number + 1) for number in range(3_000))),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("key", OF_MODELS)
def test_a_chart_survives_what_a_store_may_hold(key: str, case: str) -> None:
    chart, rows = CHARTS[key], TABLES[case]
    figure = chart.draw(rows)
    figure.to_json()
    assert chart.alt(rows)
    assert figure.data or figure.layout.annotations, "an empty chart says why"
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"


@pytest.mark.parametrize("key", OF_MODELS)
def test_there_is_no_legend_of_one(key: str) -> None:
    assert not CHARTS[key].draw(TABLES["one row"]).layout.showlegend
    assert CHARTS[key].draw(table(row(), row(2, "other"))).layout.showlegend


@pytest.mark.parametrize("key", OF_MODELS)
def test_every_axis_says_what_it_shows(key: str) -> None:
    layout = CHARTS[key].draw(TABLES["one row"]).layout
    assert layout.xaxis.title.text
    assert layout.yaxis.title.text or layout.yaxis.categoryarray


@pytest.mark.parametrize("key", ["wall-api", "turns-cost"])
def test_thousands_of_points_are_left_to_the_graphics_card(key: str) -> None:
    assert {trace.type for trace in CHARTS[key].draw(TABLES["thousands"]).data[:6]} == {"scattergl"}
    assert CHARTS[key].draw(TABLES["one row"]).data[0].type == "scatter"


def test_a_model_has_one_colour_in_every_chart() -> None:
    rows = table(row(1, "b"), row(2, "a"), row(3, "c"))
    colours = [{trace.name: trace.marker.color for trace in CHARTS[key].draw(rows).data if trace.showlegend} for key in OF_MODELS]
    assert all(found == {"b": PALETTE[0], "a": PALETTE[1], "c": PALETTE[2]} for found in colours)


def test_an_outcome_has_one_colour_whatever_else_there_is() -> None:
    assert set(OUTCOMES) == {str(outcome) for outcome in Outcome}
    assert len(set(OUTCOMES.values())) == len(OUTCOMES)
    found = [{"group": "api_error", "runs": 9, "known": 9, "p05": 1.0, "p25": 2.0, "p50": 3.0, "p75": 4.0, "p95": 5.0}]
    drawn = distributions.boxes(MEASURES["wall"], pa.Table.from_pylist(found), group_looks("outcome", looks(["api_error"])), "light")
    assert drawn.data[0].line.color == OUTCOMES["api_error"]


def test_of_more_models_than_colours_the_first_have_one_and_the_others_share_one() -> None:
    names = [f"model-{number:02}" for number in range(30)]
    many = looks(names)
    assert many[None].colour not in {look.colour for name, look in many.items() if name}
    assert len({many[name].colour for name in names[:TOP]}) == TOP
    assert {many[name] for name in names[TOP:]} == {OTHER_LOOK}
    assert {look.is_other for look in looks(names[: len(PALETTE)]).values()} == {False}


@pytest.mark.parametrize("key", ["cost-models", "wall-api", "turns-cost"])
def test_every_legend_has_the_first_models_in_their_order_then_other_then_unknown(key: str) -> None:
    names = [f"model-{number:02}" for number in range(9)]
    rows = table(*(row(number, name) for number, name in enumerate([None, *reversed(names)], 1)))
    drawn = CHARTS[key].draw(rows, looks(names))
    assert [trace.name for trace in drawn.data if trace.showlegend] == [*names[:TOP], OTHERS, "unknown"]


def test_months_without_a_run_keep_their_place_and_the_last_bar_has_its_label() -> None:
    assert periods.filled(["2026-07", "2026-11", None]) == ["2026-07", "2026-08", "2026-09", "2026-10", "2026-11", None]
    assert periods.filled(["2025-W52", "2026-W02"]) == ["2025-W52", "2026-W01", "2026-W02"]
    assert periods.filled(["2026-02-28", "2026-03-02"]) == ["2026-02-28", "2026-03-01", "2026-03-02"]
    assert periods.filled(["2001-01-01", "2026-01-01"]) == ["2001-01-01", "2026-01-01"], "thousands of bars show nothing"
    assert periods.filled(["a", "b"]) == ["a", "b"]
    assert periods.labels([str(number) for number in range(30)])["ticktext"][-1] == "29"


@pytest.mark.parametrize("background", ["#FBFAF7", "#11171A"])
@pytest.mark.parametrize("colour", sorted({*PALETTE, *OUTCOMES.values()}))
def test_colours_can_be_seen_by_day_and_by_night(colour: str, background: str) -> None:
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


@pytest.mark.parametrize(("page", "background"), [("light", "#FBFAF7"), ("dark", "#11171A")])
def test_axes_can_be_read_by_day_and_by_night(page: str, background: str) -> None:
    colour = CHARTS["turns-cost"].draw(TABLES["one row"], page=page).layout.xaxis.tickfont.color
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.slow
def test_findings_on_the_samples(sample_store: Store) -> None:
    everything = Filters()
    all_runs, rows = runs(sample_store, everything), model_rows(sample_store, everything, 100)
    assert CHARTS["cost-models"].words(rows).finding == "claude-sonnet-4-5 accounts for 98% of cost, by own tokens"
    assert CHARTS["wall-api"].words(all_runs).finding == "API time is 1.23× wall time"
    assert CHARTS["turns-cost"].words(all_runs).finding == "Average cost per turn: $0.0257"
    found = run(sample_store, "5e0c031e-eef9-49db-91be-235c0b535201")
    assert found is not None
    assert CHARTS["run-tokens"].words(found["model_usage"]).finding == "Cache reads: 91% of 1.72M tokens"


def test_a_run_that_names_no_model_is_drawn_and_counted(store: Store) -> None:
    add(store, record_text(uuid="silent", modelUsage={}, total_cost_usd=3), record_text(uuid="b", session_id="b", total_cost_usd=0.25))
    rows = model_rows(store, Filters(), 100)
    assert [(row["run_id"], row["model"], row["cost_usd"]) for row in rows.to_pylist()] == [
        ("silent", None, Decimal(3)),
        ("b", "claude-opus-4-6", Decimal("0.25")),
    ]
    assert CHARTS["cost-models"].words(rows).finding == "claude-opus-4-6 accounts for 8% of cost, by own tokens"


def test_the_most_expensive_runs_come_with_all_their_models(sample_store: Store) -> None:
    rows = model_rows(sample_store, Filters(), 1)
    assert rows["model"].to_pylist() == ["claude-sonnet-4-5", "claude-opus-4-5"]
    assert rows["cost_usd"].to_pylist() == [Decimal("1.192965000"), Decimal("0.018795000")]


def test_what_is_left_out_is_counted() -> None:
    assert CHARTS["wall-api"].words(TABLES["some unknown"]).note == "Not shown: 1 run without both times."
    assert CHARTS["turns-cost"].words(TABLES["some unknown"]).note == "Not shown: 1 run without turns and cost."
    assert CHARTS["cost-models"].words(TABLES["some unknown"]).note == "Not shown: 1 run without a reported cost."
    assert "Not shown" in CHARTS["wall-api"].alt(TABLES["some unknown"])


def test_zero_has_no_place_on_a_logarithmic_axis_and_that_is_said() -> None:
    rows = table(row(duration_ms=1), row(2, duration_ms=1000), row(3, duration_ms=0))
    figure = CHARTS["wall-api"].draw(rows)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert sum(len(trace.x) for trace in figure.data if trace.showlegend) == 2
    assert CHARTS["wall-api"].words(rows).note == "1 zero-value run is not shown on the log scale."


def test_only_the_most_expensive_runs_get_a_bar_and_that_is_said() -> None:
    rows = table(*(row(number) for number in range(80)))
    assert sum(len(trace.x) for trace in CHARTS["cost-models"].draw(rows).data) == 50
    assert CHARTS["cost-models"].words(rows).note == "Top 50 of 80 runs: 62% of cost."


def test_bars_add_up_to_the_run() -> None:
    rows = table(row(1, "a"), row(1, "b", cost_usd=Decimal("0.25")), row(2, "a"))
    figure = CHARTS["cost-models"].draw(rows)
    assert sum(sum(trace.y) for trace in figure.data) == pytest.approx(1.25)
    assert all("<br>Run: Faster kernel 1 (run-1)" in text for trace in figure.data for text in trace.hovertext[:1])


def test_hover_gives_exact_values() -> None:
    rows = table(row(cost_own_usd=Decimal("1.234567891"), num_turns=1234, duration_ms=253_963))
    assert "$1.234567891" in CHARTS["turns-cost"].draw(rows).data[0].text[0]
    assert "1,234" in CHARTS["turns-cost"].draw(rows).data[0].text[0]
    assert "4m 14s (253,963 ms)" in CHARTS["wall-api"].draw(rows).data[0].text[0]
    assert exact(Decimal(0), Unit.USD) == "$0"


def test_a_hostile_name_stays_text() -> None:
    name = '<a href="https://example.com">x</a>'
    rows = table(row(1, name, run_id=name, title=name), row(2))
    for key, chart in OF_MODELS.items():
        figure = chart.draw(rows).update_traces(customdata=None)  # which is never drawn
        assert "<a" not in figure.to_json().replace("\\u003c", "<"), key


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [
        (12_000, ["0", "2s", "4s", "6s", "8s", "10s", "12s", "14s"]),
        (100_000, ["0", "20s", "40s", "60s", "80s", "100s", "120s"]),
        (8_000_000, ["0", "30m", "1h", "1.5h", "2h", "2.5h"]),
        (300_000, ["0", "1m", "2m", "3m", "4m", "5m", "6m"]),
    ],
)
def test_durations_have_round_ticks(largest: float, ticks: list[str]) -> None:
    layout = axis_layout(Axis("x", "x", Unit.MILLISECONDS), [largest], logarithmic=False)
    assert layout["ticktext"] == ticks


def test_logarithmic_money_has_plain_ticks() -> None:
    layout = axis_layout(Axis("x", "x", Unit.USD), [0.04, 6], logarithmic=True)
    assert layout["ticktext"] == ["$0.01", "$0.02", "$0.05", "$0.1", "$0.2", "$0.5", "$1", "$2", "$5", "$10", "$20", "$50"]


def test_a_legend_is_below_the_plot() -> None:
    legend = CHARTS["turns-cost"].draw(table(row(), row(2, "other"))).layout.legend
    assert (legend.yref, legend.y, legend.yanchor) == ("container", 0, "bottom")


def test_the_legend_of_a_screen_has_the_order_of_all_legends() -> None:
    names = [f"model-{number:02}" for number in range(9)]
    shown = legend_html([None, *reversed(names)], looks(names))
    assert re.findall(r"</span> ([^<]+)</li>", shown) == [*names[:TOP], OTHERS, "unknown"]
    assert legend_html(["m"], looks(["m"])) == ""
    assert "<b>" not in legend_html(["<b>", "m"], looks(["<b>", "m"]))
    assert not without_legend(CHARTS["turns-cost"].draw(table(row(), row(2, "other")))).layout.showlegend


def test_bars_are_named_by_titles_or_ranks_up_to_the_last() -> None:
    rows = [row(number) | {"title": f"task {number}"} for number in range(50)]
    few, many = (CHARTS["cost-models"].draw(pa.Table.from_pylist(rows[:count], SCHEMA)) for count in (3, 50))
    assert list(few.layout.xaxis.ticktext) == ["task 0", "task 1", "task 2"]
    assert list(many.layout.xaxis.ticktext) == ["1", "10", "20", "30", "40", "50"]
    assert many.data[0].hovertext[0].startswith("<b>task 0</b>")


def test_long_names_beside_rows_have_two_lines() -> None:
    assert tick_name("claude-opus-4-6") == "claude-opus-4-6"
    assert tick_name("vllm-project/vllm-benchmarks-of-attention") == "vllm-project/vllm-<br>benchmarks-of-attention"
    assert tick_name("<" * 30) == f"{'&lt;' * 26}<br>{'&lt;' * 4}"


def test_figures_side_by_side_are_equally_high() -> None:
    one, other = CHARTS["turns-cost"].draw(TABLES["one row"]), CHARTS["run-tokens"].draw(TABLES["one row"])
    other.update_layout(height=700)
    level(one, other)
    assert one.layout.height == other.layout.height == 700
