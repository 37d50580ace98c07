"""Usage along time: sums, blocks of hours and the active one's projection, and sessions.

The projection is what the block will have used. Sessions include their sub-agents.
"""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.queries.filters import NO_FILTERS, choose
from app.queries.grouping import filters_in
from app.queries.reading import read_transaction
from app.queries.sessions import lanes, sessions, timeline
from app.queries.usage import Hour, UsageBlock, UsageRequest, blocks, burn, gaps, usage
from app.reports.usage import usage as answer
from app.text.text_tables import draw, shown_table
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from schemas.catalogue.usage import TOOL, USAGE_DIMENSIONS
from schemas.errors import UsageError
from tests.conftest import FILE, Run, StoreOnce, ingest_paths, record
from tests.examples import written_down
from tests.using import add, at, log_of, response, run_of

ADDED_UP = tuple(
    (
        "responses whole_runs input_tokens cache_write_tokens cache_read_tokens "
        "output_tokens total_tokens cost_best_usd cost_list_usd cost_reported_usd "
        "lower_bounds cost_list_usd_known"
    ).split()
)
"""Figures of a row that add up to the total (a run of several models counts once in each: these
runs have one).
"""


def by(store: Store, *words: str, **how: Any) -> dict[Any, dict[str, Any]]:
    """The rows of a request by their names."""
    rows = usage(store, UsageRequest(by=words, **how)).table.to_pylist()
    return {
        row[words[0]] if len(words) == 1 else tuple(row[word] for word in words): row
        for row in rows
    }


def total(store: Store, *words: str, **how: Any) -> dict[str, Any]:
    [row] = usage(store, UsageRequest(by=words or ("day",), **how)).total.to_pylist()
    return dict(row)


@pytest.fixture(scope="module")
def three_runs(store_once: StoreOnce) -> Store:
    """Three runs of as many sessions without a response.

    One dated, one not, one that costs more than its model.
    """

    def fill(store: Store) -> None:
        folder = Path(store.location).parent
        ingest_paths(
            store,
            log_of("s1", folder, time="2026-02-01T08:00:00Z"),
            log_of("s2", folder, time=None),
            log_of("s3", folder, time="2026-02-03T23:30:00Z", total_cost_usd=0.75),
        )

    return store_once("usage-three-runs", fill)


@pytest.fixture
def begun(store_once: StoreOnce, store: Store) -> Store:
    """A store with one run of the session s1, which has no responses yet."""
    one = store_once("usage-one-run", lambda new: run_of("s1", Path(new.location).parent, new))
    shutil.copy(one.location, store.location)
    return store


MOMENTS = st.none() | st.integers(0, 72 * 60).map(
    lambda minutes: at("2026-02-01 00:00") + timedelta(minutes=minutes)
)
RESPONSES = st.lists(
    st.fixed_dictionaries(
        {
            "session_id": st.sampled_from(["s1", "s3"]),
            "at": MOMENTS,
            "model": st.none() | st.sampled_from(["claude-opus-4-6", "gpt-5"]),
            "agent_id": st.none() | st.sampled_from(["a", "b"]),
            "output_tokens": st.none() | st.integers(0, 9),
            "cache_read_tokens": st.none() | st.integers(0, 9),
            "cost_list_usd": st.none() | st.integers(0, 99).map(lambda cents: Decimal(cents) / 100),
            "output_is_final": st.booleans(),
        }
    ),
    max_size=12,
)


GROUPINGS = sorted(USAGE_DIMENSIONS.keys() - {TOOL})
UNKNOWN = dict.fromkeys(
    ("at", "model", "agent_id", "output_tokens", "cache_read_tokens", "cost_list_usd")
) | {"output_is_final": False}
KNOWN = {
    "at": at("2026-02-01 23:00"),
    "model": "gpt-5",
    "agent_id": "a",
    "output_tokens": 7,
    "cache_read_tokens": 3,
    "cost_list_usd": Decimal("0.07"),
    "output_is_final": True,
}


