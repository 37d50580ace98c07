"""Optimization loops on their screen and in charts.

What is drawn of whatever a log holds, and that every figure is the query's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts import loops as charts
from app.charts.registry import Question, loop_gains
from app.queries.filters import Filters
from app.queries.loop_costs import LoopCosts, LoopSession, TryCost
from app.text import loop_html as words
from ingest.loops.base import Experiment
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.rows.loop import State
from schemas.units import Better
from tests.conftest import StoreOnce, command_of, page_text
from tests.test_loops import B, C, D, K, answer_of
from tests.using import add, at, response, run_of

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

Open = Callable[..., "AppTest"]
F = State.CHECKS_FAILED
EVERYTHING = Filters()
HOSTILE = '<script>alert(1)</script> <a href="https://example.com">x</a> :red[y] **z**'
BEGAN = datetime(2026, 6, 1, 12, tzinfo=UTC)

NOISY = (
    Experiment(state=B, value=100.0),
    Experiment(state=State.OTHER, value=100.1, repeats=1),
    Experiment(state=K, value=80.0, description="Beyond the noise"),
    Experiment(state=K, value=79.6, description="Inside the noise"),
    Experiment(state=D, value=5_000.0, description="Far worse"),
    Experiment(state=C, description="Crashed"),
    Experiment(state=F, value=40.0, description="Fast and wrong"),
)


def marks(drawn: Any, number: int) -> Any:
    """The trace and place of an experiment's mark."""
    [(trace, place)] = [
        (trace, place)
        for trace in drawn.data
        if trace.customdata is not None
        for place, [of] in enumerate(trace.customdata)
        if of == number
    ]
    return trace, place


def test_a_kept_experiment_is_hollow_if_it_is_inside_the_noise_and_a_failed_one_is_a_tick_at_the_edge() -> (  # noqa: E501
    None
):
    drawn = charts.progress(answer_of(tries=NOISY), "experiments", "light")
    looks = {number: marks(drawn, number) for number in range(1, 8)}
    symbols = {
        number: trace.marker.symbol
        if isinstance(trace.marker.symbol, str)
        else trace.marker.symbol[at]
        for number, (trace, at) in looks.items()
    }
    assert symbols == {
        1: "diamond",
        2: "circle",
        3: "circle",
        4: "circle-open",
        5: "triangle-up-open",
        6: "line-ns",
        7: "line-ns",
    }
    low, high = drawn.layout.yaxis.range
    assert [looks[number][0].y[looks[number][1]] for number in (5, 6, 7)] == [high, high, high], (
        "lower is better: the edge is the upper one"
    )
    assert low < 79.6
    assert high < 130
    assert "Far worse" in looks[5][0].hovertext[looks[5][1]]


def test_the_line_is_the_best_so_far_and_the_band_is_the_noise_of_a_step() -> None:
    answer = answer_of(tries=NOISY)
    lower, upper, best = charts.progress(answer, "experiments", "dark").data[:3]
    assert list(best.y) == [one.running_best for one in answer.tries]
    assert answer.noise is not None
    step = 1 + answer.noise.step()
    assert list(upper.y) == pytest.approx([value * step for value in best.y])
    assert list(lower.y) == pytest.approx([value / step for value in best.y])


