"""Agents that write the format of another one: their runs bear their own name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.store.database import Store
from tests.codex_lines import STARTED, meta, turn, uuid7
from tests.conftest import ingest_paths
from tests.documents import ingested, lines, runs_in, runs_in_store, tools_of
from tests.examples import examples

SESSION = "session-00000000-0000-4000-8000-000000000001"


def line(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A line of iFlow CLI's transcript."""
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {
            "id": f"response-{number}",
            "type": "message",
            "model": "glm-4.7",
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
    return {
        "uuid": f"00000000-0000-4000-8000-0000000000{number:02d}",
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": f"2026-05-01T12:00:{number:02d}.000Z",
        "type": role,
        "isSidechain": False,
        "userType": "external",
        "message": message | more,
        "cwd": "/work",
        "version": "1.0.0",
    } | ({"requestId": f"request-{number}"} if role == "assistant" else {})


IFLOW = [
    line(1, "user", "Make it faster."),
    line(2, "assistant", [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {}}]),
    line(
        3, "user", [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}]
    ),
    line(4, "assistant", [{"type": "text", "text": "It is 2x faster."}]),
]


def test_iflows_zeros_are_unknown(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, **{SESSION: lines(*IFLOW)})
    assert (run["agent"], run["run_id"], run["model"], run["record_kind"]) == (
        "iflow",
        SESSION,
        "glm-4.7",
        "transcript",
    )
    assert (
        run["input_tokens"],
        run["output_tokens"],
        run["tokens_basis"],
        run["cost_list_usd"],
    ) == (None, None, "unknown", None)
    assert (run["prompt"], run["result"], run["cwd"], run["duration_ms"], run["num_turns"]) == (
        "Make it faster.",
        "It is 2x faster.",
        "/work",
        3000,
        2,
    )
    assert tools_of(store) == [("read_file", 1, 1)]


def test_iflows_transcripts_grow(store: Store, tmp_path: Path) -> None:
    for cut in range(1, len(IFLOW) + 1):
        [run] = ingested(store, tmp_path, **{SESSION: lines(*IFLOW[:cut])})
        assert run["agent"] == "iflow"
    assert (run["model"], run["result"]) == ("glm-4.7", "It is 2x faster.")


def test_iflow_may_tell_tokens_one_day(store: Store, tmp_path: Path) -> None:
    last = line(
        4,
        "assistant",
        [{"type": "text", "text": "Done."}],
        usage={"input_tokens": 10, "output_tokens": 5},
        stop_reason="end_turn",
    )
    [run] = ingested(store, tmp_path, **{SESSION: lines(*IFLOW[:3], last)})
    assert (run["agent"], run["input_tokens"], run["output_tokens"]) == ("iflow", 10, 5)


@pytest.mark.parametrize(
    "told",
    [
        {"model_provider": "trae"},
        {"originator": "trae-cli"},
        {"base_instructions": {"text": "You are TRAE CLI, a coding agent."}},
    ],
)
def test_trae_cli_is_no_codex(store: Store, tmp_path: Path, told: dict[str, Any]) -> None:
    session, other = uuid7(STARTED), uuid7(STARTED, 1)
    (tmp_path / "trae.jsonl").write_text(
        lines(
            meta(session, **({"originator": "codex-tui"} | told)),
            *turn(1, uncached=10, read=90, output=5),
        )
    )
    (tmp_path / "codex.jsonl").write_text(
        lines(
            meta(other, base_instructions={"text": "You are Codex."}),
            *turn(1, uncached=10, read=90, output=5),
        )
    )
    ingest_paths(store, tmp_path / "trae.jsonl", tmp_path / "codex.jsonl")
    runs = {run["run_id"]: run for run in runs_in_store(store)}
    assert {run_id: run["agent"] for run_id, run in runs.items()} == {
        session: "trae-cli",
        other: "codex",
    }
    trae = runs[session]
    assert (trae["input_tokens"], trae["cache_read_tokens"], trae["output_tokens"]) == (10, 90, 5)


# Rows that other programs write about runs, steps and calls: of no agent's format, whatever agent
# they name

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
