"""Claude Code's transcripts: lines in any order count once, wherever their file is cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.claude_lines import SESSION, read_transcript, reply, usage
from tests.documents import lines

RESPONSE = st.tuples(st.integers(0, 5), st.integers(0, 400), st.booleans())


@pytest.mark.slow
@given(st.lists(RESPONSE, max_size=12), st.randoms(use_true_random=False))
def test_order_and_repetition_of_lines_change_no_count(
    told: list[tuple[int, int, bool]], random: Any
) -> None:
    events = [
        reply(f"u{number}", f"msg_{one}", f"req_{one}", usage(output), isSidechain=is_side)
        for number, (one, output, is_side) in enumerate(told)
    ]
    counted = sorted(read_transcript(lines(*events)).told("message_id", "output_tokens"))
    assert counted == sorted(
        {f"msg_{one}": max(out for each, out, _ in told if each == one) for one, *_ in told}.items()
    )
    mixed = [*events, *random.choices(events, k=4)] if events else []
    random.shuffle(mixed)
    assert sorted(read_transcript(lines(*mixed)).told("message_id", "output_tokens")) == counted


WHOLE = lines(reply()).encode()
OTHER = lines(reply("u2", "msg_b", "req_b")).encode()


def test_the_session_of_a_path_of_windows() -> None:
    name = f"C:\\projects\\{SESSION}\\subagents\\agent-ag1.jsonl"
    run = read_transcript(lines(reply(sessionId="another")), name).run
    assert run
    assert run.run_id == SESSION


@given(st.integers(1, len(WHOLE + OTHER)))
def test_wherever_a_file_is_cut_its_whole_lines_count(cut: int) -> None:
    """A session that still runs."""
    whole = [
        name
        for name, end in (("msg_a", len(WHOLE)), ("msg_b", len(WHOLE + OTHER)))
        if cut >= end - 1
    ]
    assert read_transcript((WHOLE + OTHER)[:cut]).told("message_id") == whole
