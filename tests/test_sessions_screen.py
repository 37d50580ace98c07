"""Sessions on screens and in charts.

The figures of `usage`, one session along time, and what is drawn of thousands of responses.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.charts import base as periods
from app.charts import usage as session_charts
from app.charts.base import looks
from app.charts.usage import bars
from app.queries.filters import choose
from app.queries.reading import read_transaction
from app.queries.sessions import points, sessions
from app.queries.usage import PERIODS, UsageRequest, along, usage
from app.text import usage as session_words
from app.text.formatting import short
from app.text.usage import CONTENTS, along_finding, along_note
from ingest.store.database import Store
from schemas.rows.response import ResponseRow
from schemas.units import Unit
from tests.conftest import StoreOnce, ingest_paths
from tests.examples import examples
from tests.using import add, log_of, response, run_of

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

Open = Callable[..., "AppTest"]

A1 = {"agent_id": "a1", "is_sidechain": True, "model": "haiku"}


def of_s1() -> list[ResponseRow]:
    """A session of 1 February and a response without a time.

    The session has a compaction, a failed call, a lower bound and a sub-agent.
    """
    return [
        response("s1", 0, "2026-02-01 10:00", tools=("Bash", "Read"), failed_tools=("Read",)),
        response("s1", 1, "2026-02-01 10:01", cache_read_tokens=90_000, price_note="long context"),
        response("s1", 2, "2026-02-01 10:02", **A1, cache_read_tokens=5_000),
        response("s1", 3, "2026-02-01 23:59", cache_read_tokens=20_000, output_is_final=False),
        response("s1", 4, "2026-02-02 00:01", cost_list_usd=None),
        response("s1", 5, None),
    ]


@pytest.fixture(scope="module")
def read(store_once: StoreOnce) -> Iterator[Store]:
    """Two sessions, and a run of which only a result record tells.

    To be read only, by all in one transaction.
    """

    def fill(store: Store) -> None:
        folder = Path(store.location).parent
        ingest_paths(store, *(log_of(session, folder) for session in ("s1", "s2", "s3")))
        add(store, [*of_s1(), response("s2", 0, "2026-02-03 10:00", model="gpt-5")])

    with read_transaction(store_once("sessions-on-screens", fill), copy_at=1) as transaction:
        yield transaction


@pytest.fixture
def begun(store_once: StoreOnce, store: Store) -> Store:
    """A store with one run of the session s1, which has no responses yet."""
    one = store_once("usage-one-run", lambda new: run_of("s1", Path(new.location).parent, new))
    shutil.copy(one.location, store.location)
    return store


def headings(app: AppTest) -> list[str]:
    return [heading.value.replace("\\", "") for heading in app.header]


def said(app: AppTest) -> str:
    return re.sub(r"<[^>]+>", "", " ".join(element.proto.body for element in app.get("html")))


def visit(store: Store, screens: Open, **query: str) -> AppTest:
    app: AppTest = screens(store.location, "screens/cost.py", view="sessions", **query)
    return app


def test_the_screen_has_the_figures_of_the_command_and_its_lists(
    read: Store, screens: Open
) -> None:
    app = visit(read, screens)
    [total] = usage(read, UsageRequest()).total.to_pylist()
    assert (total["responses"], total["sessions"]) == (7, 3)
    cost, tokens = (
        short(total["cost_best_usd"], Unit.USD),
        short(total["total_tokens"], Unit.TOKENS),
    )
    assert f"3 sessions made 7 billed responses: ≥\u00a0{cost} for ≥\u00a0{tokens} tokens." in said(
        app
    )
    assert "1 run without responses counts when it ended" in said(app)
    assert "Best-known cost per day: ≥\u00a0$0.31 on 3 days, most on 2025-12-01 ($0.26)" in said(
        app
    )

    listed, blocks = (table.value for table in app.dataframe)
    assert listed["run_id"].tolist() == ["s2", "s1"]
    assert listed[["responses", "tool_calls", "failed_calls", "subagents", "lower_bounds"]].iloc[
        1
    ].tolist() == [6, 2, 1, 1, 1]
    assert blocks["block_start"].dt.strftime("%d %H").tolist() == [
        "03 10",
        "01 23",
        "01 10",
        "01 00",
    ], "the latest first, without gaps"
    assert blocks["models"].tolist()[0] == "gpt-5"


@pytest.mark.parametrize(("per", "show"), list(zip(PERIODS, CONTENTS, strict=False)))
def test_the_chart_of_the_screen_is_what_the_address_says(
    per: str, show: str, read: Store, screens: Open
) -> None:
    app = visit(read, screens, **{"usage-per": per, "usage-show": show})
    assert f"{'Best-known cost' if show == 'cost' else 'Tokens'} per {per}: ≥\u00a0" in said(app)


def test_a_block_that_goes_on_has_its_rate_and_its_end(begun: Store, screens: Open) -> None:
    now = datetime.now(UTC)
    times = [
        (now - timedelta(minutes=minutes)).strftime("%Y-%m-%d %H:%M:%S") for minutes in (20, 10)
    ]
    add(begun, [response("s1", number, time) for number, time in enumerate(times)])
    app = visit(begun, screens)
    [active] = [caption.value for caption in app.caption if "Active block" in caption.value]
    assert "32 tokens/min" in active.replace("\\", "")
    assert "$0.12/h" in active.replace("\\", "")


def test_without_responses_there_is_no_such_view(read_samples: Store, screens: Open) -> None:
    app = visit(read_samples, screens)
    assert "billed responses" not in said(app)
    assert "cost" in said(app)


def test_a_period_with_responses_of_runs_that_ended_elsewhere_is_shown(
    read: Store, screens: Open
) -> None:
    """Runs ended in December and have responses in February: the filter bar ended the screen."""
    assert "1 session made 1 billed response" in said(
        visit(read, screens, since="2026-02-02", until="2026-02-03")
    )
    assert headings(visit(read, screens, since="2026-03-01")) == ["No runs match"]


def test_a_period_chooses_responses_by_their_own_time_in_the_list_as_in_the_total(
    read: Store,
) -> None:
    filters = choose({"since": ["2026-02-02"]})
    [total] = usage(read, UsageRequest(filters)).total.to_pylist()
    listed = sessions(read, filters).to_pylist()
    assert [(row["run_id"], row["responses"]) for row in listed] == [("s2", 1), ("s1", 1)]
    assert sum(row["responses"] for row in listed) == total["responses"]
    assert sum(row["total_tokens"] for row in listed) == total["total_tokens"]
    assert sessions(read, filters.with_values("until", ["2026-02-03"]))["run_id"].to_pylist() == [
        "s1"
    ]


def test_a_list_that_is_cut_says_so(read: Store) -> None:
    assert sessions(read, limit=1)["sessions_found"].to_pylist() == [2]


def test_the_page_of_a_run_shows_its_session(read: Store, screens: Open) -> None:
    app = screens(read.location, "screens/run.py", run="s1")
    assert "The context peaked at 90k and fell 2 times" in said(app)
    assert "1 sub-agent:" not in said(app), "what is folded is drawn when it is asked for"
    assert "**Session** 6 responses, 1 sub-agent" in [one.label for one in app.expander]
    app.session_state["session"] = True
    app.run()
    assert "1 sub-agent: 1 of 6 responses, $0.01 of $0.05" in said(app)
    lanes = next(table.value for table in app.dataframe if "context_peak_tokens" in table.value)
    assert lanes[["subagent", "responses"]].to_numpy().tolist() == [["main", 5], ["a1", 1]]
    listed = next(table.value for table in app.dataframe if "output_count" in table.value)
    assert listed["output_count"].tolist() == [
        "final",
        "final",
        "final",
        "lower bound",
        "final",
        "final",
    ]
    assert listed["price_note"].tolist()[1] == "long context"
    assert listed[["tools", "failed_tools"]].iloc[0].tolist() == ["Bash, Read", "Read"]


def test_a_run_without_responses_has_no_session(read: Store, screens: Open) -> None:
    app = visit(read, screens, session="s3")
    [total] = usage(read, UsageRequest(choose({"session": "s3"}))).total.to_pylist()
    cost = short(total["cost_best_usd"], Unit.USD)
    assert total["responses"] == 0
    assert f"1 run without responses cost {cost} for" in said(app), "that of `usage`"
    assert "Best-known cost per day" in said(app)
    assert not [
        one
        for one in screens(read.location, "screens/run.py", run="s3").expander
        if "Session" in one.label
    ]


@pytest.mark.parametrize("by", PERIODS)
def test_the_bars_add_up_to_the_total(by: str, read: Store) -> None:
    found = along(read, by=by)
    [total] = usage(read, UsageRequest()).total.to_pylist()
    for show, shown in CONTENTS.items():
        figure = bars(found, shown, looks(["claude-opus-4-6"]), None)
        expected = total["cost_best_usd"] if show == "cost" else total["total_tokens"]
        assert sum(sum(trace.y) for trace in figure.data) == pytest.approx(float(expected)), show
    assert (along_note(found, is_sparse=False), found.earlier) == ("", 0)


def test_old_periods_are_left_out_and_counted(read: Store) -> None:
    found = along(read, by="day", most=2)
    assert (sorted(set(found.table["period"].to_pylist())), found.earlier) == (
        ["2026-02-02", "2026-02-03"],
        2,
    )
    assert along_note(found, is_sparse=True) == (
        "Showing the last 2 days with usage; 2 earlier are not shown. Days without usage are "
        "left out."
    )


def test_nothing_with_a_time_is_drawn_as_such(begun: Store) -> None:
    with begun.writing() as writer:
        writer.connection.execute("update runs set time_source = 'file'")
    add(begun, [response("s1", 0, None)])
    found = along(begun)
    assert along_finding(found, CONTENTS["cost"]) == "Best-known cost per day"
    assert (
        bars(found, CONTENTS["cost"], {}, None).layout.annotations[0].text
        == "No usage with a known price and time."
    )


def test_hours_keep_their_places_until_there_are_too_many() -> None:
    near = ["2026-02-01 23:00", "2026-02-02 01:00"]
    assert periods.filled(near) == [near[0], "2026-02-02 00:00", near[1]]
    assert not periods.is_sparse(near)
    assert periods.is_sparse(["2026-02-01 23:00", "2026-03-01 23:00"])
    assert not periods.is_sparse(["a", "b"])


def test_the_timeline_has_context_cost_and_what_is_paid_again(begun: Store) -> None:
    again = response("s1", 6, "2026-02-02 00:20", cache_read_tokens=0, cache_write_tokens=70)
    add(begun, [*of_s1(), again])
    figure = session_charts.timeline(points(begun, "s1", 2_000), "dark")
    main, subagents, paid_again, cost = figure.data
    assert list(main.y) == [60, 90_030, 20_030, 60, 80, 60], "what is compacted falls"
    assert list(subagents.y) == [5_030, None]
    assert (list(paid_again.x), list(paid_again.y)) == ([6, 7], [80, 60])
    assert list(cost.y) == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.04, 0.05, 0.06])
    assert "Tool calls: Bash, Read (1 failed)" in main.text[0]
    assert [note.text for note in figure.layout.annotations][:2] == [
        "pause of 13h 58m",
        "pause of 19m 00s",
    ]


def test_a_session_without_a_price_has_its_tokens_instead(begun: Store) -> None:
    add(
        begun,
        [
            response("s1", number, f"2026-02-01 10:0{number}", cost_list_usd=None)
            for number in range(3)
        ],
    )
    found = points(begun, "s1", 100)
    assert list(session_charts.timeline(found, None).data[1].y) == [160, 320, 480]
    assert "as no price is known" in session_words.timeline_note(found)


def test_a_session_without_times_is_drawn_in_order(begun: Store) -> None:
    add(begun, [response("s1", number, None) for number in range(2)])
    found = points(begun, "s1", 100)
    assert session_words.axis_of(found) == "place"
    assert list(session_charts.timeline(found, None).data[0].x) == [1, 2]


def test_each_sub_agent_has_a_lane_in_the_colours_of_its_models(read: Store) -> None:
    models = looks(["claude-opus-4-6", "haiku"])
    spans, opus, haiku = session_charts.lanes(points(read, "s1", 2_000), models, None).data
    assert [trace.marker.color for trace in (opus, haiku)] == [
        models["claude-opus-4-6"].colour,
        models["haiku"].colour,
    ]
    assert (set(opus.y), set(haiku.y)) == ({0}, {1})
    assert [place for place in spans.y if place is not None] == [0, 0, 1, 1]


def test_names_from_transcripts_are_no_markup(begun: Store) -> None:
    link = '<a href="https://e.example">x</a>'
    add(
        begun,
        [
            response("s1", number, "2026-02-01 10:00", model=link, agent_id=link, tools=(link,))
            for number in range(2)
        ],
    )
    found = points(begun, "s1", 100)
    for figure in (
        session_charts.timeline(found, None),
        session_charts.lanes(found, {}, None),
        bars(along(begun), CONTENTS["tokens"], looks([link]), None),
    ):
        assert "<a" not in figure.to_json().replace("\\u003c", "<")


@settings(examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(
        st.tuples(st.integers(0, 200_000), st.sampled_from([None, "a1", "a2"]), st.booleans()),
        min_size=1,
        max_size=60,
    ),
    most=st.integers(1, 40),
)
def test_what_is_drawn_together_loses_nothing(
    sizes: list[tuple[int, str | None, bool]], most: int, store: Store
) -> None:
    """Merged points keep all responses, calls, cost and the fullest context.

    There are at most `most` points and one for each lane.
    """
    rows: list[Any] = [
        response(
            "s",
            number,
            f"2026-02-01 10:{number:02d}",
            cache_read_tokens=size,
            agent_id=agent,
            tools=("Bash",) * has_tools,
        )
        for number, (size, agent, has_tools) in enumerate(sizes)
    ]
    with store.writing() as writer:
        writer.connection.execute("delete from responses")
        writer.insert("responses", rows)
    drawn = points(store, "s", most).to_pylist()
    lanes = {agent for _, agent, _ in sizes}
    assert len(drawn) <= most + len(lanes)
    assert sum(row["responses"] for row in drawn) == len(sizes)
    assert sum(row["tool_calls"] for row in drawn) == sum(has_tools for *_, has_tools in sizes)
    assert max(row["context_tokens"] for row in drawn) == max(size for size, *_ in sizes) + 30
    assert (
        max(row["cost_so_far_usd"] for row in drawn)
        == sum(row["cost_list_usd"] for row in drawn)
        == Decimal("0.01") * len(sizes)
    )
