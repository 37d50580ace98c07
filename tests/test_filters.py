"""Filters: times as people write them, and filters in addresses.

A stale or hostile link cannot break these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries import filter_inputs
from app.queries.filters import (
    FILTERS,
    PERIODS,
    TIME_WORDS,
    FilterKind,
    Filters,
    choose,
    in_zone,
    moment,
    parse,
    period,
    taken_as_now,
    where,
)
from app.screens.parts import widgets
from app.screens.parts.filter_bar import SCREEN_WORDS
from app.text.columns import period_words
from ingest.store.database import Store
from schemas.errors import UsageError
from schemas.text import one_line
from tests.conftest import ENTRY, StoreOnce, record_text, said
from tests.test_dashboard import add

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest


NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("7d", "2026-02-25"),
        ("2W", "2026-02-18"),
        ("0d", "2026-03-04"),
        ("today", "2026-03-04"),
        ("yesterday", "2026-03-03"),
        ("this week", "2026-03-02"),
        ("last week", "2026-02-23"),
        ("this month", "2026-03-01"),
        ("Last  Month", "2026-02-01"),
        ("last-month", "2026-02-01"),
        ("2026-03", "2026-03-01"),
        ("2026-11-20", "2026-11-20"),
    ],
)
def test_a_word_means_the_moment_at_which_it_begins(text: str, begins: str) -> None:
    assert moment(text, NOW) == datetime.fromisoformat(begins).replace(tzinfo=UTC)


def test_an_exact_time_stays_what_it_is() -> None:
    assert moment("2026-11-20T14:00+01:00") == datetime(2026, 11, 20, 13, tzinfo=UTC)


@pytest.mark.parametrize("text", ["soon", "2026-13", "9999d9", "7", "", "last year", "99999999d"])
def test_what_means_no_time_is_refused_with_examples(text: str) -> None:
    assert moment(text, NOW) is None
    if text:
        with pytest.raises(UsageError, match="takes a date or time") as refused:
            choose({"since": text})
        assert "last month" in str(refused.value.hint)


def test_more_days_than_there_are_is_refused_and_no_crash() -> None:
    assert moment("9999w", datetime(150, 1, 1, tzinfo=UTC)) is None


def test_every_period_is_a_filter_and_every_time_word_its_begin() -> None:
    for word in PERIODS:
        assert where(choose({"time": word})).parameters
    for word in TIME_WORDS:
        begin, end = period(word, NOW) or (None, None)
        assert (begin, end and begin and begin < end) == (moment(word, NOW), True)
    night = [datetime(2026, 3, 3, 17, tzinfo=UTC), datetime(2026, 3, 4, 7, tzinfo=UTC)]
    assert [*(period("Last-Night in Europe/Berlin", NOW) or ())] == night
    assert period("last night in Nowhere", NOW) is None


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("2026-03", "2026-03-01T00:00+01:00"),
        ("2026-04-01", "2026-04-01T00:00+02:00"),
        ("last month", "2026-02-01T00:00+01:00"),
        ("2026-03-02T10:00", "2026-03-02T10:00+01:00"),
        ("2026-03-02T10:00Z", "2026-03-02T10:00+00:00"),
    ],
)
def test_days_and_months_begin_in_the_zone_that_is_meant(text: str, begins: str) -> None:
    assert moment(text, NOW, ZoneInfo("Europe/Berlin")) == datetime.fromisoformat(begins)


def test_filters_in_a_zone_have_moments_and_keep_what_no_calendar_holds() -> None:
    chosen = choose({"since": "2026-03", "until": "2026-04", "repo": "vllm"})
    assert in_zone(chosen, ZoneInfo("Europe/Berlin")).as_words() == (
        "--project vllm --since 2026-03-01T00:00:00+01:00 --until 2026-04-01T00:00:00+02:00"
    )
    night = in_zone(choose({"time": "last night"}), ZoneInfo("Europe/Berlin"))
    assert night.values("time") == ("last night in Europe/Berlin",)
    assert in_zone(choose({"since": "0001-01-01"}), ZoneInfo("Asia/Tokyo")).values("since") == (
        "0001-01-01",
    )


OF_KIND = {
    FilterKind.NAMES: st.text("abc-/ .é'\"=", min_size=1, max_size=8)
    .filter(str.strip)
    .map(str.strip),
    FilterKind.LABELS: st.just("branch=main"),
    FilterKind.TIME: st.sampled_from(["2026-11-01", "2026-11-01T14:00+01:00"]),
    FilterKind.PERIOD: st.sampled_from(["last night", "this month in Asia/Tokyo"]),
    FilterKind.USD: st.sampled_from(["0.5", "12"]),
    FilterKind.FACTOR: st.sampled_from(["1.5", "2"]),
    FilterKind.PROBABILITY: st.sampled_from(["0", "0.8", "80%"]),
    FilterKind.TEXT: st.just("two words"),
}


@st.composite
def chosen_filters(draw: Callable[..., object]) -> Filters:
    filters = Filters()
    for key in draw(st.sets(st.sampled_from(list(FILTERS)))):  # type: ignore[attr-defined]
        one = FILTERS[key]
        words = st.sampled_from(one.words) if one.words else OF_KIND[one.kind]
        most = 3 if one.kind.is_many else 1
        filters = filters.with_values(key, draw(st.lists(words, min_size=1, max_size=most)))  # type: ignore[arg-type]
    return filters


@pytest.mark.slow
@given(chosen_filters())
def test_a_link_leads_back_to_the_same_filters(filters: Filters) -> None:
    link = filter_inputs.write_link(filters)
    assert filter_inputs.read_link(link) == filter_inputs.FilterLink(filters)


@pytest.mark.slow
@given(chosen_filters())
def test_what_is_printed_can_be_read_again(filters: Filters) -> None:
    assert parse(filters.as_words()) == filters


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from([*FILTERS, "run", "x"]), st.lists(st.text(max_size=20), max_size=4)
    )
)
def test_no_link_is_an_error(query: dict[str, list[str]]) -> None:
    link = filter_inputs.read_link(query)
    assert choose(dict(link.filters.chosen)) is not None
    assert [one_line(text) for text in link.left_out] == list(link.left_out)


def test_what_cannot_be_read_is_told_and_left_out() -> None:
    link = filter_inputs.read_link(
        {
            "since": ["someday"],
            "model": ["a", "x" * 1000],
            "min-cost": ["much", "2"],
            "colour": ["red"],
        }
    )
    assert link.filters == choose({"model": ["a"], "min-cost": "2"})
    assert [text.split(":")[0] for text in link.left_out] == ["Model", "Since", "Min cost"]


def test_names_that_nothing_goes_by_are_told() -> None:
    filters = choose({"model": ["a", "b"], "repo": "r", "session": "s"})
    assert filter_inputs.unknown_names(filters, {"model": ["b"], "project": []}) == (
        "Project: r",
        "Model: a",
    )


@pytest.mark.parametrize(
    ("words", "filters"),
    [
        ("model=glm-5.1 repo=vllm", {"repo": ["vllm"], "model": ["glm-5.1"]}),
        ("--model glm-5.1 --label branch=main", {"model": ["glm-5.1"], "label": ["branch=main"]}),
        (
            "label=branch=main search='two words'",
            {"label": ["branch=main"], "search": ["two words"]},
        ),
        ("", {}),
    ],
)
def test_filters_in_one_text(words: str, filters: dict[str, list[str]]) -> None:
    assert parse(words) == choose(filters)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [("model", "has no value"), ("colour=red", "unknown filter 'colour'"), ("search='x", "quote")],
)
def test_filters_in_one_text_say_what_is_wrong(words: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse(words)


def test_the_box_of_a_period_has_its_first_and_last_day() -> None:
    with taken_as_now(datetime(2026, 3, 19, tzinfo=UTC)):
        assert period_words("2026-03-18T18:00", "2026-03-19T08:00") == "18–19 Mar"
        assert period_words("2026-02", "2026-03-03") == "1 Feb–2 Mar"
        assert period_words("2025-06-18", "2025-06-19") == "18 Jun 2025"
        assert period_words("2026-03-19", "2026-03-19") == period_words("x", "2026-03") == ""


@pytest.mark.slow
def test_every_filter_has_a_place_on_the_bar() -> None:
    from app.screens.parts.filter_bar import BOXES  # noqa: PLC0415  with Streamlit, which takes a second

    assert {key for keys in BOXES.values() for key in keys} <= FILTERS.keys()


@pytest.fixture(scope="module")
def two_runs(read_once: StoreOnce) -> Store:
    """An expensive run that completed and a cheap one that hit a limit: to be read only."""
    limited = record_text(
        uuid="b",
        session_id="two",
        is_error=True,
        result="You've hit your limit",
        total_cost_usd=0.5,
    )
    return read_once(
        "dear-and-limited",
        lambda store: add(store, record_text(uuid="a", total_cost_usd=4), limited),
    )


@pytest.fixture
def opened(two_runs: Store, screens: Any) -> Any:
    def open_(**query: str | list[str]) -> AppTest:
        app: AppTest = screens(
            two_runs.location, **{key.replace("_", "-"): value for key, value in query.items()}
        )
        return app

    return open_


def test_a_link_opens_the_filtered_view_on_every_screen(opened: Any) -> None:
    app = opened(outcome="limit_reached")
    assert "One run of Claude Code" in said(app)
    app.switch_page("screens/runs.py").run()
    assert ["limit" in outcome for outcome in app.dataframe[0].value["outcome"]] == [True]
    assert app.query_params["outcome"] == "limit_reached"


def test_a_stale_link_keeps_its_filter_shows_no_run_and_says_so(opened: Any) -> None:
    app = opened(model="gone-1")
    assert "No runs match" in said(app)
    assert "Not in this store: Model: gone-1" in said(app)
    assert app.query_params["model"] == "gone-1"


def test_what_cannot_be_read_in_a_link_is_left_out_on_the_screen(opened: Any) -> None:
    app = opened(since="soon", min_cost="1")
    assert "One run of Claude Code" in said(app)
    assert "Not readable, so left out: Since: soon" in said(app)


def test_a_period_is_chosen_by_one_click(opened: Any) -> None:
    app = opened()
    app.button(key="period-last month").click().run()
    assert app.query_params["time"] == "last month"
    app.button(key="period-7 days").click().run()
    assert app.query_params["time"] == "7 days"


def test_a_chosen_value_filters_and_a_chip_takes_it_away(opened: Any) -> None:
    app = opened()
    app.multiselect(key="filter-outcome-1").select("limit_reached").run()
    assert "One run of Claude Code" in said(app)
    assert app.query_params["outcome"] == "limit_reached"
    app.button(key="drop-Outcome").click().run()
    assert "Two runs of Claude Code" in said(app)
    assert "outcome" not in app.query_params


def test_filters_that_leave_nothing_say_which_and_offer_a_way_back(opened: Any) -> None:
    app = opened(search="no such text", max_cost="1")
    assert app.header[0].value == "No runs match"
    assert [element for element in app.markdown if "--max-cost 1" in element.value]
    app.button(key="clear-no-match").click().run()
    assert "Two runs of Claude Code" in said(app)


def test_a_cost_that_is_typed_filters(opened: Any) -> None:
    app = opened()
    app.number_input(key="filter-min-cost-1").set_value(1.5).run()
    assert app.query_params["min-cost"] == "1.5"
    assert "One run of Claude Code" in said(app)


def test_an_empty_store_offers_the_samples(tmp_path: Path, screens: Any) -> None:
    app = screens(tmp_path / "new.duckdb")
    app.button(key="samples").click().run()
    assert not app.exception
    assert "$21.57" in said(app)


def test_a_word_that_is_no_filter_is_told(
    sample_store: Store, screens: Callable[..., AppTest]
) -> None:
    """A link with a mistyped filter would show all runs as if they were the ones asked for."""
    shown = said(
        screens(sample_store.location, "screens/runs.py", outcom="completed", compact="true")
    )
    assert "This filter is unknown and was ignored: outcom. Did you mean outcome?" in shown
    assert "compact" not in shown
    assert "ignored: <b>" in said(
        screens(sample_store.location, outcome="completed", **{"<b>": "x"})
    )
    assert "ignored: outcom" in said(
        screens(sample_store.location, outcom="completed", model="gone-1")
    )  # also where nothing matches


def test_no_word_of_a_screen_is_taken_for_a_mistyped_filter() -> None:
    """Each widget that is kept in the address is on the list."""
    files = sorted((ENTRY.parent / "screens").rglob("*.py"))
    calls = [
        node
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    ]
    named = [
        call.args[2]
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("choice", "pick")
    ]
    for call in calls:
        options = {one.arg: one.value for one in call.keywords}
        named += [options["key"]] if "bind" in options else []
    parts = [key.values[0] if isinstance(key, ast.JoinedStr) else key for key in named]
    keys = {key.value for key in parts if isinstance(key, ast.Constant)}
    assert {"compact", "columns", "tz", "pair"} <= keys
    assert not [key for key in keys if key not in SCREEN_WORDS]
    # one word of the address for two things ends the page: the bar deletes it under the widget
    assert SCREEN_WORDS & FILTERS.keys() == {widgets.RUN_ID}  # that of the page without the bar
