"""Rows that other programs write about runs, steps and calls are of no agent's format.

Whatever agent they name.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.documents import lines, runs_in
from tests.examples import examples

_FIGURES = {
    "duration_ms": st.integers(0, 10**6),
    "cost_usd": st.floats(0, 9),
    "total_cost_usd": st.floats(0, 9),
    "cost": st.floats(0, 9),
    "usage": st.sampled_from(
        [None, {"prompt_tokens": 9, "total_tokens": 12}, {"input_tokens": 3, "output_tokens": 9}]
    ),
    "tokens": st.integers(0, 10**6),
    "num_turns": st.integers(0, 99),
}
_NAMES = {
    "type": st.sampled_from(["result", "step", "call", "usage"]),
    "model": st.sampled_from(["gpt-5.4", "claude-opus-4-6", "glm-5"]),
    "agent": st.sampled_from(["codex", "gemini-cli", "ours", None]),
    "session_id": st.text(min_size=1),
    "id": st.text(),
    "ts": st.text(),
    "result": st.sampled_from(["pass", "A text."]),
    "task": st.text(),
    "passed": st.booleans(),
    "provider": st.text(),
    "messages": st.just([{"role": "user", "content": "hi"}]),
    "response": st.text(),
    "step": st.text(),
    "run_id": st.text(),
    "status": st.text(),
    "error": st.none(),
    "output": st.text(),
    "input": st.text(),
    "score": st.floats(0, 1),
    "name": st.text(),
}
_ROW = st.tuples(
    st.fixed_dictionaries({}, optional=_FIGURES), st.fixed_dictionaries({}, optional=_NAMES)
).map(lambda parts: parts[0] | parts[1])


@examples(100)
@example([{"type": "result", "usage": {"prompt_tokens": 9, "total_tokens": 12}}])
@given(st.lists(_ROW, min_size=1, max_size=4))
def test_rows_of_other_programs_are_no_runs(rows: list[dict[str, Any]]) -> None:
    for text in (lines(*rows), json.dumps(rows), json.dumps({"runs": rows})):
        assert runs_in(text.encode())[0] == []
