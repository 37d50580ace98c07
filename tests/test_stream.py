"""What the events of a stream say about the records among them."""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agents.base import RunFacts
from ingest.agents.claude_code.stream import SESSIONS_KEPT, StreamContext
from ingest.agents.shared.runs import CALLS_KEPT, OTHER_TOOLS, TOOLS_KEPT, canonical_hash
from tests.examples import examples

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


def call(identity: str | None, tool: str, session: str | None = "s1", **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "session_id": session, "message": {"content": [{"type": "tool_use", "id": identity, "name": tool}]}} | more


def answer(identity: str, *, is_error: Any = None, session: str | None = "s1", **more: Any) -> dict[str, Any]:
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
    assert context.at_result("s1") == RunFacts(
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
    assert (second.tool_calls, second.started_at, second.ended_at) == ((("Edit", 1, 0),), at(9), at(9))
    assert (second.requested_model, second.in_stream) == ("claude-opus-4-6[1m]", True)
    context.see({"type": "system", "subtype": "init", "session_id": "s1", "model": "haiku", "tools": []})
    third = context.at_result("s1")
    assert (third.requested_model, third.cwd, third.tools) == ("haiku", "/srv/app", ("Read", "Bash"))


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        ([call("t1", "Bash"), call("t1", "Bash"), answer("t1", is_error=True), answer("t1", is_error=True)], (("Bash", 1, 1),)),
        ([call(None, "Bash"), call(None, "Bash")], (("Bash", 2, 0),)),
        ([call("t1", "Bash"), {"type": "result"}, answer("t1", is_error=True)], ()),
        (
            [*(call(f"t{n}", "Bash") for n in range(3)), answer("t0", is_error="true"), answer("t1", is_error=False), answer("t2")],
            (("Bash", 3, 0),),
        ),
    ],
    ids=["repeated by streaming", "without an id", "an answer behind the result", "only true is an error"],
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
    """A bare record is in no stream, and one of another session takes nothing away; without a session it is of the last one."""
    assert StreamContext().at_result("s1") == RunFacts()
    context = fed(INIT, call("t1", "Bash"), call("t1", "Read", session="s2"), INIT | {"session_id": "s2", "model": "haiku"})
    assert context.at_result("s3") == RunFacts()
    assert (context.at_result("s1").requested_model, context.at_result("s2").requested_model) == ("claude-opus-4-6[1m]", "haiku")
    assert fed(INIT).at_result(None).cwd == "/srv/app"
    saved = fed({"type": "user", "sessionId": "s1", "timestamp": stamp(3)})
    assert saved.at_result("s1").started_at == at(3), "saved transcripts name the session in camel case"


def test_events_without_a_session_belong_to_any() -> None:
    context = fed({key: value for key, value in INIT.items() if key != "session_id"}, call("t1", "Bash", session=None))
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
    assert fed({"type": "user", "session_id": "s1", "timestamp": timestamp}).at_result("s1").started_at == time


@pytest.mark.parametrize("bad", [None, 7, "x", [], {}, ["\ud800"], [[[]]], "\ud800"])
def test_damaged_init_fields_are_not_known(bad: object) -> None:
    """A lone surrogate in a name would refuse the whole row later on."""
    facts = fed({"type": "system", "subtype": "init", "session_id": "s1"} | dict.fromkeys(("tools", "model", "claude_code_version"), bad))
    found = facts.at_result("s1")
    assert found.in_stream
    assert all(name.encode() for name in (*found.tools, found.requested_model or "?"))


@pytest.mark.slow
def test_memory_is_bounded_by_hostile_streams() -> None:
    """Ids, sessions and tool names without end: each is capped, and calls are counted all the same."""
    tracemalloc.start()
    context = StreamContext()
    for number in range(20 * CALLS_KEPT):
        context.see(call(f"t{number}", f"tool{number}", session="s1"))
        context.see({"type": "user", "session_id": f"session{number}"})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
    assert len(context._sessions) <= SESSIONS_KEPT
    assert sum(calls for _, calls, _ in context.at_result("s1").tool_calls) == 20 * CALLS_KEPT


def test_tools_beyond_the_limit_are_counted_together() -> None:
    facts = fed(*(call(f"t{number}", f"tool{number}") for number in range(TOOLS_KEPT + 10)), call("last", "x" * 10_000)).at_result("s1")
    assert len(facts.tool_calls) == TOOLS_KEPT + 1
    assert (OTHER_TOOLS, 11, 0) in facts.tool_calls
    assert sum(calls for _, calls, _ in facts.tool_calls) == TOOLS_KEPT + 11


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text(st.characters(categories=["Cs"]), max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
WORDS = st.sampled_from(["system", "assistant", "user", "result", "init", "tool_use", "tool_result", "s1", "t1", "Bash", stamp(1)])
NAMES = "type subtype session_id sessionId timestamp message content id name tool_use_id is_error model tools"
FIELDS = st.sampled_from(NAMES.split())
HOSTILE = st.recursive(
    JSON | WORDS | st.just(value=True), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner), max_leaves=12
)
EVENTS = st.dictionaries(FIELDS | st.text(max_size=8), HOSTILE, max_size=8)


@pytest.mark.slow
@examples(25)
@given(st.lists(EVENTS, max_size=8), st.none() | st.text(max_size=3) | st.just("s1"))
def test_no_event_ever_raises(events: list[dict[str, Any]], session_id: str | None) -> None:
    facts = fed(*events).at_result(session_id)
    assert all(errors is not None and errors <= calls for _, calls, errors in facts.tool_calls)
    json.dumps([facts.tools, facts.tool_calls, facts.cwd], ensure_ascii=False).encode()


@given(st.lists(st.tuples(st.sampled_from(["s1", "s2", "s3"]), st.sampled_from(["Bash", "Read"])), max_size=20))
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