@settings(written_down(), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RESPONSES, st.lists(st.sampled_from(GROUPINGS), min_size=3, max_size=3, unique=True))
@example(
    [{"session_id": session} | fields for session in ("s1", "s3") for fields in (KNOWN, UNKNOWN)],
    GROUPINGS,
)
def test_rows_add_up_to_one_total_however_they_are_grouped(
    three_runs: Store, responses: list[dict[str, Any]], groupings: list[str]
) -> None:
    with three_runs.writing() as writer:
        writer.connection.execute("delete from responses")
        each = [
            response(one["session_id"], number, None, **one) for number, one in enumerate(responses)
        ]
        writer.insert("responses", [row.completed({"run_id": row.session_id}) for row in each])
    sums = {}
    with read_transaction(three_runs) as transaction:
        for word in groupings:
            found = usage(transaction, UsageRequest(by=(word,), zone="Asia/Kolkata"))
            [whole] = found.total.select(ADDED_UP).to_pylist()
            rows = found.table.select(ADDED_UP).to_pylist()
            assert {key: _sum(row[key] for row in rows) for key in ADDED_UP} == whole, word
            sums[word] = whole
    assert len({tuple(whole.values()) for whole in sums.values()}) == 1, sums


def _sum(values: Any) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def test_the_runs_of_a_session_count_each_at_its_own_times(tmp_path: Path, store: Store) -> None:
    """Two invocations of one session: its responses are at the last, the first counts whole."""
    logs = [
        log_of("s1", tmp_path, run_id=run_id, time=f"2025-12-0{day}T00:00:00Z", total_cost_usd=0.25)
        for day, run_id in enumerate(("first", "second"), 1)
    ]
    ingest_paths(store, *logs, log_of("s2", tmp_path))
    with store.writing() as writer:
        of_second = [
            response("s1", number, f"2026-02-0{number + 1} 10:00", run_id="second")
            for number in range(3)
        ]
        writer.insert("responses", of_second)
    days = by(store, "day")
    assert {
        day: (row["responses"], row["whole_runs"], row["output_tokens"], row["cost_reported_usd"])
        for day, row in days.items()
    } == {
        "2025-12-01": (0, 2, 40, Decimal("0.5")),
        "2026-02-01": (1, 0, 7, Decimal("0.083333333")),
        "2026-02-02": (1, 0, 6, Decimal("0.083333334")),
        "2026-02-03": (1, 0, 7, Decimal("0.083333333")),
    }, "the parts of a run add up to it, to the nano-dollar"
    assert {key: row["sessions"] for key, row in by(store, "session").items()} == {"s1": 1, "s2": 1}


ZONES = {
    "UTC": {"2026-02-01": 1, "2026-02-02": 1},
    "America/Los_Angeles": {"2026-02-01": 2},
    "Asia/Tokyo": {"2026-02-02": 2},
}
"""The responses of each day there, of two around midnight in UTC."""


def test_a_day_is_that_of_the_zone(begun: Store) -> None:
    add(
        begun, [response("s1", 0, "2026-02-01 23:59:59.999"), response("s1", 1, "2026-02-02 00:00")]
    )
    with read_transaction(begun) as transaction:
        for zone, days in ZONES.items():
            assert {
                day: row["responses"] for day, row in by(transaction, "day", zone=zone).items()
            } == days, zone
            for day in days:
                since = total(
                    transaction, zone=zone, filters=filters_in(choose({"since": day}), zone)
                )["responses"]
                assert since == sum(count for later, count in days.items() if later >= day), zone


def test_days_on_which_the_clocks_change_are_whole(begun: Store) -> None:
    moments = ("2026-03-08 06:59", "2026-03-08 07:00", "2026-11-01 05:30", "2026-11-01 06:30")
    add(begun, [response("s1", number, moment) for number, moment in enumerate(moments)])
    days = by(begun, "day", zone="America/New_York")
    assert {day: row["responses"] for day, row in days.items()} == {
        "2026-03-08": 2,
        "2026-11-01": 2,
    }
    hours = by(begun, "hour", zone="America/New_York")
    assert {hour: row["responses"] for hour, row in hours.items()} == {
        "2026-03-08 01:00": 1,
        "2026-03-08 03:00": 1,
        "2026-11-01 01:00": 2,
    }


