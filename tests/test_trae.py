"""TRAE's trajectory: the provider defines the input, and success is not the state of a step.

It depends on the provider what is inside the input.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from tests.conftest import ingest_paths
from tests.documents import read_log, runs_in_store, stored, tools_of

SONNET = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
USAGE = {
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 60,
    "reasoning_tokens": 4,
}


def call(provider: str, model: str, number: int = 0, **usage: int) -> dict[str, Any]:
    tool = {"call_id": f"c{number}", "name": "bash", "arguments": {}}
    response = {
        "content": f"Step {number}.",
        "model": model,
        "finish_reason": "tool_use",
        "usage": USAGE | usage,
        "tool_calls": [tool],
    }
    return {"provider": provider, "model": model, "response": response, "input_messages": []}


def trajectory(*calls: dict[str, Any], **changes: Any) -> dict[str, Any]:
    steps = [
        {
            "state": "completed",
            "tool_results": [{"call_id": f"c{n}", "success": n == 0}],
            "error": None,
        }
        for n in range(len(calls))
    ]
    return {
        "task": "Make vLLM faster.\nBe careful.",
        "start_time": "2025-10-14T16:31:09.253473",
        "end_time": "2025-10-14T16:42:10.553632",
        "provider": "openai",
        "model": "gpt-5",
        "max_steps": 120,
        "llm_interactions": list(calls),
        "agent_steps": steps,
        "success": True,
        "final_result": "Eviction is 3x faster.",
        "execution_time": 661.3,
    } | changes


@pytest.mark.parametrize(
    ("provider", "uncached", "read", "basis"),
    [
        ("openai", 40, 60, "exact"),
        ("anthropic", 100, 60, "exact"),
        ("openrouter", 100, None, "upper_bound"),
        ("bedrock", 100, None, "upper_bound"),
    ],
)
def test_the_cache_is_inside_or_beside_the_input_by_provider(
    provider: str, uncached: int, read: int | None, basis: str
) -> None:
    [run] = read_log(trajectory(call(provider, "gpt-5")))
    assert (
        run["input_tokens"],
        run["cache_read_tokens"],
        run["output_tokens"],
        run["tokens_basis"],
    ) == (uncached, read, 10, basis)


def test_a_bound_on_the_tokens_is_a_bound_on_the_cost(store: Store, tmp_path: Path) -> None:
    [run] = stored(store, tmp_path, trajectory(call("openrouter", "gpt-5")))
    assert (run["tokens_basis"], run["cost_list_usd"] is not None) == ("upper_bound", True)


def test_a_run_has_its_figures_once(store: Store, tmp_path: Path) -> None:
    [run] = stored(store, tmp_path, trajectory(call("openai", "gpt-5"), call("openai", "gpt-5", 1)))
    assert (run["input_tokens"], run["num_turns"], run["duration_ms"]) == (80, 2, 661_300)
    assert (run["agent"], run["outcome"], run["record_kind"]) == (
        "trae-agent",
        "completed",
        "trajectory",
    )
    assert (run["result"], run["claimed_speedup"]) == ("Eviction is 3x faster.", 3)
    assert tools_of(store) == [("bash", 2, 1)]


FAILED: dict[str, Any] = {"success": False, "final_result": None}


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"end_time": "", "execution_time": 0.0} | FAILED, "interrupted"),
        (
            {
                "success": False,
                "final_result": "Task execution exceeded maximum steps without completion.",
            },
            "max_turns",
        ),
        (
            FAILED
            | {
                "agent_steps": [
                    {
                        "state": "completed",
                        "error": "Error code: 429 - You exceeded your current quota",
                    }
                ]
            },
            "limit_reached",
        ),
        (
            FAILED
            | {
                "agent_steps": [
                    {
                        "state": "completed",
                        "error": "Error code: 400 - tool_use without tool_result",
                    }
                ]
            },
            "api_error",
        ),
        (
            FAILED
            | {
                "agent_steps": [
                    {"state": "completed", "error": "'NoneType' object is not iterable"}
                ]
            },
            "execution_error",
        ),
    ],
)
def test_the_outcome_is_not_the_state_of_the_steps(changes: dict[str, Any], outcome: str) -> None:
    [run] = read_log(trajectory(call("openai", "gpt-5"), **changes))
    assert (run["outcome"], run["result"]) == (outcome, "Step 0."), (
        "the last text of the model, not why the run ended"
    )


def test_of_a_growing_trajectory_the_last_state_is_kept(store: Store, tmp_path: Path) -> None:
    """The file is written again after each call: two states of it are one run."""
    killed = trajectory(call("openai", "gpt-5"), end_time="", **FAILED)
    longer = trajectory(call("openai", "gpt-5"), call("openai", "gpt-5", 1), end_time="", **FAILED)
    [run] = stored(store, tmp_path, longer, killed)
    assert run["num_turns"] == 2
    [run] = stored(store, tmp_path, trajectory(call("openai", "gpt-5"), call("openai", "gpt-5", 1)))
    assert (run["num_turns"], run["outcome"]) == (2, "completed")


@pytest.mark.parametrize(
    "task", ["Make vLLM faster.", "Make this faster: {}\n" * 1000], ids=["short", "long"]
)
def test_a_torn_file_is_rejected(task: str, store: Store, tmp_path: Path) -> None:
    """Its task may be longer than the beginning that is searched for the marks of a record."""
    text = json.dumps(trajectory(call("openai", "gpt-5"), task=task), indent=2)
    (tmp_path / "torn.json").write_text(text[: text.index("agent_steps")])
    report = ingest_paths(store, tmp_path / "torn.json")
    assert (report.total("rejected"), runs_in_store(store)) == (1, [])


LOGS = {
    "trae": json.dumps(trajectory(call("openai", "gpt-5"), call("bedrock", SONNET, 1)), indent=2),
    "trae_killed": json.dumps(trajectory(call("openai", "gpt-5"), end_time="", **FAILED), indent=2),
}
"""Two states of one run: see `test_orders_of_logs`."""


def test_a_time_outside_this_century_is_unknown(store: Store, tmp_path: Path) -> None:
    (tmp_path / "trajectory.json").write_text(
        json.dumps(trajectory(call("openai", "gpt-5")) | {"start_time": "9999-12-31T23:59:59Z"})
    )
    ingest_paths(store, tmp_path)
    with store.reading() as connection:
        [(started_at, duration)] = connection.execute(
            "select started_at, duration_ms from runs where agent = 'trae-agent'"
        ).fetchall()
    assert (
        started_at is None or started_at.year < 2100,
        duration is None or duration < 10**10,
    ) == (True, True)
