"""The responses in Codex's rollouts.

Each growth of the totals once, for the session that asked for it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ingest.agents.base import RESPONSE_COLUMNS
from ingest.agents.codex.rollout import ended_badly, is_failure
from ingest.agents.readers import SourceReaders
from ingest.context.gather import SourceContext
from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.record_rows import Read, runs_at_end, runs_with
from schemas.rows.distilled import ModelUse, Run
from tests.conftest import ingest_paths
from tests.documents import lines, runs_in_store
from tests.test_codex import (
    STARTED,
    at,
    completed,
    counts,
    event,
    meta,
    thread,
    tokens,
    turn,
    usage,
    uuid7,
)

MAIN, CHILD, GRANDCHILD = (
    uuid7(STARTED, 1),
    uuid7(STARTED + timedelta(seconds=100), 2),
    uuid7(STARTED + timedelta(seconds=300), 3),
)
CLASSES = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)

Line = dict[str, Any]


def found_in(text: str) -> list[Read]:
    readers, facts_of = SourceReaders(), SourceContext().for_run
    documents = [part for part in read(Source("log", text.encode())) if isinstance(part, Document)]
    found = [
        *(one for document in documents for one in runs_with(readers, document, facts_of) or ()),
        *runs_at_end(readers, facts_of)[0],
    ]
    return [one for one in found if isinstance(one, Read)]


def responses_in(text: str) -> list[dict[str, Any]]:
    """The responses of the one run in a text. By model, they add up to the tokens of the run."""
    [found] = found_in(text)
    rows = [
        dict(zip(RESPONSE_COLUMNS, values, strict=True)) for values in found.rows.response_copies
    ]
    models = Run.model_validate_json(found.rows.run.raw).models
    assert summed(rows) == {
        model.model_id: sums for model in models if any(sums := tokens_of(model))
    }
    assert [row["response_no"] for row in rows] == list(range(len(rows)))
    assert {row["session_id"] for row in rows} <= {found.rows.run.run_id}
    return rows


def summed(rows: list[dict[str, Any]]) -> dict[str | None, tuple[int, ...]]:
    return {
        model: tuple(
            sum(row[name] or 0 for row in rows if row["model_id"] == model) for name in CLASSES
        )
        for model in {row["model_id"] for row in rows}
    }


def tokens_of(model: ModelUse) -> tuple[int, ...]:
    return tuple(getattr(model, name) or 0 for name in CLASSES)


def merged(*texts: str) -> list[dict[str, Any]]:
    """The responses of several files, each once, as the first file tells it."""
    rows = [row for text in texts for row in responses_in(text)]
    return list({row["message_id"]: row for row in reversed(rows)}.values())


def told(rows: list[dict[str, Any]]) -> list[tuple[int, int, int]]:
    """Uncached input, cache reads and output of each response."""
    return [(row["input_tokens"], row["cache_read_tokens"], row["output_tokens"]) for row in rows]


def count(
    seconds: float, *, total: dict[str, int] | None = None, last: dict[str, int] | None = None
) -> Line:
    info = {
        "total_token_usage": total and usage(**total),
        "last_token_usage": last and usage(**last),
    }
    return event(seconds, {"type": "token_count", "info": info})


def context(seconds: float, model: str | None = "gpt-5", turn_id: str | None = None) -> Line:
    return event(
        seconds, {"model": model, "turn_id": turn_id, "approval_policy": "never"}, "turn_context"
    )


def call(seconds: float, call_id: str, name: str = "shell") -> Line:
    return event(
        seconds, {"type": "function_call", "name": name, "call_id": call_id}, "response_item"
    )


def output(seconds: float, call_id: str, text: str) -> Line:
    return event(
        seconds,
        {"type": "function_call_output", "call_id": call_id, "output": text},
        "response_item",
    )


def opaque(seconds: float, number: int, total: int, **more: Any) -> list[Line]:
    """A turn with an id that tells no time, and one response."""
    began = event(seconds, {"type": "task_started", "turn_id": f"turn-{number}"} | more)
    return [
        began,
        context(seconds, turn_id=f"turn-{number}"),
        tokens(seconds + 1, uncached=total, output=number),
    ]


def copied(seconds: float, *events: Line) -> list[Line]:
    """The lines as a fork repeats them: at the time of the fork."""
    return [line | {"timestamp": at(seconds + number / 10)} for number, line in enumerate(events)]


def test_a_growth_of_the_totals_is_a_response() -> None:
    first = [
        call(2, "a"),
        output(3, "a", "Exit code: 1\nOutput:\n"),
        call(3, "b", "apply_patch"),
        tokens(4, uncached=10, read=90, output=5),
    ]
    second = [
        call(5, "c"),
        output(6, "c", "Exit code: 0\n"),
        tokens(7, uncached=15, read=190, output=9, reasoning=3),
    ]
    turn_id = uuid7(STARTED, 9)
    rows = responses_in(
        lines(
            meta(MAIN),
            context(1, "gpt-5.5", turn_id),
            *first,
            context(4.5, "gpt-5.4-mini", turn_id),
            *second,
        )
    )
    assert told(rows) == [(10, 90, 5), (5, 100, 4)]
    assert [row["message_id"] for row in rows] == [f"{MAIN}/{turn_id}/1", f"{MAIN}/{turn_id}/2"]
    assert [(row["model_id"], row["provider"], row["at"]) for row in rows] == [
        ("gpt-5.5", "openai", STARTED + timedelta(seconds=4)),
        ("gpt-5.4-mini", "openai", STARTED + timedelta(seconds=7)),
    ]
    assert [(row["tools"], row["failed_tools"]) for row in rows] == [
        (("shell", "apply_patch"), ("shell",)),
        (("shell",), ()),
    ]
    assert rows[1]["reasoning_tokens"] == 3
    for row in rows:
        assert (
            row["agent_id"],
            row["is_sidechain"],
            row["tokens_basis"],
            row["output_is_final"],
        ) == (None, False, "exact", True)


MODELS = st.sampled_from(("gpt-5", "gpt-5.5"))
REQUESTS = st.lists(
    st.tuples(
        st.integers(1, 10**6),
        st.integers(0, 10**6),
        st.integers(0, 10**5),
        st.integers(1, 3),
        MODELS,
    ),
    min_size=1,
    max_size=8,
)


def rollout_of(requests: list[tuple[int, int, int, int, str]]) -> list[Line]:
    """A session of these requests: (uncached, read, output, times its total is written, model)."""
    uncached = read = written = 0
    events = [meta(MAIN)]
    for number, (more, cached, out, times, model) in enumerate(requests):
        uncached, read, written = uncached + more, read + cached, written + out
        events += [
            context(number, model, uuid7(STARTED, 10 + number // 2)),
            call(number, f"c{number}"),
        ]
        events += [tokens(number, uncached=uncached, read=read, output=written)] * times
    return events


@given(REQUESTS)
def test_repeated_totals_add_nothing(requests: list[tuple[int, int, int, int, str]]) -> None:
    rows = responses_in(lines(*rollout_of(requests)))
    assert told(rows) == [(more, cached, out) for more, cached, out, _, _ in requests]
    assert len({row["message_id"] for row in rows}) == len(requests)


@pytest.mark.slow
@given(REQUESTS, st.integers(2, 60))
def test_a_rollout_cut_anywhere_has_the_first_responses_of_the_whole(
    requests: list[tuple[int, int, int, int, str]], cut: int
) -> None:
    """So an archived copy and an older active one name the same responses alike."""
    events = rollout_of(requests)
    whole, part = responses_in(lines(*events)), responses_in(lines(*events[:cut]))
    assert part == whole[: len(part)]


TOTALS: dict[str, tuple[list[Line], list[tuple[int, int, int]]]] = {
    "totals only": (
        [count(1, total={"uncached": 9}), count(2, total={"uncached": 9, "read": 90})],
        [(9, 0, 0), (0, 90, 0)],
    ),
    "requests only": (
        [count(1, last={"uncached": 9, "output": 1}), count(2, last={"uncached": 5})],
        [(9, 0, 1), (5, 0, 0)],
    ),
    "a lost line": (
        [
            count(1, total={"uncached": 5}, last={"uncached": 5}),
            count(2, total={"uncached": 30}, last={"uncached": 9}),
        ],
        [(5, 0, 0), (25, 0, 0)],
    ),
    "no counts": (
        [event(1, {"type": "token_count", "info": None}), count(2, total={"uncached": 10})],
        [(10, 0, 0)],
    ),
    "an empty request": (
        [count(1, total={"uncached": 10}), count(2, total={"uncached": 10}, last={"uncached": 0})],
        [(10, 0, 0)],
    ),
    "a fall": (
        [
            count(1, total={"uncached": 99, "output": 9}),
            count(2, total={"uncached": 2, "output": 3}),
        ],
        [(99, 0, 9), (2, 0, 3)],
    ),
    "a fall of output": (
        [
            count(1, total={"uncached": 10, "output": 9}),
            count(2, total={"uncached": 50, "output": 3}),
        ],
        [(10, 0, 9), (50, 0, 3)],
    ),
    "one second": (
        [count(1, total={"uncached": 10}), count(1, total={"uncached": 20})],
        [(10, 0, 0), (10, 0, 0)],
    ),
    "more cached than given": ([count(1, total={"uncached": -20, "read": 50})], [(0, 30, 0)]),
}


@pytest.mark.parametrize(("events", "right"), TOTALS.values(), ids=TOTALS)
def test_totals_are_the_truth(events: list[Line], right: list[tuple[int, int, int]]) -> None:
    assert told(responses_in(lines(meta(MAIN), context(0), *events))) == right
    rows = responses_in(lines(meta(MAIN, model_provider=None), *events))
    assert {(row["model_id"], row["model"], row["provider"]) for row in rows} == {
        (None, None, None)
    }, "without a model they are kept, too"


@pytest.mark.parametrize(
    "stamp", [int(STARTED.timestamp()) + 5, (int(STARTED.timestamp()) + 5) * 1000]
)
def test_times_are_numbers_and_json_has_spaces(stamp: int) -> None:
    text = "".join(
        json.dumps(line | {"timestamp": stamp}) + "\n"
        for line in (meta(MAIN), context(1), tokens(2, uncached=7))
    )
    [row] = responses_in(text)
    assert row["at"] == STARTED + timedelta(seconds=5)
    [found] = found_in(text)
    assert found.rows.run.ended_at == datetime.fromtimestamp(STARTED.timestamp() + 5, UTC)


def test_equal_sessions_stay_two() -> None:
    """Even with equal ids of turns."""
    turn_id = uuid7(STARTED, 9)
    one, two = (
        lines(meta(session), context(1, turn_id=turn_id), tokens(2, uncached=10, output=3))
        for session in (MAIN, uuid7(STARTED, 2))
    )
    assert told(merged(one, two)) == [(10, 0, 3)] * 2


@pytest.mark.parametrize("told_by", ["task_started", "turn_context"])
@pytest.mark.parametrize(
    "more",
    [
        {"forked_from_id": MAIN},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": MAIN}}}},
    ],
)
@pytest.mark.parametrize("embedded", [True, False])
def test_copied_turns_are_not_the_childs(
    told_by: str, more: dict[str, Any], embedded: bool
) -> None:
    """Forks and sub-agents, over several seconds, with and without the first line of the parent.

    What is older is inherited.
    """
    old = turn(1, uncached=100, read=900, output=50)[0 if told_by == "task_started" else 1 :]
    old.append(call(60, "not answered", "spawn_agent"))
    own = turn(200, uncached=130, read=1000, output=60)
    for line in old + own:
        if line["type"] == "turn_context":
            line["payload"]["turn_id"] = uuid7(datetime.fromisoformat(line["timestamp"]))
    rows = responses_in(
        lines(
            meta(CHILD, 100, **more), *copied(100, *([meta(MAIN)] if embedded else []), *old), *own
        )
    )
    assert told(rows) == [(30, 100, 10)]
    assert (rows[0]["tools"], rows[0]["tokens_basis"]) == (("shell",), "exact")
    is_subagent = "source" in more
    assert (rows[0]["agent_id"], rows[0]["is_sidechain"]) == (
        (CHILD, True) if is_subagent else (None, False)
    )


@pytest.mark.parametrize("parent_goes_on", [False, True])
def test_copies_that_cannot_be_told_apart_have_the_names_of_the_parents(
    parent_goes_on: bool,
) -> None:
    """Beside its parent a fork then counts once; each goes on with a turn of the same name.

    A fork of the fork does so too.
    """
    history = [*opaque(1, 1, 100), *opaque(10, 2, 150)]
    later = opaque(400, 3, 900) if parent_goes_on else []
    parent = lines(meta(MAIN), *history, *later)
    forked = [
        meta(CHILD, 100, forked_from_id=MAIN),
        *copied(100, meta(MAIN), *history),
        *opaque(200, 3, 180),
    ]
    again = lines(
        meta(GRANDCHILD, 300, forked_from_id=CHILD), *copied(300, *forked), *opaque(350, 4, 185)
    )
    own = [(750, 0, 1)] if parent_goes_on else []
    rows = merged(parent, lines(*forked), again)
    assert sorted(told(rows)) == sorted([(100, 0, 1), (50, 0, 1), *own, (30, 0, 1), (5, 0, 1)])
    assert [row["tokens_basis"] for row in responses_in(lines(*forked))] == ["upper_bound"] * 3


@pytest.mark.parametrize("is_fork", [True, False])
def test_an_old_start_of_a_turn_is_a_sign_of_a_copy_in_a_fork(is_fork: bool) -> None:
    """A sub-agent that does not say that it is a fork may have another clock.

    Then all counts, as an upper bound.
    """
    events = opaque(100, 1, 100, started_at=STARTED.timestamp())
    if is_fork:
        events += opaque(200, 2, 110, started_at=STARTED.timestamp() + 200)
    [row] = responses_in(
        lines(
            meta(CHILD, 100, **{"forked_from_id" if is_fork else "parent_thread_id": MAIN}), *events
        )
    )
    assert (row["input_tokens"], row["tokens_basis"]) == (
        (10, "exact") if is_fork else (100, "upper_bound")
    )


def test_a_fork_without_the_totals_of_its_parent_goes_on_with_them() -> None:
    own = [
        context(200, turn_id=uuid7(STARTED + timedelta(seconds=200))),
        count(201, total={"uncached": 130}, last={"uncached": 30}),
    ]
    assert told(responses_in(lines(meta(CHILD, 100, forked_from_id=MAIN), *own))) == [(30, 0, 0)]


def page(session: str, seconds: float, *own: Line, base: str | None = None, **more: Any) -> str:
    """A file that continues another one, without a copy of its lines."""
    history = {"thread_id": base or session, "end_ordinal_exclusive": 8, "end_byte_offset": 3107}
    return lines(
        meta(session, seconds, history_mode="paginated", history_base=history, **more), *own
    )


def asked(
    seconds: float, turn_seconds: float, total: dict[str, int], last: dict[str, int]
) -> list[Line]:
    """A request of the turn that began at `turn_seconds`."""
    return [
        context(seconds, turn_id=uuid7(STARTED + timedelta(seconds=turn_seconds))),
        count(seconds, total=total, last=last),
    ]


FIRST = [
    *asked(10, 9, {"uncached": 10}, {"uncached": 10}),
    *asked(11, 9, {"uncached": 20, "read": 10}, {"uncached": 10, "read": 10}),
    *asked(20, 19, {"uncached": 25, "read": 30}, {"uncached": 5, "read": 20}),
]


def test_a_thread_that_was_reverted_goes_on_in_another_file_with_the_total_before_the_turn() -> (
    None
):
    later = asked(90, 89, {"uncached": 27, "read": 40}, {"uncached": 7, "read": 30})
    assert sorted(told(merged(lines(meta(MAIN), *FIRST), page(MAIN, 88, *later)))) == [
        (5, 20, 0),
        (7, 30, 0),
        (10, 0, 0),
        (10, 10, 0),
    ]
    [first, second] = found_in(lines(meta(MAIN), *FIRST) + page(MAIN, 88, *later))
    assert (first.rows.run.input_tokens, second.rows.run.input_tokens) == (25, 7), "in one log, too"


def test_the_next_page_of_a_thread_may_begin_within_a_turn() -> None:
    """Its responses are numbered anew; the turn is older than the page, and yet no copy."""
    later = asked(90, 19, {"uncached": 26, "read": 70}, {"uncached": 1, "read": 40})
    again = asked(99, 19, {"uncached": 28, "read": 80}, {"uncached": 2, "read": 10})
    texts = (
        lines(meta(MAIN), *FIRST),
        page(MAIN, 88, *later),
        page(MAIN, 98, *again, base=GRANDCHILD),
    )
    assert sorted(told(merged(*texts))) == sorted(
        [(10, 0, 0), (10, 10, 0), (5, 20, 0), (1, 40, 0), (2, 10, 0)]
    )


@pytest.mark.parametrize("inherited", [20, 0])
@pytest.mark.parametrize("more", [{"forked_from_id": MAIN}, {"parent_thread_id": MAIN}])
def test_a_fork_by_reference_has_only_its_own(inherited: int, more: dict[str, str]) -> None:
    """Whether its counter goes on or begins anew."""
    own = [
        *asked(201, 200, {"uncached": inherited + 3, "output": 1}, {"uncached": 3, "output": 1}),
        *asked(202, 200, {"uncached": inherited + 7, "output": 3}, {"uncached": 4, "output": 2}),
    ]
    rows = responses_in(page(CHILD, 100, *own, base=MAIN, **more))
    assert (told(rows), {row["tokens_basis"] for row in rows}) == (
        [(3, 0, 1), (4, 0, 2)],
        {"exact"},
    )


@pytest.mark.parametrize("record_first", [True, False, None])
def test_a_later_part_may_begin_with_the_last_request_of_the_file_before(
    record_first: bool | None,
) -> None:
    """A turn begins with an update of the rate limits, which repeats it.

    Where responses are recorded, the repeated one is not.
    """
    repeated = asked(89, 88, {"uncached": 20, "read": 10}, {"uncached": 10, "read": 10})
    own = asked(90, 88, {"uncached": 27, "read": 40}, {"uncached": 7, "read": 30})
    recorded = [] if record_first is None else [record(90, "r9", uncached=7, read=30)]
    own = [*own, *recorded] if record_first is False else [*recorded, *own]
    rows = responses_in(page(MAIN, 88, *repeated, *own))
    assert told(rows) == ([(10, 10, 0)] if record_first is None else []) + [(7, 30, 0)]
    assert told(responses_in(page(MAIN, 88, *own))) == [(7, 30, 0)]


def test_records_of_usage_alone_count_on_every_page() -> None:
    def one(seconds: float, total: int) -> list[Line]:
        used = {"thread_token_usage": usage(uncached=total)}
        line = event(seconds, {"usage": usage(uncached=10)} | used, "token_usage_record")
        return [context(seconds, turn_id=uuid7(STARTED)), line]

    assert (
        told(merged(lines(meta(MAIN), *one(1, 10)), page(MAIN, 50, *one(51, 20))))
        == [(10, 0, 0)] * 2
    )


def test_a_reverted_thread_is_one_run_with_its_last_end(store: Store, tmp_path: Path) -> None:
    first = lines(
        meta(MAIN),
        *turn(1, uncached=10, read=90, output=5),
        *turn(50, uncached=20, read=190, output=9),
    )
    own = turn(100, uncached=17, read=100, output=11)
    own[3]["payload"]["call_id"] = "another"
    own[4]["payload"]["info"]["last_token_usage"] = own[5]["payload"]["info"][
        "last_token_usage"
    ] = usage(uncached=7, read=10, output=6)
    own[6]["payload"]["last_agent_message"] = "It is 3x faster."
    own[2]["payload"]["message"] = "No, otherwise."
    for name, text in {"b": page(MAIN, 99, *own), "a": first}.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
        ingest_paths(store, tmp_path / f"{name}.jsonl")
    [run] = runs_in_store(store)
    assert (counts(run), run["responses"], run["tokens_basis"]) == ((27, 200, 15), 3, "exact")
    assert (run["claimed_speedup"], run["prompt"]) == (3, "Make it faster.")
    assert (run["started_at"], run["ended_at"]) == (
        STARTED.replace(microsecond=0),
        STARTED + timedelta(seconds=103),
    )


@pytest.mark.parametrize("order", ["abc", "cab", "bca", "cba"])
def test_of_several_revisions_the_newest_is_the_end(
    order: str, store: Store, tmp_path: Path
) -> None:
    """Even a short one; of one revision the longest file."""

    def revised(seconds: float, *replies: str) -> str:
        own: list[Line] = []
        for number, reply in enumerate(replies):
            one = turn(seconds + 10 * number, uncached=17 + number, read=100, output=11)
            one[6]["payload"]["last_agent_message"] = reply
            own += one
        return page(MAIN, seconds, *own)

    texts = {
        "a": revised(100, "It is 2x faster.", "It is 3x faster.", "It is 4x faster."),
        "b": revised(200, "It is 5x faster."),
        "c": revised(200, "It is 5x faster.", "It is 6x faster."),
    }
    for name in order:
        (tmp_path / f"{name}.jsonl").write_text(texts[name])
        ingest_paths(store, tmp_path / f"{name}.jsonl")
    [run] = runs_in_store(store)
    assert (run["claimed_speedup"], run["ended_at"]) == (6, STARTED + timedelta(seconds=213))


@pytest.mark.parametrize("first", [4, "4"])
def test_a_subagent_says_which_line_is_its_first(first: int | str) -> None:
    child = meta(CHILD, 100, parent_thread_id=MAIN, subagent_history_start_ordinal=first)
    events = [child, *copied(100, *opaque(1, 1, 100)), *opaque(200, 2, 130)]
    rows = responses_in(lines(*(line | {"ordinal": number} for number, line in enumerate(events))))
    assert [(row["input_tokens"], row["tokens_basis"]) for row in rows] == [(30, "exact")]


def record(seconds: float, response_id: str, **used: int) -> Line:
    return event(
        seconds, {"response_id": response_id, "usage": usage(**used)}, "token_usage_record"
    )


def compaction(seconds: float, response_id: str) -> Line:
    return event(seconds, {"message": "", "compaction_response_id": response_id}, "compacted")


@pytest.mark.parametrize("record_first", [True, False])
def test_a_record_of_usage_repeats_the_totals(record_first: bool) -> None:
    pairs = [[record(1, "r1", uncached=10, output=2), tokens(1.1, uncached=10, output=2)]]
    pairs += [[record(2, "r2", uncached=5, output=3), tokens(2.1, uncached=15, output=5)]]
    events = [line for pair in pairs for line in (pair if record_first else reversed(pair))]
    assert told(responses_in(lines(meta(MAIN), context(0), *events))) == [(10, 0, 2), (5, 0, 3)]


def test_messages_are_items_since_0_151() -> None:
    def item(seconds: float, kind: str, *texts: str) -> Line:
        content = [
            {"type": "image", "image_url": "data:"},
            *({"type": "text", "text": text} for text in texts),
        ]
        return event(
            seconds,
            {"type": "item_completed", "item": {"type": kind, "id": "i", "content": content}},
        )

    started = event(1, {"type": "task_started", "turn_id": uuid7(STARTED)})
    log = [
        meta(MAIN),
        started,
        item(2, "UserMessage", "Make it", "faster."),
        item(3, "AgentMessage", "It is 2x faster."),
        tokens(4, uncached=9),
    ]
    [found] = found_in(
        lines(*log, item(5, "Reasoning"), event(6, {"type": "item_completed", "item": 3}))
    )
    assert (found.rows.run.prompt, found.rows.run.result) == (
        "Make it\nfaster.",
        "It is 2x faster.",
    )


def test_records_of_usage_count_where_there_are_no_totals() -> None:
    first, second = record(1, "r1", uncached=10, read=40), record(3, "r2", uncached=1, output=5)
    rows = responses_in(lines(meta(MAIN), context(0), call(1, "a"), first, first, second))
    assert (told(rows), [row["tools"] for row in rows]) == (
        [(10, 40, 0), (1, 0, 5)],
        [("shell",), ()],
    )


@pytest.mark.parametrize("behind", [{"uncached": 10}, {"uncached": 910, "output": 7}])
def test_the_request_of_a_compaction_counts_though_the_totals_leave_it_out(
    behind: dict[str, int],
) -> None:
    """Once, should they tell of it one day."""
    events = [
        record(1, "r1", uncached=10),
        tokens(1.1, uncached=10),
        record(2, "r2", uncached=900, output=7),
        compaction(2.1, "r2"),
    ]
    rows = responses_in(lines(meta(MAIN), context(0), *events, tokens(3, **behind)))
    assert (told(rows), rows[1]["message_id"]) == ([(10, 0, 0), (900, 0, 7)], "r2")
    before = [
        tokens(1, uncached=10),
        tokens(2, uncached=910),
        record(2.1, "r2", uncached=900),
        compaction(2.2, "r2"),
    ]
    assert told(responses_in(lines(meta(MAIN), context(0), *before))) == [
        (10, 0, 0),
        (900, 0, 0),
    ], "the totals told it before its record"


@pytest.mark.parametrize(
    ("item", "failed"),
    [
        ("Chunk ID: 8149ce\nWall time: 1.6 seconds\nProcess exited with code 1\nOutput:\n", True),
        (
            (
                "Chunk ID: 8149ce\nWall time: 1.6 seconds\nProcess exited with code "
                "0\nOutput:\nProcess exited with code 1"
            ),
            False,
        ),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\n", True),
        ('{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.2}}', True),
        ('{"output":"x","metadata":{"exit_code":0,"duration_seconds":0.2}}', False),
        ("apply_patch verification failed: Failed to find expected lines", True),
        ({"content": "x", "success": False}, True),
        ({"content": "x", "success": True}, False),
        ("Plan updated", False),
        ([{"type": "input_image"}], False),
    ],
)
def test_outputs_tell_failures(item: object, failed: bool) -> None:
    assert is_failure({"type": "function_call_output", "output": item}) is failed


@pytest.mark.parametrize(
    ("end", "failed"),
    [
        ({"success": False}, True),
        ({"success": True}, False),
        ({"exit_code": 3}, True),
        ({"exit_code": 0}, False),
        ({"result": {"Err": "x"}}, True),
    ],
)
def test_events_tell_failures(end: dict[str, Any], failed: bool) -> None:
    assert ended_badly(end) is failed
    ended = event(2, end | {"type": "exec_command_end", "call_id": "a"})
    for events in (
        [ended, tokens(3, uncached=1)],
        [tokens(3, uncached=1), ended],
    ):  # also behind its response
        [row] = responses_in(lines(meta(MAIN), call(1, "a"), *events))
        assert row["failed_tools"] == (("shell",) if failed else ())


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("suffix", PACKED)
def test_an_active_and_an_archived_copy_are_one_run(
    suffix: str, store: Store, tmp_path: Path
) -> None:
    """Of which one may have gone on."""
    events = [
        meta(MAIN),
        *turn(1, uncached=10, read=90, output=5),
        *turn(60, uncached=40, read=90, output=7),
    ]
    active, archived = lines(*events[:8]), lines(*events)
    assert [row["message_id"] for row in responses_in(active)] == [
        row["message_id"] for row in responses_in(archived)
    ][:1]
    (tmp_path / f"archived.jsonl{suffix}").write_bytes(PACKED[suffix](archived.encode()))
    (tmp_path / "active.jsonl").write_text(active)
    ingest_paths(store, *tmp_path.iterdir())
    [run] = runs_in_store(store)
    assert counts(run) == (40, 90, 7)


def test_a_stream_of_exec_has_no_responses() -> None:
    """Its figures are those of turns; a rollout of its thread beside it tells of the responses."""
    [found] = found_in(thread(completed(uncached=10, read=90, output=5)))
    assert found.rows.response_copies == ()
