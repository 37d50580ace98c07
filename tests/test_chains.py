"""Chains: totals of one process count once and separate processes each, in any order of files.

The totals are cumulative.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.chains import ChainPlace, Link, Totals, places
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests.conftest import record
from tests.examples import examples


def result(
    number: int, output: int, cost: float, own_output: int, **changes: Any
) -> dict[str, Any]:
    """A result of the session `s` with totals of one model.

    `own_output` is the main loop's part of its own turns.
    """
    usage = {
        "inputTokens": 10,
        "outputTokens": output,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "costUSD": cost,
    }
    return record(
        uuid=f"r{number}",
        session_id="s",
        total_cost_usd=cost,
        modelUsage={"claude-opus-4-6": usage},
        usage={"input_tokens": 0, "output_tokens": own_output},
        **changes,
    )


STREAM = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-4-6"},
    result(1, 6920, 0.5179, 6050, duration_ms=667_037, duration_api_ms=234_683),
    result(2, 7279, 0.5426, 359, duration_ms=7_943, duration_api_ms=242_605),
    result(3, 7307, 0.5629, 28, duration_ms=3_159, duration_api_ms=245_752),
    result(4, 7344, 0.5826, 37, duration_ms=3_366, duration_api_ms=249_110),
]
"""Results of one process, with the figures of a real one: each carries the totals so far."""

RESUMED = [result(1, 100, 0.1, 100), result(2, 200, 0.2, 200), result(3, 300, 0.3, 300)]
"""Invocations of one session in older versions: each starts from zero; the growth is chance."""

CONTINUED = [result(1, 100, 0.1, 100), result(2, 250, 0.2, 150), result(3, 300, 0.35, 50)]
"""Results of one process in files of their own: each has the totals of the one before and, to the
token, its own use.
"""


def lines(events: list[dict[str, Any]]) -> Source:
    return Source("stream.jsonl", "\n".join(map(json.dumps, events)).encode())


def files(events: list[dict[str, Any]]) -> list[Source]:
    return [
        Source(f"{number}.json", json.dumps(event).encode()) for number, event in enumerate(events)
    ]


def of_case(name: str, events: list[dict[str, Any]]) -> list[str]:
    """The events as JSON, with ids of records, sessions and responses of their own.

    Several cases can be in one store.
    """
    return [
        re.sub(r'"(uuid|session_id|id)": "', rf"\g<0>{name}-", json.dumps(event))
        for event in events
    ]


def chained(store: Store) -> list[tuple[str, str, int, Decimal, int]]:
    sql = (
        "select run_id, chain_id, chain_position, cost_own_usd, output_tokens from runs order by "
        "run_id"
    )
    with store.reading() as connection:
        return list(connection.execute(sql).fetchall())


def total(store: Store) -> Decimal:
    cost = run_queries.summary(store, Filters(), metrics=["cost_usd"])["cost_usd"].to_pylist()[0]
    assert sum(run_queries.models(store, Filters())["cost_usd"].to_pylist()) == cost
    return Decimal(cost)


def test_results_of_one_process_are_cumulative(store: Store) -> None:
    """API time too, also without a session; and a rebuild finds the same chains."""
    ingest([lines(STREAM)], store)
    expected = [
        ("r1", "r1", 1, Decimal("0.5179"), 6920),
        ("r2", "r1", 2, Decimal("0.0247"), 359),
        ("r3", "r1", 3, Decimal("0.0203"), 28),
        ("r4", "r1", 4, Decimal("0.0197"), 37),
    ]
    assert (chained(store), total(store)) == (expected, Decimal("0.5826"))
    [row] = run_queries.summary(
        store, Filters(), metrics=["duration_api_ms", "duration_ms"]
    ).to_pylist()
    assert (row["duration_api_ms"], row["duration_ms"]) == (249_110, 681_505)
    rebuild(store)
    assert chained(store) == expected
    ingest(
        [
            lines(
                [
                    event | {"session_id": None, "uuid": f"none-{event.get('uuid')}"}
                    for event in STREAM
                ]
            )
        ],
        store,
    )
    assert total(store) == 2 * Decimal("0.5826")


NEVER_STARTED = record(
    uuid="r0", session_id="s", total_cost_usd=0, modelUsage={}, usage={"output_tokens": 0}
)


def test_a_usage_that_was_carried_over_tells_nothing(store: Store) -> None:
    ingest(files([result(1, 100, 0.1, 100), result(2, 150, 0.15, 100)]), store)
    assert total(store) == Decimal("0.25")
    assert list(doubts(store)) == ["r2"]


def streamed(output: int, read: int, **changes: Any) -> dict[str, Any]:
    """A response in the stream of the session `s`."""
    used = {
        "input_tokens": 5,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": 0,
    }
    said: dict[str, Any] = {
        "id": f"msg_{read}",
        "model": "claude-opus-4-6",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
    }
    return {
        "type": "assistant",
        "message": said | {"usage": used},
        "session_id": "s",
        "parent_tool_use_id": None,
    } | changes


def went_on(second_read: int) -> list[dict[str, Any]]:
    """A second process with sub-agents, or the same process continued.

    The second process is larger than the first in every class and appended to its stream.
    """

    def told(number: int, read: int, cost: float) -> dict[str, Any]:
        event = result(number, 100 * number, cost, 50)
        event["modelUsage"]["claude-opus-4-6"] |= {
            "inputTokens": 10 * number,
            "cacheReadInputTokens": read,
        }
        return event

    first = [begun("s"), streamed(90, 1000), told(1, 1000, 0.3)]
    return [
        *first,
        begun("s"),
        streamed(80, 900),
        streamed(90, 500, parent_tool_use_id="t1"),
        told(2, second_read, 0.6),
    ]


@pytest.mark.slow
@settings(examples(2), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(files(CONTINUED)), cut=st.integers(0, 3))
def test_the_order_of_files_and_batches_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, order: list[Source], cut: int
) -> None:
    """Also where a later batch brings an earlier link."""
    store = Store(tmp_path_factory.mktemp("chains") / "s.duckdb")
    for batch in (order[:cut], order[cut:]):
        ingest(batch, store)
    assert total(store) == Decimal("0.35")
    assert [row[1:3] for row in chained(store)] == [("r1", 1), ("r1", 2), ("r1", 3)]


def link(number: int, output: int, usage: int | None) -> Link:
    totals = Totals((0, output, 0, 0), Decimal(output))
    return Link(
        f"r{number}",
        "s",
        f"source{number}",
        0,
        False,
        {"m": totals},
        None if usage is None else (0, usage, 0, 0),
    )


@given(
    st.lists(st.tuples(st.integers(0, 50), st.none() | st.integers(0, 50)), max_size=8),
    st.randoms(),
)
def test_places_are_a_function_of_the_records_alone(
    figures: list[tuple[int, int | None]], chance: Any
) -> None:
    session = [link(number, output, usage) for number, (output, usage) in enumerate(figures)]
    found, doubtful = places(session)
    chance.shuffle(session)
    assert places(session) == (found, doubtful)
    assert set(found) == {one.run_id for one in session}
    assert places([link(1, 5, 5), link(2, 8, 3)])[0]["r2"] == ChainPlace("r1", 2, "r1")


@given(st.lists(st.integers(0, 50), max_size=8))
def test_what_the_links_of_a_chain_added_is_its_largest_total(outputs: list[int]) -> None:
    """Where everything continues everything smaller, nothing is counted twice."""
    ordered = [
        (number, link(number, output, None)) for number, output in enumerate(sorted(outputs))
    ]
    session = [
        replace(one, ordinal=number, source_id="stream", in_stream=True) for number, one in ordered
    ]
    size = {one.run_id: one.models["m"].tokens[1] for one in session}
    found, _ = places(session)
    own = {
        run_id: size[run_id] - size.get(place.earlier or "", 0) for run_id, place in found.items()
    }
    assert sum(own.values()) == max(outputs, default=0)


def with_helpers(event: dict[str, Any]) -> dict[str, Any]:
    """The result with its cost also under another id of its model, and under another model."""
    [(name, usage)] = event["modelUsage"].items()
    return event | {"modelUsage": {name: usage, f"{name}[1m]": usage, "claude-haiku-4-5": usage}}


def test_the_models_of_a_run_cost_what_its_model_rows_say(store: Store) -> None:
    results = [
        with_helpers(event)
        for name, events in (("a", STREAM[1:]), ("b", CONTINUED), ("c", RESUMED))
        for event in map(json.loads, of_case(name, events))
    ]
    ingest(files(results[1:]), store)
    ingest(files(results[:1]), store)
    with store.reading() as connection:
        of_runs = (
            "select run_id, unnest(models) as model, unnest(model_costs_usd) as cost_usd from "
            "runs order by all"
        )
        of_rows = (
            "select run_id, model, sum(cost_own_usd) as cost_usd from model_usage where model is "
            "not null group by all order by all"
        )
        found = connection.execute(of_runs).fetchall()
        assert found == connection.execute(of_rows).fetchall()
    assert len(found) == 2 * len(results)


@pytest.mark.parametrize("batches", [1, 2])
def test_a_fuller_copy_in_another_session_leaves_no_chain_behind(
    store: Store, batches: int
) -> None:
    excerpt, later = CONTINUED[0] | {"result": ...}, CONTINUED[1]
    sources = [*files([{key: value for key, value in excerpt.items() if value is not ...}, later])]
    sources += [Source("full.json", json.dumps(CONTINUED[0] | {"session_id": "other"}).encode())]
    for number in range(batches):
        ingest(sources[2:] if number else sources if batches == 1 else sources[:2], store)
    assert {run_id: (position, own) for run_id, _, position, own, _ in chained(store)} == {
        "r1": (1, Decimal("0.1")),
        "r2": (1, Decimal("0.2")),
    }


def begun(session: str) -> dict[str, Any]:
    return STREAM[0] | {"session_id": session}


CLEARED = [
    *STREAM[:4],
    begun("t"),
    STREAM[4] | {"session_id": "t"},
    begun("u"),
    result(5, 7400, 0.6, 56) | {"session_id": "u"},
]
"""The same process, had it cleared its conversation before its fourth and its fifth result."""

APPENDED = [
    begun("s"),
    result(1, 100, 0.1, 100),
    begun("t"),
    result(2, 250, 0.2, 250) | {"session_id": "t"},
    begun("u"),
    result(3, 600, 0.6, 300) | {"session_id": "u"},
]
"""Three processes one after the other, each dearer than the one before; the last one's helpers used
as much as its main loop.
"""


MORE_INPUT = [event | {"session_id": "s"} for event in APPENDED[:4]]
for event in MORE_INPUT[1::2]:
    event["usage"] = event["usage"] | {"input_tokens": 10}
SONNET = CONTINUED[0]["modelUsage"]["claude-opus-4-6"] | {"outputTokens": 40, "costUSD": 0.3}
ANOTHER_MODEL = result(2, 100, 0.1, 30) | {"session_id": "t", "total_cost_usd": 0.4}
ANOTHER_MODEL["modelUsage"] |= {"claude-sonnet-4-6": SONNET}


IN_FILES_OF_THEIR_OWN: dict[str, tuple[list[dict[str, Any]], str, list[int]]] = {
    "each from zero": (RESUMED, "0.6", [1, 1, 1]),
    "one process saved apart": (CONTINUED, "0.35", [1, 2, 3]),
    "other sessions": ([CONTINUED[0], CONTINUED[1] | {"session_id": "other"}], "0.3", [1, 1]),
    "never started": ([NEVER_STARTED, RESUMED[0]], "0.1", [1, 1]),
    "the same figures twice": ([result(1, 100, 0.1, 100), result(2, 100, 0.1, 100)], "0.2", [1, 1]),
    "a fork": ([*CONTINUED[:2], result(4, 180, 0.15, 80)], "0.25", [1, 2, 2]),
}
IN_ONE_FILE = {
    "a cleared conversation": (CLEARED, "0.6", [1, 2, 3, 4, 5]),
    "one after the other": (APPENDED, "0.9", [1, 1, 1]),
    "resumed from zero": (MORE_INPUT, "0.3", [1, 1]),
    "went on with another model": (
        [begun("s"), CONTINUED[0], begun("t"), ANOTHER_MODEL],
        "0.4",
        [1, 2],
    ),
    "responses of two processes": (went_on(1400), "0.9", [1, 1]),
    "responses of one process": (went_on(2400), "0.6", [1, 2]),
}
"""Results → what they cost together, and the place of each in its chain."""


def test_results_count_once_where_they_continue_each_other(store: Store) -> None:
    """All cases together, each with sessions of its own: an ingest of all takes as long as one."""
    sources = [
        Source(f"{name} {place}", text.encode())
        for name, (events, *_) in IN_FILES_OF_THEIR_OWN.items()
        for place, text in enumerate(of_case(name, events))
    ]
    sources += [
        Source(name, "\n".join(of_case(name, events)).encode())
        for name, (events, *_) in IN_ONE_FILE.items()
    ]
    ingest(sources, store)
    cases = IN_FILES_OF_THEIR_OWN | IN_ONE_FILE
    found: dict[str, tuple[Decimal, list[int]]] = {name: (Decimal(0), []) for name in cases}
    for run_id, _, position, own_usd, _ in chained(store):
        usd, positions = found[name := run_id.partition("-")[0]]
        found[name] = usd + (own_usd or 0), [*positions, position]
    assert found == {name: (Decimal(usd), positions) for name, (_, usd, positions) in cases.items()}
    assert total(store) == sum(usd for usd, _ in found.values())


@pytest.mark.parametrize("batches", [1, 2])
def test_a_record_between_that_is_kept_elsewhere_ends_no_process(
    store: Store, batches: int
) -> None:
    """A fuller copy takes a result out of the stream.

    Those around it stand next to each other then.
    """
    foreign = result(9, 30, 0.9, 30) | {"session_id": "v"}
    stream = [*CLEARED[:5], foreign | {"modelUsage": {}, "result": None}, *CLEARED[5:]]
    sources = [lines(stream), Source("full.json", json.dumps(foreign).encode())]
    for batch in (sources,) if batches == 1 else ([source] for source in sources):
        ingest(batch, store)
    assert total(store) == Decimal("1.5")


def test_what_came_before_a_cleared_conversation_moves_all_behind_it(store: Store) -> None:
    """The previous session is a resumed one.

    Its beginning lies in a file of its own that comes first or last.
    """
    stream = [CLEARED[0], CLEARED[1] | {"usage": {"output_tokens": 920}}, *CLEARED[2:]]
    texts = [[result(0, 6000, 0.4, 6000)], stream]
    for turn in (0, 1):
        ingest(
            [
                Source(name, "\n".join(of_case(name, texts[turn ^ first])).encode())
                for first, name in enumerate("ab")
            ],
            store,
        )
    expected = [(f"{name}-r0", number) for name in "ab" for number in range(1, 7)]
    assert [row[1:3] for row in chained(store)] == expected
    assert total(store) == 2 * Decimal("0.6")
    rebuild(store)
    assert [row[1:3] for row in chained(store)] == expected


def doubts(store: Store) -> dict[str, tuple[str, str]]:
    sql = (
        "select run_id, expected, actual from findings where rule = 'cumulative_possible' order "
        "by run_id"
    )
    with store.reading() as connection:
        [(alike,)] = connection.execute(
            "select bool_and(findings = (select count(*) from findings where run_id = "
            "runs.run_id)) from runs"
        ).fetchall()
        assert alike
        return {
            run_id: (expected, actual)
            for run_id, expected, actual in connection.execute(sql).fetchall()
        }


DOUBTFUL = [result(1, 100, 0.1, 100), result(2, 250, 0.4, 20)]
"""The later one's own use is a part of what it may have added; a helper of the same model would
explain it either way.
"""


def test_a_record_that_may_continue_another_counts_in_full_and_says_so(store: Store) -> None:
    """Whichever of the two comes first, read again, and rebuilt."""
    one, other = (
        [
            Source(f"{name} {place}", text.encode())
            for place, text in enumerate(of_case(name, DOUBTFUL))
        ]
        for name in "ab"
    )
    ingest([one[0], other[1]], store)
    ingest([one[1], other[0]], store)
    told = ("$0.500000000 for both as counted", "$0.400000000 for both if the totals continue")
    assert doubts(store) == {"a-r2": told, "b-r2": told}
    assert total(store) == Decimal(1)
    ingest([*one, *other], store)
    assert doubts(store) == {"a-r2": told, "b-r2": told}
    rebuild(store)
    assert doubts(store) == {"a-r2": told, "b-r2": told}


def test_a_doubt_that_is_settled_goes_away(store: Store) -> None:
    """The record between the two, which came later, is what the last one continues to the token."""
    ingest(files([DOUBTFUL[0], result(3, 250, 0.4, 20)]), store)
    assert list(doubts(store)) == ["r3"]
    ingest(files([result(2, 230, 0.3, 130)]), store)
    assert doubts(store) == {}


def test_what_figures_or_a_stream_settle_is_no_doubt(store: Store) -> None:
    streams = [
        Source(name, "\n".join(of_case(name, events)).encode())
        for name, events in (("a", STREAM), ("b", [STREAM[0], *DOUBTFUL]))
    ]
    apart = [*of_case("c", CONTINUED), *of_case("d", RESUMED)]
    ingest(
        [*streams, *(Source(f"{number}", text.encode()) for number, text in enumerate(apart))],
        store,
    )
    assert doubts(store) == {}


counts = st.integers(0, 3).map(lambda size: 10**size)
invocations = st.tuples(
    st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=2), st.booleans()
)


@pytest.mark.slow
@given(st.lists(invocations, min_size=2, max_size=6))
@examples(100)
def test_of_processes_that_start_from_zero_none_is_joined(
    made: list[tuple[list[tuple[int, ...]], bool]],
) -> None:
    """Main loop and sub-agents of one model; usage tells the main loop alone, or nothing.

    A few odd tokens keep such round figures from agreeing to the token, which those of real runs do
    not by chance.
    """
    links = []
    for number, (loops, tells) in enumerate(made):
        main = tuple(count + 7**number for count in loops[0])
        tokens = tuple(map(sum, zip(main, *loops[1:], strict=True)))
        totals = Totals(tokens, Decimal(sum(tokens)))  # type: ignore[arg-type]  # four of them
        links.append(
            Link(f"r{number}", "s", f"f{number}", 0, False, {"m": totals}, main if tells else None)
        )
    assert all(place.earlier is None for place in places(links)[0].values())
