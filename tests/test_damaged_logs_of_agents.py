"""Logs of agents that are cut anywhere, or have a figure that is none.

Never a total that no event said.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import test_copilot, test_cursor, test_gemini
from tests.documents import lines, runs_in
from tests.golden_logs import text_of

STREAMS = {
    "codex": (text_of("codex/exec_stream.jsonl"), 20),
    "copilot": (lines(*test_copilot.whole()), 10),
    "cursor": (lines(*test_cursor.stream()), 40),
    "gemini-cli": (test_gemini.stream(test_gemini.result(6)), 150),
    "qwen-code": (text_of("qwen/stream.jsonl"), 100),
}
"""Agent → a log whose last event has the tokens, and its output."""

QWEN = text_of("qwen/chat.jsonl")
CHATS = {
    "gemini-cli": (
        test_gemini.CHAT,
        [test_gemini.CHAT.find("\n", test_gemini.CHAT.find(name)) for name in ('"g1"', '"g2"')],
        10,
    ),
    "qwen-code": (
        QWEN,
        [len("".join(QWEN.splitlines(keepends=True)[:number])) - 1 for number in (3, 6)],
        40,
    ),
}
"""Agent → a transcript, where each of its responses ends, and the uncached input of each."""


@pytest.mark.parametrize("agent", STREAMS)
@given(share=st.floats(0, 1))
def test_a_stream_cut_anywhere_is_interrupted_or_whole(agent: str, share: float) -> None:
    text, output = STREAMS[agent]
    data = text.encode()[: round(len(text.encode()) * share)]
    is_whole = data.decode(errors="ignore").rstrip() == text.rstrip()
    runs, _ = runs_in(data)
    for run in runs:
        assert (run.agent, run.outcome) == (agent, "completed" if is_whole else "interrupted")
        if is_whole:
            assert run.output_tokens == output
        else:  # Copilot counts the output of each message
            assert run.output_tokens is None or (
                0 < run.output_tokens <= output and run.tokens_basis == "lower_bound"
            )
    assert len(runs) <= 1


@pytest.mark.parametrize("agent", CHATS)
@given(share=st.floats(0, 1))
def test_a_transcript_cut_anywhere_counts_what_is_there(agent: str, share: float) -> None:
    text, ends, uncached = CHATS[agent]
    data = text.encode()[: round(len(text.encode()) * share)]
    whole = sum(end <= len(data) for end in ends)
    assert [run.input_tokens for run in runs_in(data)[0]] in ([uncached * whole or None], [])


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (
            lines(
                *test_copilot.whole()[:-1],
                test_copilot.shutdown(
                    9, 100, modelMetrics={"m": {"usage": {"inputTokens": "many"}}}
                ),
            ),
            "session.shutdown: modelMetrics.m.usage.inputTokens",
        ),
        (
            lines(*test_cursor.stream(usage=test_cursor.USAGE | {"outputTokens": "many"})),
            "usage.outputTokens",
        ),
        (
            json.dumps(
                test_gemini.output(
                    stats=test_gemini.metrics(pro=test_gemini.PRO | {"prompt": "many"})
                )
            ),
            "stats.models.pro.tokens.prompt",
        ),
        (test_gemini.stream(test_gemini.result(6, input_tokens=-1)), "stats.input_tokens"),
        (
            lines(
                test_gemini.header(),
                test_gemini.answer("g1", 1, tokens=test_gemini.tokens(1) | {"cached": 1.5}),
            ),
            "tokens.cached",
        ),
        (
            json.dumps(
                test_gemini.header(
                    messages=[
                        test_gemini.answer("g1", 1, tokens=test_gemini.tokens(1) | {"input": "1"})
                    ]
                )
            ),
            "messages.0.tokens.input",
        ),
    ],
)
def test_a_figure_that_is_none_is_rejected_with_its_name(text: str, field: str) -> None:
    runs, [detail] = runs_in(text.encode())
    assert detail.startswith(f"{field}: ")
    assert all(run.input_tokens is None for run in runs)
