"""Streams of Claude Code.

What their events say about the records among them, and streams that end without a result.
"""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agents.claude_code.stream import SESSIONS_KEPT, StreamContext
from ingest.agents.shared.runs import CALLS_KEPT, OTHER_TOOLS, TOOLS_KEPT, canonical_hash
from ingest.facts import Facts
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from tests.claude_lines import SESSION, in_session, reply, usage, user
from tests.conftest import Run, ingest_paths, record
from tests.documents import ingested, lines, read_log, rejects_of, runs_in_store

INIT = {
    "type": "system",
    "subtype": "init",
    "cwd": "/srv/app",
    "session_id": "s1",
    "tools": ["Read", "Bash"],
    "model": "claude-opus-4-6[1m]",
    "permissionMode": "acceptEdits",
    "claude_code_version": "2.1.85",
}


def call(
    identity: str | None, tool: str, session: str | None = "s1", **more: Any
) -> dict[str, Any]:
    return {
        "type": "assistant",
        "session_id": session,
        "message": {"content": [{"type": "tool_use", "id": identity, "name": tool}]},
    } | more


def answer(
    identity: str, *, is_error: Any = None, session: str | None = "s1", **more: Any
) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": identity, "is_error": is_error, "content": "…"}
    return {"type": "user", "session_id": session, "message": {"content": [block]}} | more


def fed(*events: dict[str, Any]) -> StreamContext:
    context = StreamContext()
    for event in events:
        context.see(event)
    return context


def at(second: int) -> datetime:
    return datetime(2026, 5, 11, 6, 34, second, tzinfo=UTC)


def stamp(second: int) -> str:
    return f"2026-05-11T06:34:{second:02}.000Z"


def test_a_stream_tells_what_its_record_does_not() -> None:
    context = fed(
        INIT,
        call("t1", "Bash"),
        answer("t1", is_error=True, timestamp=stamp(5)),
        call("t2", "Read", parent_tool_use_id="t0"),
        answer("t2", timestamp=stamp(53)),
    )
    assert context.at_result("s1") == Facts(
        agent_version="2.1.85",
        requested_model="claude-opus-4-6[1m]",
        cwd="/srv/app",
        permission_mode="acceptEdits",
        tools=("Read", "Bash"),
        started_at=at(5),
        ended_at=at(53),
        in_stream=True,
        tool_calls=(("Bash", 1, 1), ("Read", 1, 0)),
        part_ids=(canonical_hash({"stream": INIT, "session": "s1"}),),
    )


def test_what_is_no_event_of_the_stream() -> None:
    """A JSON schema that was printed into a log; and the record itself, though its time counts."""
    assert fed({"type": "object", "properties": {}}).at_result("s1").in_stream is False
    facts = fed({"type": "result", "session_id": "s1", "timestamp": stamp(7)}).at_result("s1")
    assert (facts.in_stream, facts.ended_at) == (False, at(7))


def test_counts_and_times_start_anew_with_each_result_and_init_stays() -> None:
    """Until a later init overrules it field by field."""
    context = fed(INIT, call("t1", "Bash", timestamp=stamp(1)))
    assert context.at_result("s1").tool_calls == (("Bash", 1, 0),)
    context.see(call("t2", "Edit", timestamp=stamp(9)))
    second = context.at_result("s1")
    assert (second.tool_calls, second.started_at, second.ended_at) == (
        (("Edit", 1, 0),),
        at(9),
        at(9),
    )
    assert (second.requested_model, second.in_stream) == ("claude-opus-4-6[1m]", True)
    context.see(
        {"type": "system", "subtype": "init", "session_id": "s1", "model": "haiku", "tools": []}
    )
    third = context.at_result("s1")
    assert (third.requested_model, third.cwd, third.tools) == (
        "haiku",
        "/srv/app",
        ("Read", "Bash"),
    )


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        (
            [
                call("t1", "Bash"),
                call("t1", "Bash"),
                answer("t1", is_error=True),
                answer("t1", is_error=True),
            ],
            (("Bash", 1, 1),),
        ),
        ([call(None, "Bash"), call(None, "Bash")], (("Bash", 2, 0),)),
        ([call("t1", "Bash"), {"type": "result"}, answer("t1", is_error=True)], ()),
        (
            [
                *(call(f"t{n}", "Bash") for n in range(3)),
                answer("t0", is_error="true"),
                answer("t1", is_error=False),
                answer("t2"),
            ],
            (("Bash", 3, 0),),
        ),
    ],
    ids=[
        "repeated by streaming",
        "without an id",
        "an answer behind the result",
        "only true is an error",
    ],
)
def test_tool_calls(events: list[dict[str, Any]], calls: Any) -> None:
    context = StreamContext()
    for event in events:
        if event["type"] == "result":
            context.at_result("s1")
        else:
            context.see(event)
    assert context.at_result("s1").tool_calls == calls