def test_weeks_start_on_monday_or_sunday(begun: Store) -> None:
    add(
        begun, [response("s1", number, f"2026-02-0{number + 1} 12:00") for number in range(8)]
    )  # a Sunday, to the next
    assert {week: row["responses"] for week, row in by(begun, "week").items()} == {
        "2026-W05": 1,
        "2026-W06": 7,
    }
    sundays = by(begun, "week", week_starts="sunday")
    assert {week: row["responses"] for week, row in sundays.items()} == {
        "2026-02-01": 7,
        "2026-02-08": 1,
    }


def test_what_has_no_time_is_a_group_and_in_no_period(tmp_path: Path, store: Store) -> None:
    ingest_paths(store, log_of("s1", tmp_path), log_of("s2", tmp_path, time=None))
    add(store, [response("s1", 0, "2026-02-01 10:00"), response("s1", 1, None)])
    found = usage(store, UsageRequest())
    assert [
        (row["day"], row["responses"], row["whole_runs"]) for row in found.table.to_pylist()
    ] == [("2025-12-01", 1, 0), ("2026-02-01", 1, 0), (None, 0, 1)], "one at the run's end"
    assert dict(found.undated) == {"responses": 0, "runs": 1}
    period = UsageRequest(choose({"since": "2026-02"}))
    assert usage(store, period).total["responses"].to_pylist() == [1]
    assert (
        "1 run without a recorded time is in no period and left out: 1 run without a date ($0.25)."
    ) in answer(store, period).note


def test_filters_choose_runs_and_a_period_chooses_responses(tmp_path: Path, store: Store) -> None:
    before = "2026-01-31T00:00:00Z"
    ingest_paths(
        store,
        log_of("s1", tmp_path, time=before),
        log_of("s2", tmp_path, time=before, subtype="error_max_turns"),
    )
    add(
        store,
        [
            response(session, number, f"2026-02-0{number + 1} 10:00")
            for session in ("s1", "s2")
            for number in range(3)
        ],
    )
    assert (
        total(store, filters=choose({"since": "2026-02-02", "until": "2026-02-03"}))["responses"]
        == 2
    )
    assert total(store, filters=choose({"outcome": ["max_turns"]}))["responses"] == 3
    assert (
        total(store, filters=choose({"outcome": ["max_turns"], "since": "2026-02-03"}))["responses"]
        == 1
    )
    annotate(store, ["s1"], Change(excluded=True))
    assert total(store)["responses"] == 3, "an excluded run counts nowhere"


def test_blocks_have_gaps_and_the_active_one_a_projection(begun: Store) -> None:
    moments = ("10:15", "14:59", "15:01", "21:30", "22:30")
    add(
        begun,
        [response("s1", number, f"2026-02-01 {moment}") for number, moment in enumerate(moments)],
    )
    found = usage(
        begun, UsageRequest(by=("block",), zone="Asia/Kolkata"), now=at("2026-02-01 23:30")
    )
    rows = [(row["block"], row["block_state"], row["responses"]) for row in found.table.to_pylist()]
    assert rows == [
        ("2026-02-01 15:30", "complete", 2),
        ("2026-02-01 20:30", "complete", 1),
        ("2026-02-02 01:31", "gap", 0),
        ("2026-02-02 02:30", "active", 2),
    ]
    last = found.table.to_pylist()[-1]
    assert (last["tokens_per_minute"], last["usd_per_hour"], last["minutes_left"]) == (
        pytest.approx(320 / 60),
        Decimal("0.02"),
        150,
    )
    assert (last["projected_tokens"], last["projected_usd"]) == (320 + 800, Decimal("0.07"))
    cut = UsageRequest(choose({"since": "2026-02-01T22:00"}), by=("block",), zone="Asia/Kolkata")
    [part] = usage(begun, cut, now=at("2026-02-01 23:30")).table.to_pylist()
    rates = ("tokens_per_minute", "usd_per_hour", "projected_tokens", "projected_usd")
    assert part["responses"] == 1
    assert [part[key] for key in rates] == [last[key] for key in rates], "of the whole block"
    assert found.total["responses"].to_pylist() == [5]
    assert len(usage(begun, UsageRequest(by=("block",), block_hours=24)).table) == 1


