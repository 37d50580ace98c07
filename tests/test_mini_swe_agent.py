"""mini-swe-agent's trajectories.

Tokens of every reply, cost of this run only, and the limit that ended it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from tests.documents import run_of, runs_in, stored

STARTED = 1_763_506_508
SYSTEM = {"role": "system", "content": "End with `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`."}
TASK = {
    "role": "user",
    "content": (
        "<pr_description>\nConsider the following PR description:\nMake it "
        "faster.\n</pr_description>\nInstructions"
    ),
}


def usage(
    prompt: int = 100, output: int = 10, read: int = 60, reasoning: int = 4
) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": read},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def reply(number: int = 0, counts: dict[str, Any] | None = None, **extra: Any) -> dict[str, Any]:
    """A reply in format 1, with its observation's exit code one message later."""
    response = {
        "id": f"gen-{number}",
        "created": STARTED + number,
        "model": "served",
        "usage": usage() if counts is None else counts,
    }
    return {
        "role": "assistant",
        "content": f"Step {number}.\n\n```bash\nls\n```",
        "extra": {"response": response} | extra,
    }


def observed(code: int = 0) -> dict[str, Any]:
    return {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n</output>"}


def trajectory(
    *messages: dict[str, Any],
    status: str | None = "Submitted",
    cost: float = 0.5,
    calls: int = 1,
    **changes: Any,
) -> dict[str, Any]:
    model = {"model_name": "openai/gpt-5", "cost_tracking": "default"}
    info = {
        "exit_status": status,
        "submission": "",
        "model_stats": {"instance_cost": cost, "api_calls": calls},
        "mini_version": "1.15.0",
        "config": {
            "agent": {"step_limit": 250, "cost_limit": 3.0},
            "model": model,
            "environment": {"cwd": "/testbed"},
        },
    }
    whole = {
        "info": info,
        "messages": [SYSTEM, TASK, *messages],
        "trajectory_format": "mini-swe-agent-1",
        "instance_id": "django__django-1",
    }
    return whole | changes


def second(*messages: dict[str, Any], **options: Any) -> dict[str, Any]:
    return trajectory(*messages, trajectory_format="mini-swe-agent-1.1", **options)


def test_a_run_has_its_figures_once(store: Store, tmp_path: Path) -> None:
    [run] = stored(
        store,
        tmp_path,
        trajectory(
            reply(), observed(1), reply(30), {"role": "user", "content": "diff --git a b"}, calls=2
        ),
    )
    assert (
        run["input_tokens"],
        run["cache_read_tokens"],
        run["cache_write_tokens"],
        run["output_tokens"],
    ) == (80, 120, 0, 20)
    assert (run["agent"], run["agent_version"], run["outcome"], run["num_turns"]) == (
        "mini-swe-agent",
        "1.15.0",
        "completed",
        2,
    )
    assert (run["cost_own_usd"], run["model"], run["task"], run["repo"]) == (
        Decimal("0.5"),
        "gpt-5",
        "django__django-1",
        "django/django",
    )
    assert (run["prompt"], run["result"]) == ("Make it faster.", "Step 30.\n\n```bash\nls\n```")
    assert (run["started_at"], run["duration_ms"]) == (
        datetime.fromtimestamp(STARTED, UTC),
        None,
    ), "replies have times, the run has none"
    with store.reading() as connection:
        assert connection.sql("select tool, calls, errors from tool_calls").fetchall() == [
            ("bash", 2, 1)
        ]


def test_messages_with_times_tell_how_long_the_run_took() -> None:
    call = reply(actions=[{"command": "ls"}, {"command": "pwd"}], cost=0.5, timestamp=STARTED + 2.5)
    results = [
        {"role": "tool", "content": "", "extra": {"returncode": code, "timestamp": STARTED + 3}}
        for code in (0, 1)
    ]
    end = {
        "role": "exit",
        "content": "",
        "extra": {"exit_status": "Submitted", "timestamp": STARTED + 10},
    }
    run = run_of(second(call, *results, end))
    assert (run.duration_ms, run.num_turns) == (7500, 1)


@pytest.mark.parametrize("is_response", [True, False])
def test_the_responses_api_counts_the_same(is_response: bool) -> None:
    counts = {
        "input_tokens": 100,
        "output_tokens": 10,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens_details": {"reasoning_tokens": 4},
    }
    response = {"object": "response", "id": "r", "created_at": STARTED, "usage": counts}
    said = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Done."}]}]}
    message = (
        response | said
        if is_response
        else {"role": "assistant", "content": "Done.", "extra": {"response": response}}
    )
    run = run_of(second(message))
    assert (run.input_tokens, run.cache_read_tokens, run.output_tokens, run.result) == (
        40,
        60,
        10,
        "Done.",
    )


def test_a_reply_that_could_not_be_parsed_was_billed_too() -> None:
    """Since 2.4 it stands in the message of its error; before, only the count of calls has it."""
    error = {
        "role": "user",
        "content": "One action, please.",
        "extra": {"interrupt_type": "FormatError", "response": {"usage": usage()}, "cost": 0.1},
    }
    lost = {
        "role": "user",
        "content": "One action, please.",
        "extra": {"interrupt_type": "FormatError"},
    }
    assert (
        run_of(second(reply(), error, calls=2)).input_tokens,
        run_of(second(reply(), error, calls=2)).num_turns,
    ) == (80, 2)
    assert (
        run_of(second(reply(), lost, calls=2)).input_tokens,
        run_of(second(reply(), lost, calls=2)).num_turns,
    ) == (40, 2)


CLAUDE = {
    "prompt_tokens_details": {"cached_tokens": 50},
    "completion_tokens": 1,
    "cache_read_input_tokens": 50,
}


@pytest.mark.parametrize(
    ("counts", "uncached", "written", "basis"),
    [
        (CLAUDE | {"prompt_tokens": 100, "cache_creation_input_tokens": 30}, 20, 30, "lower_bound"),
        (CLAUDE | {"prompt_tokens": 60, "cache_creation_input_tokens": 30}, 10, 30, "exact"),
        (CLAUDE | {"prompt_tokens": 60, "cache_creation_input_tokens": 0}, 10, 0, "exact"),
        ({"prompt_tokens": 60, "completion_tokens": 1}, 60, None, "upper_bound"),
        (
            {
                "input_tokens": 6,
                "output_tokens": 1,
                "cache_read_input_tokens": 50,
                "cache_creation_input_tokens": 30,
            },
            6,
            30,
            "exact",
        ),
        (usage(output=10, reasoning=90), 40, 0, "lower_bound"),
    ],
)
def test_where_the_cache_is_counted(
    counts: dict[str, Any], uncached: int, written: int | None, basis: str
) -> None:
    run = run_of(second(reply(counts=counts)))
    assert (run.input_tokens, run.cache_write_tokens, run.tokens_basis) == (
        uncached,
        written,
        basis,
    )


@pytest.mark.parametrize(
    ("name", "kind", "provider"),
    [
        ("openai/gpt-5", "litellm_model.LitellmModel", "openai"),
        (
            "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "litellm_model.LitellmModel",
            "aws",
        ),
        ("@google/gemini-2.5-pro", "portkey_model.PortkeyModel", "google"),
        ("openai/gpt-5", "openrouter_model.OpenRouterModel", "openrouter"),
    ],
)
def test_who_was_asked_is_in_front_of_the_model(
    store: Store, tmp_path: Path, name: str, kind: str, provider: str
) -> None:
    """By litellm it is the provider, by OpenRouter the maker."""
    record = trajectory(reply())
    record["info"]["config"] |= {
        "model": {"model_name": name},
        "model_type": f"minisweagent.models.{kind}",
    }
    assert [run["provider"] for run in stored(store, tmp_path, record)] == [provider]


def test_no_price_is_no_free_run() -> None:
    assert run_of(trajectory(reply(), cost=0.0)).cost_reported_usd is None
    assert run_of(trajectory(cost=0.0, calls=0, status="RuntimeError")).cost_reported_usd == 0


def test_a_model_object_that_served_an_earlier_run_counts_this_run_only() -> None:
    """Before 2.0 its sums went on: of 9 calls 2 are of this run."""
    run = run_of(
        trajectory(reply(cost=0.1), observed(), reply(1, cost=0.2), observed(), cost=5.0, calls=9)
    )
    assert (run.cost_reported_usd, run.num_turns) == (Decimal("0.3"), 2)


def test_several_models_are_told_by_their_replies(store: Store, tmp_path: Path) -> None:
    replies = [reply(number) for number in range(2)]
    replies[1]["extra"]["response"]["model"] = "other"
    record = trajectory(*replies, calls=2)
    record["info"]["config"]["model"]["model_name"] = "roulette"
    stored(store, tmp_path, record)
    with store.reading() as connection:
        assert connection.sql(
            "select model_id, input_tokens from model_usage order by all"
        ).fetchall() == [("other", 40), ("served", 40)]


@pytest.mark.parametrize(
    ("status", "calls", "cost", "outcome"),
    [
        ("LimitsExceeded", 250, 0.5, "max_turns"),
        ("LimitsExceeded", 40, 3.01, "max_budget"),
        ("LimitsExceeded", 40, 0.5, "limit_reached"),
        ("TimeExceeded", 1, 0.5, "limit_reached"),
        ("RepeatedFormatError", 1, 0.5, "execution_error"),
        ("CalledProcessError", 1, 0.5, "execution_error"),
        ("CalledProcessError", 0, 0, "unknown"),
        ("DockerException", 1, 0.5, "unknown"),
        ("ContextWindowExceededError", 1, 0.5, "execution_error"),
        ("UserInterruption", 1, 0.5, "interrupted"),
        ("", 1, 0.5, "interrupted"),
        (None, 1, 0.5, "interrupted"),
    ],
)
def test_the_status_tells_the_outcome(
    status: str | None, calls: int, cost: float, outcome: str
) -> None:
    assert run_of(second(reply(), status=status, calls=calls, cost=cost)).outcome == outcome


def test_of_a_growing_trajectory_the_last_state_is_kept(store: Store, tmp_path: Path) -> None:
    growing, ended = (
        trajectory(reply(), status=""),
        trajectory(reply(), observed(), reply(1), calls=2),
    )
    [run] = stored(store, tmp_path, ended, growing)
    assert (run["num_turns"], run["outcome"]) == (2, "completed")
    assert len(stored(store, tmp_path, trajectory(reply(7)))) == 2, (
        "another attempt at the task has another first reply"
    )


def test_messages_alone_are_refused_once() -> None:
    runs, rejects = runs_in(json.dumps([SYSTEM, TASK, reply(), SYSTEM]).encode())
    assert not runs
    assert [reject.startswith("a list of messages alone") for reject in rejects] == [True]


LOGS = {
    "mini": json.dumps(trajectory(reply())),
    "mini_2": json.dumps(
        second(reply(1, cost=0.1, timestamp=STARTED), instance_id="django__django-2")
    ),
}
"""Logs of two runs: see `test_orders_of_logs`."""