def test_sessions_are_kept_apart() -> None:
    """A bare record is in no stream, and one of another session takes nothing away.

    Without a session it is of the last one.
    """
    assert StreamContext().at_result("s1") == Facts()
    context = fed(
        INIT,
        call("t1", "Bash"),
        call("t1", "Read", session="s2"),
        INIT | {"session_id": "s2", "model": "haiku"},
    )
    assert context.at_result("s3") == Facts()
    assert (context.at_result("s1").requested_model, context.at_result("s2").requested_model) == (
        "claude-opus-4-6[1m]",
        "haiku",
    )
    assert fed(INIT).at_result(None).cwd == "/srv/app"
    saved = fed({"type": "user", "sessionId": "s1", "timestamp": stamp(3)})
    assert saved.at_result("s1").started_at == at(3), (
        "saved transcripts name the session in camel case"
    )


def test_events_without_a_session_belong_to_any() -> None:
    context = fed(
        {key: value for key, value in INIT.items() if key != "session_id"},
        call("t1", "Bash", session=None),
    )
    facts = context.at_result("s9")
    assert (facts.in_stream, facts.cwd, facts.tool_calls) == (True, "/srv/app", (("Bash", 1, 0),))


@pytest.mark.parametrize(
    ("timestamp", "time"),
    [
        ("2026-05-11T06:34:05Z", at(5)),
        ("2026-05-11T08:34:05+02:00", at(5)),
        ("2026-05-11T06:34:05", at(5)),
        (1778481245, at(5)),
        (1778481245000, at(5)),
        ("1970-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("yesterday", None),
        (float("nan"), None),
        (True, None),
        (10**400, None),
        ({"seconds": 5}, None),
    ],
)
def test_timestamps(timestamp: object, time: datetime | None) -> None:
    assert (
        fed({"type": "user", "session_id": "s1", "timestamp": timestamp}).at_result("s1").started_at
        == time
    )


@pytest.mark.parametrize("bad", [None, 7, "x", [], {}, ["\ud800"], [[[]]], "\ud800"])
def test_damaged_init_fields_are_not_known(bad: object) -> None:
    """A lone surrogate in a name would refuse the whole row later on."""
    facts = fed(
        {"type": "system", "subtype": "init", "session_id": "s1"}
        | dict.fromkeys(("tools", "model", "claude_code_version"), bad)
    )
    found = facts.at_result("s1")
    assert found.in_stream
    assert all(name.encode() for name in (*found.tools, found.requested_model or "?"))


@pytest.mark.slow
def test_memory_is_bounded_by_hostile_streams() -> None:
    """Ids, sessions and tool names without end: each is capped, and calls are still counted."""
    tracemalloc.start()
    context = StreamContext()
    for number in range(8 * CALLS_KEPT):
        context.see(call(f"t{number}", f"tool{number}", session="s1"))
        context.see({"type": "user", "session_id": f"session{number}"})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
    assert len(context._sessions) <= SESSIONS_KEPT
    assert sum(calls for _, calls, _ in context.at_result("s1").tool_calls) == 8 * CALLS_KEPT


def test_tools_beyond_the_limit_are_counted_together() -> None:
    facts = fed(
        *(call(f"t{number}", f"tool{number}") for number in range(TOOLS_KEPT + 10)),
        call("last", "x" * 10_000),
    ).at_result("s1")
    assert len(facts.tool_calls) == TOOLS_KEPT + 1
    assert (OTHER_TOOLS, 11, 0) in facts.tool_calls
    assert sum(calls for _, calls, _ in facts.tool_calls) == TOOLS_KEPT + 11


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.text(st.characters(categories=["Cs"]), max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
WORDS = st.sampled_from(
    [
        "system",
        "assistant",
        "user",
        "result",
        "init",
        "tool_use",
        "tool_result",
        "s1",
        "t1",
        "Bash",
        stamp(1),
    ]
)
NAMES = (
    "type subtype session_id sessionId timestamp message content id name tool_use_id is_error "
    "model tools"
)
FIELDS = st.sampled_from(NAMES.split())
HOSTILE = st.recursive(
    JSON | WORDS | st.just(value=True),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner),
    max_leaves=12,
)
EVENTS = st.dictionaries(FIELDS | st.text(max_size=8), HOSTILE, max_size=8)


@pytest.mark.slow
@given(st.lists(EVENTS, max_size=8), st.none() | st.text(max_size=3) | st.just("s1"))
def test_no_event_ever_raises(events: list[dict[str, Any]], session_id: str | None) -> None:
    facts = fed(*events).at_result(session_id)
    assert all(errors is not None and errors <= calls for _, calls, errors in facts.tool_calls)
    json.dumps([facts.tools, facts.tool_calls, facts.cwd], ensure_ascii=False).encode()


@given(
    st.lists(
        st.tuples(st.sampled_from(["s1", "s2", "s3"]), st.sampled_from(["Bash", "Read"])),
        max_size=20,
    )
)
def test_interleaved_sessions_count_as_if_alone(drawn: list[tuple[str, str]]) -> None:
    events = [call(str(number), tool, session) for number, (session, tool) in enumerate(drawn)]
    together = fed(*events)
    for session in ("s1", "s2", "s3"):
        alone = fed(*(event for event in events if event["session_id"] == session))
        assert together.at_result(session) == alone.at_result(session)


def test_a_time_in_front_of_an_event_counts_where_the_event_has_none() -> None:
    stream = StreamContext()
    stream.see({"type": "user", "session_id": "s1"}, at(5))
    stream.see({"type": "user", "session_id": "s1", "timestamp": stamp(7)}, at(1))
    facts = stream.at_result("s1", at(9))
    assert (facts.started_at, facts.ended_at) == (at(5), at(9))
    alone = StreamContext().at_result("s1", at(9))
    assert (alone.started_at, alone.ended_at, alone.in_stream) == (None, at(9), False)


SONNET = "claude-sonnet-4-6"


def init(number: int = 1, session: str = SESSION, **changes: Any) -> dict[str, Any]:
    told = {
        "cwd": "/srv/shop",
        "tools": ["Bash"],
        "mcp_servers": [],
        "model": SONNET,
        "permissionMode": "default",
    }
    own = {"claude_code_version": "2.1.221", "uuid": f"init-{number}"}
    event = {"type": "system", "subtype": "init", "session_id": session} | told | own | changes
    return {name: value for name, value in event.items() if value is not ...}


def says(
    message: str, output: int = 7, read: int = 1000, session: str = SESSION, **changes: Any
) -> dict[str, Any]:
    """An event of a response: one line for each block, with the output count of its beginning."""
    used = {
        "input_tokens": 3,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": 100,
    }
    content = [{"type": "text", "text": f"This is {message}."}]
    body = {
        "id": message,
        "model": SONNET,
        "role": "assistant",
        "content": content,
        "stop_reason": None,
        "usage": used,
    }
    return {
        "type": "assistant",
        "message": body,
        "session_id": session,
        "parent_tool_use_id": None,
        "uuid": f"of-{message}",
    } | changes


def ends(number: int, read: int, cost: float, **changes: Any) -> dict[str, Any]:
    """The result of a process that used so many tokens from the cache."""
    used = {
        "inputTokens": 90,
        "outputTokens": 4000,
        "cacheReadInputTokens": read,
        "cacheCreationInputTokens": 900,
        "costUSD": cost,
    }
    main = {
        "input_tokens": 9,
        "output_tokens": 3000,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": 900,
    }
    told = {
        "uuid": f"r{number}",
        "session_id": SESSION,
        "total_cost_usd": cost,
        "modelUsage": {SONNET: used},
        "usage": main,
    }
    return record(**told | changes)


CUT = [
    init(),
    says("msg_a"),
    says("msg_a", 9),
    says("msg_b", 40, 2000),
    says("msg_c", 5, 500, parent_tool_use_id="toolu_1"),
]
WHOLE = [*CUT, says("msg_d", 8, 4000), ends(1, 7500, 0.5)]


def figures(store: Store) -> list[tuple[Any, ...]]:
    columns = ("outcome", "tokens_basis", "output_tokens", "cache_read_tokens", "num_turns")
    return [tuple(run[column] for column in columns) for run in runs_in_store(store)]


def found(store: Store) -> list[tuple[str, str]]:
    with store.reading() as connection:
        return connection.sql(
            "select rule, severity from findings where rule = 'cut_off' order by all"
        ).fetchall()


def as_array(events: list[dict[str, Any]], left_out: int) -> str:
    text = json.dumps(events, indent=1)
    return text[: len(text) - left_out]


def test_a_killed_stream_is_one_interrupted_run(store: Store, tmp_path: Path) -> None:
    """As lines, with noise between, as an array, whole or cut, and with a last line that is cut."""
    noisy = "npm warn deprecated {x}\n" + lines(*CUT).replace("\n", "\nError: (node) at foo {\n")
    texts = [
        lines(*CUT),
        noisy,
        as_array(CUT, 0),
        as_array(CUT, 2),
        lines(*CUT) + json.dumps(says("msg_z"))[:200],
    ]
    runs = ingested(
        store,
        tmp_path,
        **{f"log{number}": in_session(number, text) for number, text in enumerate(texts)},
    )
    assert figures(store) == [("interrupted", "lower_bound", 54, 3500, 2)] * 5
    for run in runs:
        assert (run["cost"], run["record_kind"], run["subagents"], run["result"]) == (
            None,
            "stream",
            1,
            "This is msg_b.",
        )
        assert run["cost_list_usd"] == Decimal(
            "0.003012"
        )  # 9 × 3 + 54 × 15 + 3500 × 0.3 + 300 × 3.75 dollars a million
    assert found(store) == [("cut_off", "warning")] * 5


def test_a_report_says_that_a_run_was_cut_off(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(lines(*CUT))
    tachograph("ingest", tmp_path / "log.jsonl")
    told = " ".join(tachograph("report").stdout.split())
    assert (
        "1 run was cut off before the result: tokens and cost are lower bounds, or not known "
        "(finding cut_off)."
    ) in told
    assert "incl. <1¢ lower bounds" in told


def piece(kind: str, agent: str | None = None, **told: Any) -> dict[str, Any]:
    return {
        "type": "stream_event",
        "event": {"type": kind} | told,
        "session_id": SESSION,
        "parent_tool_use_id": agent,
        "uuid": kind,
    }


@pytest.mark.parametrize("starts_with_zeros", [False, True])
def test_partial_messages_tell_the_whole_output(
    store: Store, tmp_path: Path, *, starts_with_zeros: bool
) -> None:
    """Some gateways tell what went in only at the end of a response."""
    begun, other = says("msg_a")["message"], says("msg_s", 2, 300)["message"]
    used = begun["usage"] | {"output_tokens": 480} if starts_with_zeros else {"output_tokens": 480}
    if starts_with_zeros:
        begun = begun | {"usage": dict.fromkeys(begun["usage"], 0)}
    delta: dict[str, Any] = {"delta": {"stop_reason": "tool_use"}, "usage": used}
    events = [
        init(),
        piece("message_start", message=begun),
        piece("message_start", "toolu_1", message=other),
        piece("message_delta", delta={}, usage={"output_tokens": 120}),
        piece("message_delta", **delta),
        says("msg_a") if not starts_with_zeros else piece("ping"),
    ]
    ingested(store, tmp_path, log=lines(*events))
    assert figures(store) == [("interrupted", "lower_bound", 482, 1300, 1)]


def test_tokens_that_no_response_tells_are_unknown(store: Store, tmp_path: Path) -> None:
    """Of an init alone, of a response without usage, and of one with zeros."""
    zeros = says("msg_a")["message"] | {"usage": {"input_tokens": 0, "output_tokens": 0}}
    streams = [
        [init()],
        [init(), says("msg_a") | {"message": {"id": "msg_a", "content": []}}],
        [init(), says("msg_a") | {"message": zeros}],
    ]
    ingested(
        store,
        tmp_path,
        **{
            f"log{number}": in_session(number, lines(*events))
            for number, events in enumerate(streams)
        },
    )
    assert figures(store) == [("interrupted", "unknown", None, None, None)] * 3


def test_events_of_an_unknown_agent_are_no_run_of_claude_code(store: Store, tmp_path: Path) -> None:
    of_qwen = says("1") | {
        "message": says("1")["message"]
        | {"usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}}
    }
    of_amp = says("msg_a", session="T-1")
    assert (
        ingested(
            store,
            tmp_path,
            one=lines(of_qwen),
            other=lines({"type": "system", "subtype": "init", "session_id": "s"}, of_amp),
        )
        == []
    )
    assert [reason for reason, _ in rejects_of(store)] == ["no_record"] * 2


TRANSCRIPT = lines(
    user("Make the shop faster."),
    *(
        reply(
            f"of-{name}",
            name,
            f"req_{name}",
            usage(output) | {"cache_read_input_tokens": read},
            second=second,
        )
        for second, (name, output, read) in enumerate(
            [("msg_a", 90, 1000), ("msg_b", 400, 2000), ("msg_d", 800, 4000)], 1
        )
    ),
)

FILES = {
    "stream then whole": (
        {"cut": lines(*CUT), "longer": lines(*WHOLE[:-1]), "whole": lines(*WHOLE)},
        [("completed", 4000, 7500)],
    ),
    "result by itself": (
        {"cut": lines(*CUT), "result": lines(WHOLE[-1])},
        [("completed", 4000, 7500)],
    ),
    "no id of the init": (
        {
            "begun": lines(init(uuid=...)),
            "cut": lines(init(uuid=...), *CUT[1:]),
            "whole": lines(init(uuid=...), *WHOLE[1:]),
        },
        [("completed", 4000, 7500)],
    ),
    "transcript": ({"cut": lines(*CUT), "transcript": TRANSCRIPT}, [("interrupted", 1295, 7500)]),
    "two cut, and a transcript": (
        {
            "cut": lines(*CUT),
            "again": lines(init(2), says("msg_d", 8, 4000), says("msg_e", 8, 100)),
            "transcript": TRANSCRIPT,
        },
        [("interrupted", 495, 3500), ("interrupted", 808, 4100)],
    ),
    "resumed": (
        {
            "cut": lines(*CUT),
            "again": lines(init(2), says("msg_n", 8, 9000), ends(2, 9000, 0.7)),
            "transcript": TRANSCRIPT,
        },
        [("interrupted", 495, 3500), ("completed", 4000, 9000)],
    ),
    "appended": (
        {
            "log": lines(
                *CUT,
                init(2),
                says("msg_n", 8, 9000),
                ends(2, 9000, 0.7),
                init(3),
                says("msg_o", 6, 300),
            )
        },
        [("interrupted", 6, 300), ("interrupted", 54, 3500), ("completed", 4000, 9000)],
    ),
    "one process that began twice": (
        {"log": lines(init(), init(2), *CUT[1:], says("msg_n", 8, 9000), ends(1, 12500, 0.7))},
        [("completed", 4000, 12500)],
    ),
    "a process that was killed, and one that resumed and used more": (
        {
            "begun": lines(*CUT, init(2), says("msg_n", 8, 9000)),
            "log": lines(*CUT, init(2), says("msg_n", 8, 9000), ends(1, 32500, 0.7)),
        },
        [("interrupted", 54, 3500), ("completed", 4000, 32500)],
    ),
}
"""Logs of one session → (outcome, output, tokens read from the cache) of its runs."""


@pytest.mark.slow
def test_a_stream_joins_what_tells_more_in_any_order(tmp_path: Path) -> None:
    """All of FILES together, each as a session of its own.

    At once, one after the other backwards, and rebuilt.
    """
    cases = [
        [(f"{place}-{file}.jsonl", in_session(place, text)) for file, text in texts.items()]
        for place, (texts, _) in enumerate(FILES.values())
    ]
    for name, text in (file for case in cases for file in case):
        (tmp_path / name).write_text(text)
    expected = {name: sorted(told) for name, (_, told) in FILES.items()}
    at_once, parts = Store(tmp_path / "at-once.duckdb"), Store(tmp_path / "parts.duckdb")
    ingest_paths(at_once, *(tmp_path / name for case in cases for name, _ in case))
    for turn in range(3):
        ingest_paths(parts, *(tmp_path / case[-1 - turn][0] for case in cases if turn < len(case)))
    whole = figures(at_once), found(at_once)
    for store in (at_once, parts):
        told: dict[str, list[tuple[Any, ...]]] = {name: [] for name in FILES}
        for run in runs_in_store(store):
            told[[*FILES][int(run["session_id"][-3:])]].append(
                (run["outcome"], run["output_tokens"], run["cache_read_tokens"])
            )
        assert {name: sorted(runs) for name, runs in told.items()} == expected
        assert (figures(store), found(store)) == whole
        with store.reading() as connection:
            sums = (
                "select sum(documents) - sum(accepted) - sum(duplicates) - sum(rejected) - "
                "sum(ignored), sum(accepted) from sources"
            )
            assert connection.sql(sums).fetchall() == [(0, sum(map(len, expected.values())))]
    rebuild(parts)
    assert (figures(parts), found(parts)) == whole


@pytest.mark.slow
def test_an_undone_result_leaves_the_stream_that_was_cut_off(store: Store, tmp_path: Path) -> None:
    before: list[list[tuple[Any, ...]]] = []
    for name, text in (("cut", lines(*CUT)), ("transcript", TRANSCRIPT), ("whole", lines(*WHOLE))):
        before.append(figures(store) if before else [])
        ingested(store, tmp_path, **{name: text})
    assert [row[0] for row in figures(store)] == ["completed"]
    for number in (3, 2):
        undo(store, number)
        assert figures(store) == before[number - 1]


def test_a_result_that_is_taken_for_that_of_a_cut_stream_says_so(
    store: Store, tmp_path: Path
) -> None:
    """Another process may have written it; one with fewer tokens certainly did."""
    ingested(
        store,
        tmp_path,
        cut=lines(*CUT),
        result=lines(ends(1, 7500, 0.5)),
        small=lines(ends(2, 2000, 0.1, uuid="r2")),
    )
    assert [(run["run_id"], run["output_tokens"]) for run in runs_in_store(store)] == [
        ("r1", 4000),
        ("r2", 4000),
    ]
    assert ("cut_off", "warning") in found(store)


WOKEN = {"origin": {"kind": "task-notification"}}
ANSWER = ends(1, 7500, 0.5, num_turns=20, duration_ms=60_000, result="Sorting is 3.2x faster.")
MORE = ends(2, 8000, 0.6, num_turns=1, duration_ms=3_000, result="Nothing new.", **WOKEN)


def test_what_follows_from_an_answer_is_of_its_run(store: Store, tmp_path: Path) -> None:
    """A background task woke the agent, twice.

    The first result and the last one may also have been saved apart, and come in any order.
    """
    last = ends(3, 9000, 0.7, num_turns=2, duration_ms=2_000, result="Still nothing.", **WOKEN)
    then = ends(4, 9900, 0.9, num_turns=5, result="The next prompt's answer.")
    stream = [
        init(),
        says("msg_a"),
        ANSWER,
        init(),
        says("msg_b"),
        MORE,
        last,
        init(),
        says("msg_c", read=300),
        then,
    ]
    texts = {"log": lines(*stream), "first": lines(*stream[:3]), "last": lines(last)}
    orders = [
        ("log",),
        ("first", "log"),
        ("log", "first"),
        ("log", "last"),
        ("last", "first", "log"),
    ]
    for turn in range(3):
        come = {
            f"log{place}_{turn}": in_session(place, texts[order[turn]])
            for place, order in enumerate(orders)
            if turn < len(order)
        }
        runs = ingested(store, tmp_path, **come)
    told = [
        (
            run["run_id"],
            run["cost"],
            run["cache_read_tokens"],
            run["num_turns"],
            run["duration_ms"],
            run["result"],
        )
        for run in runs
    ]
    for place in range(len(orders)):
        assert told[2 * place : 2 * place + 2] == [
            (f"{place}-r1", 0.7, 9000, 23, 65_000, "Sorting is 3.2x faster."),
            (f"{place}-r4", pytest.approx(0.2), 900, 5, 60_000, "The next prompt's answer."),
        ], orders[place]


@pytest.mark.parametrize(
    "changes",
    [{"origin": {"kind": "human"}}, {"origin": {"kind": "coordinator"}}, {"total_cost_usd": 0.1}],
)
def test_a_prompt_and_a_new_process_begin_a_run(changes: dict[str, Any]) -> None:
    assert len(read_log(lines(init(), ANSWER, MORE | changes))) == 2


def test_a_resumed_process_that_nobody_prompted_is_a_run_of_its_own(
    store: Store, tmp_path: Path
) -> None:
    """Its totals are larger, but they are what its own turn used: they began anew."""
    own = {
        "input_tokens": 90,
        "output_tokens": 4000,
        "cache_read_input_tokens": 9000,
        "cache_creation_input_tokens": 900,
    }
    woken = ends(2, 9000, 0.9, usage=own, origin={"kind": "auto-continuation"})
    runs = ingested(store, tmp_path, log=lines(*WHOLE, init(2), says("msg_e"), woken))
    assert [run["cost_own_usd"] for run in runs] == [Decimal("0.5"), Decimal("0.9")]


def test_usage_counts_a_process_that_resumed_the_session_of_a_cut_stream(
    tachograph: Run, tmp_path: Path
) -> None:
    """The responses of one process say nothing of the other.

    The record of that counts too, and nothing of it is outside a transcript.
    """
    (tmp_path / "cut.jsonl").write_text(lines(*CUT))
    (tmp_path / "resumed.json").write_text(json.dumps(ends(2, 100, 0.3)))
    tachograph("ingest", "cut.jsonl", "resumed.json")
    used = json.loads(tachograph("usage", "--by", "model", "--format", "json").stdout)
    runs = json.loads(tachograph("runs", "--format", "json").stdout)
    assert len(runs) == 2
    for column in ("output_tokens", "cache_read_tokens"):
        assert sum(row[column] for row in used) == sum(row[column] for row in runs) > 0
    assert sum(row["cost_reported_usd"] or 0 for row in used) == 0.3


def test_a_transcript_without_a_model_is_a_run(store: Store, tmp_path: Path) -> None:
    """Its findings are about no result record; a missing model name is no reason to lose it."""
    line = reply(tokens=usage(output=5))
    del line["message"]["model"]
    folder = tmp_path / "projects" / "-srv-shop"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_text(lines(user("Go on."), line))
    assert ingest_paths(store, tmp_path).total("rejected") == 0
    [run] = runs_in_store(store)
    assert (run["record_kind"], run["model"], run["output_tokens"]) == ("transcript", None, 5)
