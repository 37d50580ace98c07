"""Charts: what they draw for any store, their axes, and colours visible by day and by night."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from app.charts import agents as charts
from app.charts import base as periods
from app.charts.base import OTHER_LOOK, PALETTE, TOP, log_axis, looks, tick_name
from app.queries.agents import AgentFigures
from app.queries.measured import Range
from schemas.agents import AGENTS
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.units import Unit

HOSTILE = '<a href="https://example.com">x</a>'
NOTHING = Range()


def figures(
    agent: str = "codex", model: str | None = "m", runs: int = 9, **changes: Any
) -> AgentFigures:
    """An agent's model whose runs all completed, at 50 cents and a minute each."""
    made = AgentFigures(
        agent,
        model,
        False,
        True,
        runs,
        1,
        1,
        runs,
        runs,
        0,
        0,
        0,
        0,
        Decimal(runs) / 2,
        Range(runs, 0.5, 0.1, 2),
        "",
        0,
        None,
        Range(runs, 60_000, 900, 4_000_000),
        60_000 * runs,
        NOTHING,
        dict.fromkeys(MEASURED_CLASSES, 0),
        0,
        0,
        0,
        0,
        0,
        0,
    )
    return replace(made, **changes)


def point(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A run as `app.queries.agents.points` has it."""
    return {
        "run_id": f"run-{number}",
        "title": f"Faster kernel {number}",
        "agent": "codex",
        "model": "m",
        "is_started": True,
        "is_completed": True,
        "cost_usd": Decimal("0.5"),
        "bound": None,
        "duration_ms": 60_000,
        "claimed_speedup": 2.0,
        "measured_speedup": 1.2,
        "scope_differs": False,
    } | changes


POINTS = {
    "no runs": [],
    "one run": [point()],
    "all unknown": [
        point(number, **dict.fromkeys(("cost_usd", "duration_ms", "claimed_speedup")))
        for number in range(3)
    ],
    "zero": [point(cost_usd=Decimal(0), duration_ms=0, claimed_speedup=0.0)],
    "huge": [
        point(),
        point(2, cost_usd=Decimal("999999999"), duration_ms=2**62, claimed_speedup=1e18),
    ],
    "hostile": [
        point(number, run_id=HOSTILE, title=HOSTILE, agent=HOSTILE, model=HOSTILE)
        for number in range(9)
    ],
    "thousands": [
        point(number, duration_ms=number + 1, bound="upper_bound" if number % 3 else None)
        for number in range(3_000)
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("page", ["light", "dark", None])
@pytest.mark.parametrize("case", POINTS)
def test_a_chart_survives_what_a_store_may_hold(case: str, page: str | None) -> None:
    """Also texts of strangers, which stay texts."""
    runs = POINTS[case]
    rows = [
        figures(agent, model, max(len(runs), 1))
        for agent, model in {("codex", "m"), *((run["agent"], run["model"]) for run in runs)}
    ]
    drawn = [
        charts.strips(charts.strips_of("cost", rows, runs, {}), Unit.USD, page),
        charts.strips(charts.strips_of("time", rows, runs, {}), Unit.MILLISECONDS, page),
        charts.strips(charts.strips_of("claims", rows, runs), Unit.RATIO, page),
        charts.pareto(charts.pareto_of(rows), page),
    ]
    for one in drawn:
        assert one.layout.height <= 640
        assert one.layout.paper_bgcolor == "rgba(0,0,0,0)"
        assert "<a" not in one.update_traces(
            customdata=None, selector=lambda _: True
        ).to_json().replace("\\u003c", "<")


def test_thousands_of_points_are_left_to_the_graphics_card() -> None:
    rows = [figures(runs=3_000)]
    assert {
        trace.type
        for trace in charts.strips(
            charts.strips_of("cost", rows, POINTS["thousands"], {}), Unit.USD, None
        ).data
    } == {"scattergl"}
    assert {
        trace.type
        for trace in charts.strips(
            charts.strips_of("cost", rows, POINTS["one run"], {}), Unit.USD, None
        ).data
    } == {"scatter"}


def test_a_bound_is_hollow_and_a_failure_is_no_filled_time() -> None:
    [strip] = charts.strips_of("cost", [figures()], [point(), point(2, bound="upper_bound")], {})
    assert [run[1] for run in strip.runs] == ["filled", "upper_bound"]
    [strip] = charts.strips_of(
        "time", [figures()], [point(), point(2, is_completed=False), point(3, is_started=False)], {}
    )
    assert [run[1] for run in strip.runs] == ["filled", "hollow"], "what never started has no time"


@pytest.mark.parametrize(
    ("kind", "sign", "said"),
    [("lower_bound", "≥", "▷ a lower bound"), ("estimate", "≈", "◇ an estimate")],
)
def test_each_kind_of_bound_has_its_own_mark_sign_and_word(kind: str, sign: str, said: str) -> None:
    strips = charts.strips_of("cost", [figures()], [point(), point(2, bound=kind)], {})
    exact, bound = charts.strips(strips, Unit.USD, None).data
    assert exact.marker.symbol != bound.marker.symbol != "triangle-left-open"
    assert f"{sign}\u00a0$0.50" in bound.hovertext[0]
    assert charts.bounds_legend(run[1] for run in strips[0].runs) == f"; {said}"


def test_of_many_rows_the_dearest_are_drawn_in_the_order_of_the_table() -> None:
    """Rows with the most runs were drawn, and left out most of the money."""
    rows = [
        figures("claude-code", "many", 30, cost_usd=Decimal(1)),
        figures("codex", "dear", 2, cost_usd=Decimal(90)),
        figures("trae", "unknown", 9, cost=Range(0)),
    ]
    drawn = charts.largest(rows, lambda row: row.cost.known, 2)
    assert [row.model for row in drawn] == ["many", "dear"]
    [dearest] = charts.largest(rows, lambda row: row.cost.known, 1)
    assert dearest.model == "dear"


def test_a_median_stands_from_five_values_on() -> None:
    [strip] = charts.strips_of("cost", [figures(cost=Range(4, 0.5, 0.1, 2))], POINTS["one run"], {})
    assert (strip.median, strip.label) == (None, "")
    [strip] = charts.strips_of(
        "cost", [figures(bounds="upper_bound", bounded=9)], POINTS["one run"], {}
    )
    assert (strip.median, strip.label) == (0.5, "≤\u00a0$0.50")


def test_a_bound_is_ahead_of_nobody() -> None:
    cheap = figures("trae-agent", cost=Range(9, 0.01, 0.01, 0.01), bounds="upper_bound", bounded=9)
    found = charts.pareto_of([cheap, figures(), figures("claude-code", cost=Range(9, 0.7, 0.1, 2))])
    assert {one.row.agent: one.is_ahead for one in found.points} == {
        "trae-agent": False,
        "codex": True,
        "claude-code": False,
    }


@pytest.mark.parametrize(
    ("unit", "values", "words"),
    [
        (Unit.USD, [0.01, 80], ["1¢", "10¢", "$1", "$10", "$100"]),
        (Unit.MILLISECONDS, [900, 5_000_000], ["1s", "10s", "1m", "10m", "1h"]),
        (Unit.RATIO, [1, 5], ["1×", "2×", "5×"]),
        (Unit.USD, [], ["$1"]),
    ],
)
def test_a_logarithmic_axis_has_ticks_in_words(
    unit: Unit, values: list[float], words: list[str]
) -> None:
    assert log_axis(values, unit, narrow=True)["ticktext"] == words


def test_of_more_models_than_colours_the_first_have_one_and_the_others_share_one() -> None:
    names = [f"model-{number:02}" for number in range(30)]
    many = looks(names)
    assert len({many[name].colour for name in names[:TOP]}) == TOP
    assert {many[name] for name in names[TOP:]} == {OTHER_LOOK}


def test_months_without_a_run_keep_their_place_and_the_last_bar_has_its_label() -> None:
    assert periods.filled(["2026-07", "2026-11", None]) == [
        "2026-07",
        "2026-08",
        "2026-09",
        "2026-10",
        "2026-11",
        None,
    ]
    assert periods.filled(["2025-W52", "2026-W02"]) == ["2025-W52", "2026-W01", "2026-W02"]
    assert periods.filled(["2001-01-01", "2026-01-01"]) == ["2001-01-01", "2026-01-01"], (
        "thousands of bars show nothing"
    )
    assert periods.labels([str(number) for number in range(30)])["ticktext"][-1] == "29"


@pytest.mark.parametrize("page", ["light", "dark"])
def test_colours_can_be_seen_by_day_and_by_night(page: str) -> None:
    background = luminance({"light": "#FBFAF7", "dark": "#11171A"}[page])
    for colour in {*PALETTE, *(periods.colour(agent, page) for agent in AGENTS)}:
        lighter, darker = sorted((luminance(colour), background), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 3, colour


@pytest.mark.parametrize(("page", "background"), [("light", "#FBFAF7"), ("dark", "#11171A")])
def test_axes_can_be_read_by_day_and_by_night(page: str, background: str) -> None:
    colour = charts.strips(
        charts.strips_of("cost", [figures()], POINTS["one run"], {}), Unit.USD, page
    ).layout.font.color
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_long_names_beside_rows_have_two_lines() -> None:
    assert tick_name("claude-opus-4-6") == "claude-opus-4-6"
    assert (
        tick_name("vllm-project/vllm-benchmarks-of-attention")
        == "vllm-project/vllm-<br>benchmarks-of-attention"
    )
    assert tick_name("<" * 30) == f"{'&lt;' * 26}<br>{'&lt;' * 4}"