def test_a_period_does_not_move_blocks(begun: Store) -> None:
    """Responses every four hours.

    Each block starts where the one before it has ended, back to the first.
    """
    start = at("2026-02-01 00:30")
    add(
        begun,
        [
            response("s1", number, None, at=start + timedelta(hours=4 * number))
            for number in range(71)
        ],
    )
    every = {
        row["block_start"]: row["responses"]
        for row in usage(begun, UsageRequest(by=("block",))).table.to_pylist()
    }
    late = usage(
        begun, UsageRequest(choose({"since": "2026-02-10"}), by=("block",))
    ).table.to_pylist()
    assert len(late) > 1
    assert all(every[row["block_start"]] == row["responses"] for row in late[1:])
    assert late[0]["block_start"] in every


def test_tools_have_their_calls_and_what_calling_responses_cost(begun: Store) -> None:
    first = response(
        "s1", 0, "2026-02-01 10:00", tools=("Bash", "Read", "Bash"), failed_tools=("Bash",)
    )
    add(
        begun,
        [
            first,
            response("s1", 1, "2026-02-01 11:00", tools=("Read",)),
            response("s1", 2, "2026-02-01 12:00"),
        ],
    )
    tools = by(begun, "tool")
    assert {
        tool: (row["tool_calls"], row["failed_calls"], row["calling_responses"])
        for tool, row in tools.items()
    } == {
        "Bash": (2, 1, 1),
        "Read": (2, 0, 2),
    }
    assert {tool: row["calling_cost_list_usd"] for tool, row in tools.items()} == {
        "Bash": Decimal("0.01"),
        "Read": Decimal("0.02"),
    }
    whole = total(begun, "tool")
    assert (whole["tool_calls"], whole["failed_calls"]) == (4, 1)
    assert whole["calling_cost_list_usd"] is None, "the response that called both would count twice"
    assert "do not add up" in answer(begun, UsageRequest(by=("tool",))).note


def test_tools_of_runs_without_responses_count_too(tmp_path: Path, store: Store) -> None:
    call = {
        "type": "assistant",
        "session_id": "s1",
        "message": {
            "id": "m",
            "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}],
        },
    }
    (file := tmp_path / "s1.jsonl").write_text(
        "".join(f"{json.dumps(line)}\n" for line in (call, record(session_id="s1")))
    )
    ingest_paths(store, file)
    assert {
        tool: (row["tool_calls"], row["calling_responses"])
        for tool, row in by(store, "tool").items()
    } == {"Bash": (1, 0)}


def test_two_groupings_and_what_belongs_to_whom(begun: Store) -> None:
    others = {"agent_id": "a1", "is_sidechain": True, "model": "claude-haiku-4-5"}
    add(
        begun,
        [response("s1", 0, "2026-02-01 10:00"), response("s1", 1, "2026-02-02 10:00", **others)],
    )
    opus, haiku = ("claude-opus-4-6", "2026-02-01"), ("claude-haiku-4-5", "2026-02-02")
    assert list(by(begun, "model", "day")) == [opus, haiku]
    assert (
        by(begun, "sub-agent")["a1"]["responses"]
        == by(begun, "sub-agent")["main"]["responses"]
        == 1
    )
    assert list(by(begun, "project")) == ["kernels"]
    assert list(by(begun, "agent")) == ["claude-code"]


