"""Logs of agents that are cut anywhere.

Never a total that no event said.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents import runs_in
from tests.golden_logs import text_of

STREAMS = {
    "codex": ("\n".join(text_of("codex/exec_stream.jsonl").splitlines()[:6]), 5),  # one turn
    "grok": (text_of("grok/a_stream_and_its_end_are_one_run/stream.jsonl"), 1893),
    "copilot": (text_of("copilot/a_session_has_the_figures_of_its_shutdown/events.jsonl"), 10),
    "cursor": (text_of("cursor/a_stream.jsonl"), 40),
    "gemini-cli": (text_of("gemini/how_a_stream_ended/whole.jsonl"), 150),
    "qwen-code": (text_of("qwen/stream.jsonl"), 100),
}
"""Agent → a log whose last event has the tokens, and its output."""

GEMINI = text_of("gemini/a_chat_counts_the_last_version_of_each_message/chat.jsonl")
QWEN = text_of("qwen/chat.jsonl")
CHATS = {
    "gemini-cli": (
        GEMINI,
        [GEMINI.find("\n", GEMINI.find(name)) for name in ('"g1"', '"g2"')],
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