def test_dollars_begin_with_the_set_up_and_only_known_axes_are_offered() -> None:
    spent = LoopCosts(
        {1: TryCost(Decimal(0), None, "r", "e"), 2: TryCost(Decimal(3), 10, "r", "e")},
        [
            LoopSession(
                "r",
                "Session",
                "wrote the log",
                2,
                Decimal(6),
                setup_usd=Decimal(2),
                experiments_usd=Decimal(3),
                rest_usd=Decimal(1),
            )
        ],
        total_usd=Decimal(6),
    )
    answer = answer_of((B, 10.0), (K, 9.0), (D, 11.0), costs=spent)
    assert charts.places(answer, "usd") == [2.0, 5.0, 5.0]
    assert list(words.axes(answer)) == ["experiments", "usd"]
    dated = [
        Experiment(state=B, value=1.0, at=BEGAN),
        Experiment(state=D, value=2.0, at=BEGAN + timedelta(minutes=5)),
    ]
    assert list(words.axes(answer_of(tries=dated))) == ["experiments", "time"]
    assert list(words.axes(answer_of((B, 10.0)))) == ["experiments"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(State)),
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(list(Better)),
    st.none() | st.floats(-1e9, 1e9),
    st.booleans(),
)
def test_every_loop_can_be_drawn_with_a_mark_for_each_value(
    tries: list[tuple[State, float | None]],
    better: Better,
    baseline: float | None,
    has_decisions: bool,
) -> None:
    answer = answer_of(*tries, better=better, baseline=baseline, has_decisions=has_decisions)
    for axis in words.AXES:
        drawn = charts.progress(answer, axis, "light")
        low, high = drawn.layout.yaxis.range
        assert low < high
        if drawn.layout.yaxis.type == "log":
            low, high = 0.999999 * 10**low, 1.000001 * 10**high
        seen = sorted(
            number
            for trace in drawn.data
            for [number] in (trace.customdata if trace.customdata is not None else ())
        )
        shown = [one for one in answer.tries if one.value is not None or one.state in (C, F)]
        assert seen == ([] if axis == "time" else [one.number for one in shown])
        assert all(
            low <= value <= high
            for trace in drawn.data
            if trace.customdata is not None
            for value in trace.y
        )
    if answer.gain_ratio and answer.log_noise:
        charts.gains([answer], None)
    for made in (
        words.strip(answer),
        words.loop_list([answer], EVERYTHING),
        words.about_html(answer),
    ):
        assert "nan" not in made


def test_gain_and_noise_lie_on_one_scale_whichever_direction_is_better() -> None:
    lower = answer_of(tries=NOISY)
    inverse = [replace(one, value=one.value and 8_000 / one.value) for one in NOISY]
    higher = answer_of(tries=inverse, better=Better.HIGHER)
    assert lower.gain_ratio == pytest.approx(100 / 79.6)
    assert (higher.gain_ratio, higher.log_noise) == pytest.approx(
        (lower.gain_ratio, lower.log_noise)
    ), "a time and a rate of the same code gained the same"
    drawn = loop_gains(Question(lambda *_: [lower, higher]))
    assert drawn is not None
    assert list(drawn.figure.data[-1].x) == pytest.approx([math.log(100 / 79.6)] * 2)
    assert drawn.figure.data[0].x[1] == pytest.approx(lower.log_noise)
    times = math.log(100 / 79.6) / (lower.log_noise or 1)
    assert f"at least {int(times)} times its noise" in drawn.title


def test_the_heading_of_several_loops_counts_each_once() -> None:
    inside = answer_of(
        (D, 2741.1),
        (K, 2726.2),
        *[(D, 2760.0)] * 21,
        baseline=2754.2,
        peers=(2706.3, 2700.9, 2685.2),
        costs=LoopCosts(total_usd=Decimal(786), basis="upper_bound"),
    )
    spent = LoopCosts(total_usd=Decimal("66.12"), basis="upper_bound")
    answers = [
        inside,
        answer_of(tries=NOISY, costs=spent),
        answer_of((B, 1.0), (K, 0.5)),
        answer_of((B, 1.0), (D, 2.0)),
        answer_of((K, 1.0), better=Better.UNKNOWN),
    ]
    said = words.loops_said(answers, EVERYTHING)
    assert said.heading == "1 of 5 loops **gained beyond noise**, for ≤\u00a0$66.12 a step."
    assert said.second == "The dearest loop (≤\u00a0$786.00) gained nothing beyond noise."
    assert "cost known for 2 of 5" in said.coverage
    assert [label[-2:] for label in words.classes(answers).values()] == [" 1"] * 5
    assert len(words.classes(answers)) == 5