def test_a_figure_that_is_a_lower_bound_says_so(tmp_path: Path, store: Store) -> None:
    run_of("s1", tmp_path, store, total_cost_usd=0.01)
    add(
        store,
        [
            response("s1", 0, "2026-02-01 10:00", output_is_final=False),
            response("s1", 1, "2026-02-02 10:00", cost_list_usd=None),
        ],
    )
    text = draw(shown_table(answer(store, UsageRequest())), 160).body.decode()
    first, second, *_ = [line for line in text.splitlines() if line.startswith("2026")]
    assert "≥\u00a0160" in first
    assert "≥\u00a0$0.01" in first
    assert "≥\u00a0100" in first
    assert "≥" not in second
    assert "1 of 2" in text.splitlines()[-1], "the total says on how many responses it rests"
    assert "≥: 1 of 2 is counted only in part" in answer(store, UsageRequest()).note
    [whole] = [line for line in text.splitlines() if line.startswith("Total")]
    assert "≥\u00a0$0.01" in whole


def test_a_dimension_that_does_not_exist_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="unknown dimension 'modle'"):
        usage(store, UsageRequest(NO_FILTERS, ("modle",)))


KEYS = tuple(
    (
        "day responses whole_runs sessions input_tokens cache_write_tokens "
        "cache_read_tokens output_tokens total_tokens cost_best_usd cost_list_usd "
        "cost_reported_usd models lower_bounds token_bounds cost_best_bounds first_at last_at "
        "cost_best_usd_known cost_list_usd_known cost_reported_usd_known"
    ).split()
)


def test_the_document_has_stable_keys(tmp_path: Path, tachograph: Run) -> None:
    store = Store(tmp_path / FILE)
    run_of("s1", tmp_path, store)
    add(store, [response("s1", 0, "2026-02-01 23:30"), response("s1", 1, "2026-02-02 10:00")])
    done = tachograph("usage --json --tz Europe/Berlin")
    made = json.loads(done.stdout)
    assert tuple(made) == tuple("by tz filters rows totals active_block undated notes".split())
    assert (made["by"], made["tz"], [row["day"] for row in made["rows"]]) == (
        ["day"],
        "Europe/Berlin",
        ["2026-02-02"],
    )
    assert tuple(made["rows"][0]) == KEYS
    assert tuple(made["totals"]) == KEYS[1:]
    assert made["rows"][0]["total_tokens"] == made["totals"]["total_tokens"] == 320
    blocks_made = json.loads(tachograph("usage --by block --json -o -").stdout)
    assert [row["block_state"] for row in blocks_made["rows"]] == ["complete", "gap", "complete"]


def test_the_command_draws_a_table_and_says_what_is_wrong(tmp_path: Path, tachograph: Run) -> None:
    store = Store(tmp_path / FILE)
    run_of("s1", tmp_path, store)
    add(store, [response("s1", 0, "2026-02-01 10:00")])
    done = tachograph("usage --compact")
    assert done.stdout.splitlines()[-1].split() == ["Total", "1", "160", "$0.01"]
    assert "1 response in 1 session · times in UTC" in done.stderr
    for words, said in {
        ("--json", "--format", "csv"): "--json and the format csv exclude each other",
        ("--by", "dya"): "Did you mean day?",
        ("--tz", "Berlin"): "there is no time zone 'Berlin'",
        ("--session-length", "0"): "is not a whole number from 1 to 168",
    }.items():
        wrong = tachograph("usage", *words)
        assert (wrong.returncode, wrong.stdout) == (2, ""), words
        assert said in wrong.stderr


DAY = datetime(2026, 2, 1, tzinfo=UTC)
FIVE = timedelta(hours=5)


def floored(time: datetime) -> datetime:
    return time.replace(minute=0, second=0, microsecond=0)


def hours_of(times: list[datetime]) -> list[Hour]:
    """What the query makes of responses at these times, which are in order."""
    found = []
    for start, group in groupby(times, floored):
        each = list(group)
        found.append(
            Hour(start, each[0], next((time for time in each if time > start), None), each[-1])
        )
    return found


