"""SWE-agent's trajectories.

The cost of the run and not of its batch, tokens as estimates, and a limit that did not lose the
patch.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from tests.documents import run_of, runs_in, stored

CONFIG = {
    "agent": {"model": {"name": "gpt-4o"}},
    "problem_statement": {"id": "django__django-7", "type": "text"},
    "env": {"repo": {"github_url": "https://github.com/django/django", "base_commit": "abc1234"}},
}


def step(
    action: str = "ls -F\n", seconds: float | None = 0.25, thought: str = "I look."
) -> dict[str, Any]:
    told = {
        "action": action,
        "observation": "",
        "response": f"{thought}\n```\n{action}```",
        "thought": thought,
        "state": "{}",
    }
    return told | ({} if seconds is None else {"execution_time": seconds})


def trajectory(
    *steps: dict[str, Any],
    status: str | None = "submitted",
    stats: dict[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    sums = (
        {"instance_cost": 0.5, "tokens_sent": 7000, "tokens_received": 200, "api_calls": 2}
        if stats is None
        else stats
    )
    history = [
        {"role": "system", "content": "SETTING: …"},
        {"role": "user", "content": "A demonstration", "is_demo": True},
        {
            "role": "user",
            "content": (
                "We solve this.\nISSUE:\nIt is slow.\nVery slow.\n\nINSTRUCTIONS:\nNow solve it."
            ),
        },
        {"role": "assistant", "content": "I look."},
    ]
    info = {
        "exit_status": status,
        "submission": "diff",
        "model_stats": sums,
        "swe_agent_version": "1.0.1",
    }
    return {
        "environment": "main",
        "trajectory": list(steps),
        "history": history,
        "info": info,
        "replay_config": CONFIG,
    } | changes


def test_a_run_has_its_figures_once(store: Store, tmp_path: Path) -> None:
    [run] = stored(
        store, tmp_path, trajectory(step(), step("submit\n", 0.1, "Parsing is 2x faster."))
    )
    assert (
        run["input_tokens"],
        run["cache_read_tokens"],
        run["output_tokens"],
        run["tokens_basis"],
    ) == (7000, None, 200, "estimate")
    assert (run["agent"], run["agent_version"], run["outcome"], run["num_turns"]) == (
        "swe-agent",
        "1.0.1",
        "completed",
        2,
    )
    assert (run["cost_own_usd"], run["model"], run["task"]) == (
        Decimal("0.5"),
        "gpt-4o",
        "django__django-7",
    )
    assert (run["prompt"], run["result"]) == ("It is slow.\nVery slow.", "Parsing is 2x faster.")
    with store.reading() as connection:
        assert connection.sql(
            "select tool, calls, errors from tool_calls order by 1"
        ).fetchall() == [("ls", 1, None), ("submit", 1, None)]


def test_the_running_cost_of_a_batch_is_not_that_of_the_run() -> None:
    stats = {
        "total_cost": 480.25,
        "instance_cost": 1.5,
        "tokens_sent": 1,
        "tokens_received": 1,
        "api_calls": 1,
    }
    assert run_of(trajectory(step(), stats=stats)).cost_reported_usd == Decimal("1.5")


def test_estimated_tokens_do_not_audit_the_cost(store: Store, tmp_path: Path) -> None:
    """The agent's own count and the provider's never agree."""
    stored(store, tmp_path, trajectory(step()))
    with store.reading() as connection:
        assert connection.sql("select rule from findings where rule like 'cost_%'").fetchall() == []
        assert connection.sql("select cost_list_usd is not null from runs").fetchall() == [(True,)]


def test_settings_may_be_a_string() -> None:
    run = run_of(trajectory(step(), replay_config=json.dumps(CONFIG)))
    assert (run.task, run.requested_model) == (None, None), "the context is empty here"
    assert run.raw == run_of(trajectory(step())).raw


@pytest.mark.parametrize("calls", [0, 13])
def test_zero_with_steps_means_that_nothing_was_counted(calls: int) -> None:
    """A demonstration by a person, a replay, or a local model."""
    run = run_of(
        trajectory(
            step(),
            stats={"instance_cost": 0, "tokens_sent": 0, "tokens_received": 0, "api_calls": calls},
        )
    )
    assert (run.cost_reported_usd, run.input_tokens, run.num_turns, run.tokens_basis) == (
        None,
        None,
        1,
        "unknown",
    )


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("submitted", "completed"),
        ("submitted (exit_cost)", "completed"),
        ("exit_cost", "max_budget"),
        ("exit_context", "limit_reached"),
        ("exit_total_execution_time", "limit_reached"),
        ("exit_format", "execution_error"),
        ("exit_environment_error", "unknown"),
        ("early_exit", "execution_error"),
        (None, "interrupted"),
    ],
)
def test_the_status_tells_the_outcome(status: str | None, outcome: str) -> None:
    assert run_of(trajectory(step(), status=status)).outcome == outcome


def test_a_growing_run_is_one_and_attempts_are_several(store: Store, tmp_path: Path) -> None:
    """At temperature 0 attempts begin alike; their commands never take the same time."""
    [run] = stored(
        store, tmp_path, trajectory(step(), step("submit\n")), trajectory(step(), status=None)
    )
    assert (run["num_turns"], run["outcome"]) == (2, "completed")
    assert len(stored(store, tmp_path, trajectory(step(seconds=0.26)))) == 2


def test_attempts_without_times_differ_by_any_reply(store: Store, tmp_path: Path) -> None:
    early, later = (
        trajectory(step(seconds=None), step(seconds=None, thought=thought))
        for thought in ("This.", "That.")
    )
    assert len(stored(store, tmp_path, early, later, later)) == 2


def test_a_history_alone_is_a_demonstration() -> None:
    assert runs_in(json.dumps({"history": trajectory()["history"]}).encode()) == ([], [])


LOGS = {
    "swe_agent": json.dumps(trajectory(step())),
    "swe_agent_torn": json.dumps(trajectory(step(), status=None, replay_config=None)),
}
"""Logs of two runs: see `test_orders_of_logs`."""