def test_texts_of_strangers_stay_texts() -> None:
    tries = [
        Experiment(
            state=K,
            value=1.0,
            description=HOSTILE,
            hypothesis=HOSTILE,
            commit=HOSTILE,
            secondary={HOSTILE: HOSTILE},
        )
    ]
    answer = answer_of(tries=tries, name=HOSTILE, unit=HOSTILE, notes=(HOSTILE,))
    answer.costs.sessions.append(LoopSession("r", HOSTILE, "wrote the log"))
    made = (
        words.loop_list([answer], EVERYTHING),
        words.strip(answer),
        words.about_html(answer),
        words.session_table(answer, EVERYTHING),
        words.experiment_pane(answer.tries[0], answer, EVERYTHING),
        words.ran_html([answer], "r", EVERYTHING),
        *(
            text
            for trace in charts.progress(answer, "experiments", "light").data
            for text in trace.hovertext or ()
        ),
    )
    assert not [
        text for text in made if "<script" in text or '<a href="https://example.com' in text
    ]
    assert sum("&lt;script&gt;" in text for text in made) >= 5


def log(
    name: str,
    *values: float,
    folder: str | None = None,
    began: str = "2026-02-01 10:00",
    **config: Any,
) -> Source:
    """Pi's log of a loop that keeps what is better, an experiment a minute."""
    first = int(at(began).timestamp() * 1000)
    lines = [
        {
            "type": "config",
            "name": name,
            "metricName": "time_ms",
            "bestDirection": "lower",
            "workingDir": folder,
        }
        | config
    ]
    for number, value in enumerate(values, 1):
        status = "keep" if value == min(values[:number]) else "discard"
        run = {
            "run": number,
            "metric": value,
            "status": status,
            "description": f"Idea {number}",
            "timestamp": first + 60_000 * number,
        }
        lines.append(run)
    return Source(
        f"/logs/{name}/autoresearch.jsonl",
        "".join(f"{json.dumps(line)}\n" for line in lines).encode(),
    )


@pytest.fixture(scope="module")
def two_loops(read_once: StoreOnce) -> Store:
    """A loop that a session ran in its folder at that time, and one without a known session.

    The session costs $0.01 per response.
    """

    def fill(store: Store) -> None:
        run_of("s1", Path(store.location).parent, store)
        add(store, [response("s1", number, f"2026-02-01 10:0{number}") for number in range(5)])
        ingest(
            [
                log("Kernel", 100, 90, 120, folder="/home/me/kernels"),
                log(HOSTILE, 5, 4, 3, 2, began="2026-03-01 10:00"),
            ],
            store,
        )

    return read_once("two-loops", fill)


def test_a_loop_with_its_session_and_a_link_from_its_run(two_loops: Store, screens: Open) -> None:
    page = page_text(screens(two_loops.location, "screens/loops.py"))
    assert "None of 2 loops gained beyond noise ." in page
    assert "cost known for 1 of 2" in page
    app = screens(two_loops.location, "screens/loops.py", loop="kernel")
    assert (
        "Kernel: 1 of 2 tries kept, +11%, noise unknown (each code was measured once), $0.05"
        in page_text(app)
    )
    assert "folder and time" in page_text(app)
    assert [option.content for option in app.get("button_group")[1].proto.options] == [
        "Experiments",
        "Time",
        "Dollars",
    ]
    assert len(app.get("plotly_chart")) == 1
    ran = page_text(screens(two_loops.location, "screens/run.py", run="s1"))
    assert "Ran the loop Kernel : 1 of 2 tries kept, +11%" in ran


def test_an_unknown_loop_is_told_and_a_hostile_one_does_nothing(
    two_loops: Store, screens: Open
) -> None:
    app = screens(two_loops.location, "screens/loops.py", loop=HOSTILE)
    assert "3 of 3 tries kept" in page_text(app)
    app = screens(two_loops.location, "screens/loops.py", loop="<script>no</script>")
    assert "No loop is called" in app.warning[0].value
    assert not [element for element in app.get("html") if "<script>no" in element.proto.body]


def test_without_a_loop_the_screen_says_how_to_get_one(read_samples: Store, screens: Open) -> None:
    app = screens(read_samples.location, "screens/loops.py")
    assert "No optimization loop is in the store." in page_text(app)
    assert command_of(app).startswith("tachograph ingest PATH")


def test_a_store_with_loops_only_leads_to_them(store: Store, screens: Open) -> None:
    ingest([log("Kernel", 100, 90, 120)], store)
    assert "1 optimization loop" in screens(store.location).get("page_link")[0].proto.label
    assert "Kernel: 1 of 2 tries kept" in page_text(screens(store.location, "screens/loops.py"))