def one_by_one(times: list[datetime], length: timedelta) -> list[UsageBlock]:
    """The rule as it is written, response by response."""
    found: list[UsageBlock] = []
    for time in times:
        if found and time <= found[-1].start + length and time <= found[-1].last + length:
            found[-1] = UsageBlock(found[-1].start, found[-1].end, found[-1].first, time)
        else:
            found.append(UsageBlock(floored(time), floored(time) + length, time, time))
    return found


def times(*texts: str) -> list[datetime]:
    return [datetime.fromisoformat(f"2026-02-01T{text}+00:00") for text in texts]


def test_a_block_starts_at_the_full_hour_and_a_gap_ends_at_the_next_response() -> None:
    found = blocks(hours_of(times("10:15", "14:59", "15:01", "21:30")), FIVE)
    assert [block.start.hour for block in found] == [10, 15, 21]
    assert gaps(found) == [tuple(times("20:01", "21:30"))]


@pytest.mark.parametrize(
    ("texts", "starts", "between"),
    [
        (("10:00", "15:00"), [10], 0),  # the last moment of a block belongs to it
        (("10:00", "15:00", "15:00:00.000001"), [10, 15], 0),
        (("10:59", "15:30"), [10, 15], 0),  # no gap: less than five hours after the response before
        (("10:59", "15:59"), [10, 15], 0),
        (("10:59", "15:59:00.000001"), [10, 15], 1),
    ],
)
def test_limits_of_blocks(texts: tuple[str, ...], starts: list[int], between: int) -> None:
    found = blocks(hours_of(times(*texts)), FIVE)
    assert ([block.start.hour for block in found], len(gaps(found))) == (starts, between)


@given(
    st.lists(st.integers(0, 60 * 60 * 8), min_size=1, max_size=30).map(sorted), st.integers(1, 12)
)
def test_blocks_by_hours_are_those_of_the_rule(minutes: list[int], length: int) -> None:
    """Steps of half a minute, so that full hours are met often."""
    moments = [DAY + timedelta(seconds=30 * number) for number in minutes]
    found = blocks(hours_of(moments), timedelta(hours=length))
    assert found == one_by_one(moments, timedelta(hours=length))
    assert all(one.end <= two.start for one, two in pairwise(found)), "blocks never overlap"


def test_an_active_block_projects_its_rate_to_its_end() -> None:
    [block] = blocks(hours_of(times("10:00", "12:00")), FIVE)
    rate = burn(block, 120_000, Decimal(6), times("13:00")[0])
    assert rate
    assert (rate.tokens_per_minute, rate.minutes_left, rate.projected_tokens) == (
        1000.0,
        120.0,
        240_000,
    )
    assert (rate.usd_per_hour, rate.projected_usd) == (Decimal(3), Decimal(12))
    unpriced = burn(block, 120_000, None, times("13:00")[0])
    assert unpriced
    assert (unpriced.projected_tokens, unpriced.usd_per_hour, unpriced.projected_usd) == (
        240_000,
        None,
        None,
    )
    assert (
        burn(UsageBlock(block.start, block.end, block.first, block.first), 10, Decimal(1), DAY)
        is None
    ), "a single moment has no rate"


@pytest.mark.parametrize(
    ("now", "is_active"), [("09:59", False), ("10:00", True), ("14:59", True), ("15:00", False)]
)
def test_a_block_is_active_from_its_start_to_its_end(now: str, is_active: bool) -> None:
    [block] = blocks(hours_of(times("10:15")), FIVE)
    assert block.is_active(times(now)[0]) is is_active


def test_a_response_of_the_future_does_not_hide_the_block_that_goes_on() -> None:
    found = blocks(hours_of(times("10:15", "20:00")), FIVE)
    assert [block.is_active(times("11:00")[0]) for block in found] == [True, False]


