"""Pi's session files and streams.

Each response once, whatever was copied, and the text of the last branch.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.rows.distilled import ModelUse
from tests.documents import kept_in, lines, runs_in

STARTED = datetime(2026, 5, 1, 12, tzinfo=UTC)
SESSION = "019a0000-0000-7000-8000-000000000001"
PARENT = "019a0000-0000-7000-8000-000000000002"
COST = {
    "input": 0.1,
    "output": 0.2,
    "cacheRead": 0.0,
    "cacheWrite": 0.0,
    "total": 0.30000000000000004,
}
USAGE: dict[str, Any] = {
    "input": 10,
    "output": 5,
    "cacheRead": 100,
    "cacheWrite": 20,
    "totalTokens": 135,
    "cost": COST,
}
NO_USAGE: dict[str, Any] = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0) | {
    "cost": {"total": 0}
}


def at(seconds: float) -> datetime:
    return STARTED + timedelta(seconds=seconds)


def header(seconds: float = 0, session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {
        "type": "session",
        "version": 3,
        "id": session,
        "timestamp": at(seconds).isoformat(),
        "cwd": "/work",
    } | more


def message(seconds: float, role: str, text: str | None, **more: Any) -> dict[str, Any]:
    content = [
        {"type": "thinking", "thinking": "Hm"},
        *([{"type": "text", "text": text}] if text else []),
    ]
    return {
        "role": role,
        "content": content,
        "timestamp": int(at(seconds).timestamp() * 1000),
    } | more


def answer(
    seconds: float, text: str | None = None, stop: str = "stop", model: str = "gpt-5.5", **more: Any
) -> dict[str, Any]:
    told = {"api": "x", "provider": "openai", "model": model, "usage": USAGE, "stopReason": stop}
    return message(seconds, "assistant", text, **(told | more))


def tool(seconds: float, call: str, *, failed: bool = False) -> dict[str, Any]:
    return message(
        seconds, "toolResult", "output", toolCallId=call, toolName="bash", isError=failed
    )


def entry(
    number: int, parent: int | None, said: dict[str, Any] | None, kind: str = "message", **more: Any
) -> dict[str, Any]:
    """A line of a session file of version 2 or 3, written half a second after its message."""
    seconds = (said["timestamp"] / 1000 - STARTED.timestamp() + 0.5) if said else float(number)
    line = {
        "type": kind,
        "id": f"e{number}",
        "parentId": None if parent is None else f"e{parent}",
        "timestamp": at(seconds).isoformat(),
    }
    return line | ({"message": said} if said else {}) | more


SAID = [
    message(1, "user", "Make it faster."),
    answer(2, "I look.", "toolUse"),
    tool(3, "c1"),
    tool(4, "c2", failed=True),
    answer(6, "It is 2x faster."),
]


def session(
    *more: dict[str, Any], of: dict[str, Any] | None = None, said: list[dict[str, Any]] = SAID
) -> str:
    return lines(
        of or header(), *(entry(n, n - 1 if n else None, one) for n, one in enumerate(said)), *more
    )


def stream(said: list[dict[str, Any]] = SAID, of: dict[str, Any] | None = None) -> str:
    events: list[dict[str, Any]] = [of or header(), {"type": "agent_start"}, {"type": "turn_start"}]
    for one in said:
        events += [
            {"type": "message_start", "message": one},
            {"type": "message_update", "message": one},
            {"type": "message_end", "message": one},
        ]
    return lines(
        *events,
        {"type": "turn_end", "message": said[-1], "toolResults": []},
        {"type": "agent_end", "messages": said},
    )


def counts(*models: ModelUse) -> list[tuple[int | None, ...]]:
    return [
        (one.input_tokens, one.cache_read_tokens, one.cache_write_tokens, one.output_tokens)
        for one in models
    ]


@pytest.mark.parametrize(
    ("text", "kind"), [(session(), "transcript"), (stream(), "stream")], ids=["file", "stream"]
)
def test_a_session_is_a_run_with_its_figures(text: str, kind: str) -> None:
    [run] = kept_in(text)
    assert (run.agent, run.run_id, run.session_id, run.record_kind) == (
        "pi",
        SESSION,
        SESSION,
        kind,
    )
    assert (run.outcome, run.num_turns, run.cwd, run.prompt) == (
        "completed",
        1,
        "/work",
        "Make it faster.",
    )
    assert (run.started_at, run.ended_at, run.duration_ms) == (at(1), at(6), 5000)
    assert (counts(*run.models), run.models[0].basis, run.cost_usd) == (
        [(20, 200, 40, 10)],
        "exact",
        Decimal("0.6"),
    )
    assert (run.final_text, run.tool_calls) == ("It is 2x faster.", (("bash", 2, 1),))


def test_all_branches_count_and_the_text_is_that_of_the_last() -> None:
    again = entry(9, 0, answer(20, "It is 3x faster.")), entry(10, 9, None, "label", targetId="e1")
    back = entry(11, 1, None, "model_change", modelId="gpt-5.5", provider="openai")
    assert [(run.final_text, counts(*run.models)) for run in kept_in(session(*again))] == [
        ("It is 3x faster.", [(30, 300, 60, 15)])
    ]
    assert [run.final_text for run in kept_in(session(*again, back))] == ["I look."]


def test_a_branch_counts_without_the_lines_of_its_parent() -> None:
    forked = header(10, parentSession=f"/x/2026-05-01T12-00-00-000Z_{PARENT}.jsonl")
    own = entry(9, 4, message(11, "user", "Go on.")), entry(10, 9, answer(12, "It is 3x faster."))
    [run] = kept_in(session(*own, of=forked))
    assert (run.parent_session_id, counts(*run.models), run.num_turns, run.started_at) == (
        PARENT,
        [(10, 100, 20, 5)],
        1,
        at(11),
    )
    assert (run.prompt, run.final_text, run.cost_usd) == (
        "Go on.",
        "It is 3x faster.",
        Decimal("0.3"),
    )
    [copy] = kept_in(session(of=forked | {"branchedFrom": forked.pop("parentSession")}))
    assert (counts(*copy.models), copy.cost_usd, copy.final_text) == (
        [(0, 0, 0, 0)],
        Decimal(),
        None,
    )
    assert copy.outcome == "unknown"
    assert (copy.prompt, copy.parent_session_id, copy.tool_calls) == ("Make it faster.", PARENT, ())


def test_a_header_that_was_written_late_does_not_hide_what_came_before() -> None:
    assert counts(*kept_in(session(of=header(10)))[0].models) == [(20, 200, 40, 10)]


def test_a_stream_that_goes_on_with_a_session_is_a_run_of_its_own() -> None:
    more = [message(900, "user", "Go on."), answer(901, "Done.")]
    [first], [second] = kept_in(stream()), kept_in(stream(more))
    assert (first.run_id, second.session_id) == (SESSION, SESSION)
    assert first.run_id != second.run_id


def test_models_are_told_apart_and_one_that_only_failed_is_none() -> None:
    said = [
        *SAID,
        answer(7, None, "error", "gpt-4", usage=NO_USAGE, errorMessage="429 quota"),
        answer(8, "Yes.", model="claude-opus-4-5"),
    ]
    [run] = kept_in(session(said=said))
    assert [(model.model_id, model.provider, model.cost_usd) for model in run.models] == [
        ("gpt-5.5", "openai", Decimal("0.6")),
        ("claude-opus-4-5", "openai", Decimal("0.3")),
    ]


@pytest.mark.parametrize(
    ("stop", "error", "outcome"),
    [
        ("stop", None, "completed"),
        ("length", None, "interrupted"),
        ("aborted", "Request was aborted.", "interrupted"),
        ("error", "429 quota exceeded", "limit_reached"),
        ("error", "400 invalid_request_error", "api_error"),
        ("error", "no such file", "execution_error"),
    ],
)
def test_the_last_response_says_how_it_ended(stop: str, error: str | None, outcome: str) -> None:
    [run] = kept_in(session(said=[*SAID, answer(9, None, stop, errorMessage=error)]))
    assert (run.outcome, run.ended_as, run.errors) == (outcome, stop, (error,) if error else ())


def test_a_question_without_an_answer_is_interrupted() -> None:
    [run] = kept_in(session(said=[*SAID, message(9, "user", "And now?")]))
    assert (run.outcome, run.num_turns, run.final_text) == ("interrupted", 2, "It is 2x faster.")
    [began] = kept_in(lines(header()))
    assert (began.outcome, began.models[0].basis, began.models[0].input_tokens) == (
        "interrupted",
        "unknown",
        None,
    )


def test_summaries_whose_tokens_are_not_told_make_a_lower_bound() -> None:
    told = {"summary": "…", "tokensBefore": 1000}
    [run] = kept_in(session(entry(9, 4, None, "compaction", **told)))
    assert (run.models[0].basis, counts(*run.models)) == ("lower_bound", [(20, 200, 40, 10)])
    [run] = kept_in(session(entry(9, 4, None, "compaction", usage=USAGE, **told)))
    assert (run.models[0].basis, counts(*run.models)) == ("exact", [(30, 300, 60, 15)])
    [run] = kept_in(session(entry(9, 4, None, "compaction", fromHook=True, **told)))
    assert run.models[0].basis == "exact"


def test_version_1_has_lines_without_ids() -> None:
    [run] = kept_in(
        lines(
            header() | {"version": None, "provider": "openai", "modelId": "gpt-5.5"},
            *(
                {"type": "message", "timestamp": at(n).isoformat(), "message": said}
                for n, said in enumerate(SAID)
            ),
            {
                "type": "thinking_level_change",
                "timestamp": at(9).isoformat(),
                "thinkingLevel": "off",
            },
        )
    )
    assert (run.final_text, run.requested_model, counts(*run.models)) == (
        "It is 2x faster.",
        "gpt-5.5",
        [(20, 200, 40, 10)],
    )


def test_what_is_left_of_a_stream_is_a_run() -> None:
    [run] = kept_in(
        lines(
            {"type": "turn_start"},
            {"type": "message_end", "message": answer(1, "2") | {"timestamp": None}},
        )
    )
    assert (run.outcome, run.final_text, run.session_id, counts(*run.models)) == (
        "completed",
        "2",
        None,
        [(10, 100, 20, 5)],
    )


def test_reasoning_and_waiting_are_told_by_forks_of_pi() -> None:
    said = [*SAID[:-1], answer(6, "Done.", usage=USAGE | {"reasoningTokens": 3}, duration=1500.4)]
    [run] = kept_in(session(said=said))
    assert (run.models[0].reasoning_tokens, run.duration_api_ms) == (3, 1500)


@pytest.mark.parametrize("text", [session(), stream()], ids=["file", "stream"])
@given(st.integers(0, 1000))
def test_a_log_cut_anywhere_is_interrupted_or_whole(text: str, cut: int) -> None:
    data = text.encode()[: len(text.encode()) * cut // 1000]
    runs, _ = runs_in(data)
    assert len(runs) <= 1
    answers = sum(
        b'"stopReason":"' in line and b'"type":"message' in line and b"_start" not in line
        for line in data.splitlines()
    )
    for run in runs:
        assert (run.outcome == "completed") == ((run.output_tokens or 0) == 10)
        assert (run.output_tokens or 0) in {5 * n for n in range(min(answers, 2) + 1)}


def test_a_figure_that_is_none_is_rejected_with_its_name() -> None:
    [run], [reject] = runs_in(
        session(entry(9, 4, answer(9, usage=USAGE | {"cacheRead": "many"}))).encode()
    )
    assert reject.startswith("message.usage.cacheRead: ")
    assert (run.tokens_basis, run.output_tokens) == ("lower_bound", 10)


def test_a_header_like_that_of_another_program_is_no_run() -> None:
    bare = {name: value for name, value in header().items() if name != "version"}
    assert runs_in(lines(bare).encode()) == ([], [])
    assert len(kept_in(lines(bare | {"modelId": "gpt-5.5"}))) == 1


def test_a_session_whose_header_cannot_be_read_costs_no_other() -> None:
    runs, rejects = runs_in(
        (session() + lines(header() | {"message": {"usage": {"input": "x"}}})).encode()
    )
    assert ([run.session_id for run in runs], len(rejects)) == ([SESSION], 1)
