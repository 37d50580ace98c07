"""Events of Claude Code's streams that are hostile, damaged or of many sessions."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agents.claude_code.stream import SESSIONS_KEPT, StreamContext
from ingest.agents.shared.runs import CALLS_KEPT


def call(
    identity: str | None, tool: str, session: str | None = "s1", **more: Any
) -> dict[str, Any]:
    return {
        "type": "assistant",
        "session_id": session,
        "message": {"content": [{"type": "tool_use", "id": identity, "name": tool}]},
    } | more


def fed(*events: dict[str, Any]) -> StreamContext:
    context = StreamContext()
    for event in events:
        context.see(event)
    return context


def stamp(second: int) -> str:
    return f"2026-05-11T06:34:{second:02}.000Z"


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