@pytest.fixture(scope="module")
def two_sessions(store_once: StoreOnce) -> Store:
    """A session with a sub-agent in two runs, a short later one, and a run without responses.

    The store is to be read only.
    """
    return store_once("two-sessions", fill)


def fill(store: Store) -> None:
    folder = Path(store.location).parent
    of_s1 = (
        log_of("s1", folder, run_id="first"),
        log_of("s1", folder, run_id="second", time="2025-12-02T00:00:00Z"),
    )
    ingest_paths(store, *of_s1, log_of("s2", folder), log_of("s3", folder))
    a1 = {"agent_id": "a1", "is_sidechain": True, "run_id": "second"}
    main = {"run_id": "second", "tools": ("Bash", "Read"), "failed_tools": ("Read",)}
    add(
        store,
        [
            response("s1", 0, "2026-02-01 10:00", **main),
            response("s1", 1, "2026-02-01 10:01", **a1, cache_read_tokens=90_000),
            response("s1", 2, "2026-02-01 10:02", **a1, cost_list_usd=None),
            response(
                "s1",
                3,
                "2026-02-01 10:03",
                run_id="second",
                cache_read_tokens=5_000,
                stop_reason="end_turn",
                output_is_final=False,
            ),
            response("s1", 4, None, run_id="second"),
            response("s2", 0, "2026-02-02 10:00"),
        ],
    )


def test_sessions_are_listed_with_their_sums_the_latest_first(two_sessions: Store) -> None:
    latest, first = sessions(two_sessions).to_pylist()
    assert (latest["run_id"], first["run_id"]) == ("s2", "second")
    assert (
        first["project"],
        first["responses"],
        first["subagents"],
        first["tool_calls"],
        first["failed_calls"],
    ) == ("kernels", 5, 1, 2, 1)
    assert (first["first_at"], first["last_at"]) == (at("2026-02-01 10:00"), at("2026-02-01 10:03"))
    assert (first["cost_list_usd"], first["cost_list_usd_known"], first["lower_bounds"]) == (
        Decimal("0.04"),
        4,
        1,
    )
    assert first["context_peak_tokens"] == 10 + 20 + 5_000, "a sub-agent has a context of its own"
    assert first["total_tokens"] == 5 * 130 + 3 * 30 + 90_000 + 5_000
    assert (
        sessions(two_sessions, choose({"session": ["s2"]})).num_rows
        == sessions(two_sessions, limit=1).num_rows
        == 1
    )


@pytest.mark.parametrize("run_id", ["first", "second"])
def test_a_session_along_time_is_that_of_each_of_its_runs(run_id: str, two_sessions: Store) -> None:
    rows = timeline(two_sessions, run_id).to_pylist()
    assert [row["response_id"] for row in rows] == [f"s1-{number}" for number in range(5)]
    assert [row["cost_so_far_usd"] for row in rows] == [
        Decimal(cents) / 100 for cents in (1, 2, 2, 3, 4)
    ]
    assert [row["context_tokens"] for row in rows] == [60, 90_030, 60, 5_030, 60]
    assert (rows[0]["tools"], rows[0]["failed_tools"]) == (["Bash", "Read"], ["Read"])
    assert (rows[3]["stop_reason"], rows[3]["output_is_final"], rows[4]["at"]) == (
        "end_turn",
        False,
        None,
    )


def test_the_lanes_of_a_session_are_its_main_conversation_and_its_sub_agents(
    two_sessions: Store,
) -> None:
    main, a1 = lanes(two_sessions, "first").to_pylist()
    assert (main["agent_id"], main["responses"], main["context_peak_tokens"]) == (None, 3, 5_030)
    assert (a1["agent_id"], a1["responses"], a1["cost_list_usd"], a1["cost_list_usd_known"]) == (
        "a1",
        2,
        Decimal("0.01"),
        1,
    )
    assert (a1["first_at"], a1["last_at"]) == (at("2026-02-01 10:01"), at("2026-02-01 10:02"))
