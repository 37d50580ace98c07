"""Kimi's session logs, of Kimi Code and of Kimi CLI.

Each request once, under the model that served it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents import kept_in, lines, runs_in

STARTED = datetime(2026, 5, 1, 12, tzinfo=UTC)
ALIAS = "moonshot-ai/kimi-k2.7-code"


def ms(seconds: float) -> int:
    return int((STARTED + timedelta(seconds=seconds)).timestamp() * 1000)


def line(seconds: float, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more, "time": ms(seconds)}


def event(seconds: float, kind: str, **more: Any) -> dict[str, Any]:
    return line(seconds, "context.append_loop_event", event={"type": kind, "uuid": "u", **more})


def spent(seconds: float, scope: str = "turn", **more: Any) -> dict[str, Any]:
    usage = {"inputOther": 10, "output": 5, "inputCacheRead": 100, "inputCacheCreation": 20} | more
    return line(seconds, "usage.record", model=ALIAS, usage=usage, usageScope=scope)


def step(
    seconds: float, text: str | None, finish: str = "end_turn", *calls: str, failed: bool = False
) -> list[dict[str, Any]]:
    """One request with its answer; `calls`: ids of its tool calls."""
    parts = [{"type": "think", "think": "Hm"}, *([{"type": "text", "text": text}] if text else [])]
    return [
        event(seconds, "step.begin", step=1),
        line(
            seconds,
            "llm.request",
            provider="kimi",
            model="kimi-k2.7-code",
            modelAlias=ALIAS,
            turnStep="0.1",
        ),
        *(event(seconds + 0.1, "content.part", part=part) for part in parts),
        *(
            event(seconds + 0.2, "tool.call", toolCallId=call, name="Bash", args={})
            for call in calls
        ),
        *(
            event(
                seconds + 0.3,
                "tool.result",
                toolCallId=call,
                result={"output": "", "isError": failed},
            )
            for call in calls
        ),
        event(seconds + 0.4, "step.end", usage={"inputOther": 10}, finishReason=finish),
        spent(seconds + 0.4),
    ]


BEGINNING = [
    {"type": "metadata", "protocol_version": "1.4", "created_at": ms(0)},
    line(0, "config.update", cwd="/work", modelAlias=ALIAS),
    line(
        1,
        "turn.prompt",
        input=[{"type": "text", "text": "Make it faster."}],
        origin={"kind": "user"},
    ),
]
STEPS = [*step(2, "I look.", "tool_use", "c1", "c2", failed=True), *step(5, "It is 2x faster.")]
END = line(6, "turn.ended", turnId=0, reason="completed", durationMs=5000)
CODE = [*BEGINNING, *STEPS, END]


def said(seconds: float, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": ms(seconds) / 1000, "message": {"type": kind, "payload": payload}}


def status(seconds: float, message: str | None, output: int = 5) -> dict[str, Any]:
    usage = {
        "input_other": 10,
        "output": output,
        "input_cache_read": 100,
        "input_cache_creation": 20,
    }
    return said(seconds, "StatusUpdate", context_usage=0.1, token_usage=usage, message_id=message)


CLI_STEPS = [
    said(1, "TurnBegin", user_input=[{"type": "text", "text": "Make it faster."}]),
    said(2, "StepBegin", n=1),
    said(2, "ContentPart", type="text", text="I look."),
    said(3, "ToolCall", type="function", id="c1", function={"name": "Bash", "arguments": "{}"}),
    status(3, "chatcmpl-1", 1),
    status(3.5, "chatcmpl-1"),
    said(4, "ToolResult", tool_call_id="c1", return_value={"is_error": True, "output": ""}),
    said(4, "StepBegin", n=2),
    said(5, "ContentPart", type="think", think="Hm"),
    said(5, "ContentPart", type="text", text="It is "),
    said(5, "ContentPart", type="text", text="2x faster."),
    status(6, "chatcmpl-2"),
]
CLI = [{"type": "metadata", "protocol_version": "1.3"}, *CLI_STEPS, said(6, "TurnEnd")]


def counts(run: Any) -> list[tuple[Any, ...]]:
    return [
        (
            one.model_id,
            one.input_tokens,
            one.cache_read_tokens,
            one.cache_write_tokens,
            one.output_tokens,
        )
        for one in run.models
    ]


def test_a_log_of_kimi_code_is_a_run_with_its_figures() -> None:
    [run] = kept_in(lines(*CODE))
    assert (run.agent, run.record_kind, run.outcome, run.num_turns) == (
        "kimi-code",
        "transcript",
        "completed",
        1,
    )
    assert (run.duration_ms, run.cwd, run.prompt, run.final_text) == (
        6000,
        "/work",
        "Make it faster.",
        "It is 2x faster.",
    )
    assert (counts(run), run.models[0].provider) == (
        [("kimi-k2.7-code", 20, 200, 40, 10)],
        "moonshotai",
    )
    assert (run.models[0].basis, run.models[0].reasoning_tokens, run.cost_usd) == (
        "exact",
        None,
        None,
    )
    assert run.tool_calls == (("Bash", 2, 2),)


def test_a_log_of_kimi_cli_counts_each_step_once() -> None:
    [run] = kept_in(lines(*CLI))
    assert (run.outcome, run.num_turns, run.duration_ms, run.prompt) == (
        "completed",
        1,
        5000,
        "Make it faster.",
    )
    assert (counts(run), run.models[0].basis) == ([(None, 20, 200, 40, 10)], "exact")
    assert (run.final_text, run.tool_calls) == ("It is 2x faster.", (("Bash", 1, 1),))


def test_the_call_that_summarizes_counts_too() -> None:
    assert counts(kept_in(lines(*CODE, spent(7, "session")))[0])[0][1:] == (30, 300, 60, 15)


def test_a_fork_counts_without_what_it_copied() -> None:
    more = [
        line(100, "forked"),
        line(101, "turn.prompt", input=[{"type": "text", "text": "Go on."}]),
        *step(102, "It is 3x faster."),
        END,
    ]
    [parent], [fork] = kept_in(lines(*CODE)), kept_in(lines(*CODE, *more))
    assert (counts(fork)[0][1:], fork.num_turns, fork.final_text) == (
        (10, 100, 20, 5),
        1,
        "It is 3x faster.",
    )
    assert (fork.run_id != parent.run_id, fork.prompt, fork.cwd) == (
        True,
        "Make it faster.",
        "/work",
    )


@pytest.mark.parametrize(
    ("end", "outcome", "error"),
    [
        ([line(9, "turn.ended", reason="cancelled")], "interrupted", ()),
        ([line(9, "turn.cancel")], "interrupted", ()),
        (
            [
                line(
                    9,
                    "turn.ended",
                    reason="failed",
                    error={"code": "x", "message": "429 rate limit"},
                )
            ],
            "limit_reached",
            ("429 rate limit",),
        ),
        ([line(9, "turn.ended", reason="failed")], "execution_error", ("failed",)),
        ([line(9, "turn.ended", reason="something new")], "unknown", ()),
        ([], "unknown", ()),
        ([line(9, "turn.prompt", input="And now?")], "interrupted", ()),
        ([event(9, "step.begin")], "interrupted", ()),
    ],
)
def test_the_end_of_the_last_turn_says_how_it_ended(
    end: list[dict[str, Any]], outcome: str, error: tuple[str, ...]
) -> None:
    [run] = kept_in(lines(*BEGINNING, *STEPS, *end))
    assert (run.outcome, run.errors) == (outcome, error)


@pytest.mark.parametrize(
    ("version", "outcome"),
    [("1.1", "unknown"), ("1.2", "interrupted"), ("1.10", "interrupted"), ("x", "interrupted")],
)
def test_kimi_cli_tells_the_end_of_a_turn_since_protocol_1_2(version: str, outcome: str) -> None:
    [run] = kept_in(lines({"type": "metadata", "protocol_version": version}, *CLI_STEPS))
    assert run.outcome == outcome
    [stopped] = kept_in(lines(*CLI[:-1], said(7, "StepInterrupted"), said(7, "TurnEnd")))
    assert stopped.outcome == "interrupted"


def test_sub_agents_of_kimi_cli_are_not_counted_and_make_a_lower_bound() -> None:
    inner = said(
        3, "SubagentEvent", parent_tool_call_id="c1", event=status(3, "chatcmpl-9")["message"]
    )
    [run] = kept_in(lines(*CLI[:5], inner, *CLI[5:]))
    assert (run.models[0].basis, counts(run)) == ("lower_bound", [(None, 20, 200, 40, 10)])


@pytest.mark.parametrize("log", [CODE, CLI], ids=["code", "cli"])
@given(st.integers(0, 1000))
def test_a_log_cut_anywhere_is_interrupted_or_whole(log: list[dict[str, Any]], cut: int) -> None:
    text = lines(*log).encode()
    data = text[: len(text) * cut // 1000]
    runs, _ = runs_in(data)
    assert len(runs) <= 1
    for run in runs:
        whole = data.rstrip() == text.rstrip()
        assert (run.outcome == "completed") == whole
        assert run.output_tokens in (None, 1, 5, 6, 10), "what was told of the responses so far"
        assert run.output_tokens == 10 or not whole


def test_a_figure_that_is_none_is_rejected_with_its_name() -> None:
    [run], [reject] = runs_in(lines(*CODE, spent(9, inputCacheRead="many")).encode())
    assert reject.startswith("usage.inputCacheRead: ")
    assert (run.tokens_basis, run.output_tokens) == ("lower_bound", 10)
    wrong = status(6, "chatcmpl-3")
    wrong["message"]["payload"]["token_usage"]["output"] = -1
    [run], [reject] = runs_in(lines(*CLI, wrong).encode())
    assert reject.startswith("message.payload.")
    assert "output: " in reject


def test_a_log_with_its_first_line_only_is_no_run() -> None:
    assert runs_in(lines(CODE[0]).encode()) == ([], [])


def test_lines_of_other_programs_are_neither_runs_nor_rejects() -> None:
    others = (
        {"type": 5, "time": 1},
        {"type": "metadata", "name": "x"},
        {"timestamp": 1.5, "message": {"type": "StatusUpdate", "text": "x"}},
    )
    assert runs_in(
        lines(*others, line(1, "turn.cancel"), line(1, "config.update", usage="high")).encode()
    ) == ([], [])
