"""Trajectories in ATIF: input includes everything, and segments and sub-agents count once.

Nothing shows how a run ended.
"""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from tests.documents import run_of, stored
from tests.examples import a_share

SESSION = "4ba0d6f5-8a2c-4f49-9a38-0f5d6f2f6c11"
PROMPT = {
    "step_id": 1,
    "source": "user",
    "message": "Make it faster.\nBe careful.",
    "timestamp": "2026-05-01T12:00:00Z",
}


def step(
    number: int, prompt: int = 100, output: int = 10, cached: int | None = 60, **changes: Any
) -> dict[str, Any]:
    metrics = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "cached_tokens": cached,
        "cost_usd": 0.25,
    }
    call = {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {}}
    time = f"2026-05-01T12:00:{number:02}.500Z"
    told = {
        "step_id": number,
        "source": "agent",
        "message": f"Step {number}.",
        "tool_calls": [call],
        "metrics": metrics,
        "timestamp": time,
    }
    return told | changes


def copied(number: int) -> dict[str, Any]:
    return {
        "step_id": number,
        "source": "agent",
        "message": "From before.",
        "is_copied_context": True,
    }


def sums(
    prompt: int, output: int, cached: int | None = None, cost: float | None = None, **extra: Any
) -> dict[str, Any]:
    told = {
        "total_prompt_tokens": prompt,
        "total_completion_tokens": output,
        "total_cached_tokens": cached,
        "total_cost_usd": cost,
    }
    return {name: value for name, value in told.items() if value is not None} | (
        {"extra": extra} if extra else {}
    )


def trajectory(
    *steps: dict[str, Any],
    final: dict[str, Any] | None = None,
    session: str | None = SESSION,
    **changes: Any,
) -> dict[str, Any]:
    agent = {"name": "terminus-2", "version": "2.0.0", "model_name": "openai/gpt-5"}
    told = {
        "schema_version": "ATIF-v1.7",
        "session_id": session,
        "agent": agent,
        "steps": [PROMPT, *steps],
    }
    return told | ({"final_metrics": final} if final else {}) | changes


def test_a_run_has_its_figures_once(store: Store, tmp_path: Path) -> None:
    record = trajectory(
        step(2), step(3), final=sums(200, 20, 120, 0.5, total_cache_creation_input_tokens=30)
    )
    [run] = stored(store, tmp_path, record)
    assert (run["run_id"], run["session_id"]) == (SESSION, SESSION)
    assert [run[f"{name}_tokens"] for name in ("input", "cache_read", "cache_write", "output")] == [
        50,
        120,
        30,
        20,
    ]
    assert (run["tokens_basis"], run["cost_own_usd"], run["model"]) == (
        "exact",
        Decimal("0.5"),
        "gpt-5",
    )
    assert (run["agent"], run["agent_version"], run["record_kind"]) == (
        "terminus-2",
        "2.0.0",
        "trajectory",
    )
    assert (run["outcome"], run["num_turns"], run["duration_ms"]) == ("unknown", 2, 3500)
    assert (run["prompt"], run["title"], run["result"]) == (
        PROMPT["message"],
        "Make it faster",
        "Step 3.",
    )
    with store.reading() as connection:
        assert connection.sql("select tool, calls, errors from tool_calls").fetchall() == [
            ("bash", 2, None)
        ]


@pytest.mark.parametrize(
    ("final", "expected", "basis"),
    [
        (sums(220, 80), (220, None, None), "upper_bound"),
        (sums(220, 80, 20), (200, 20, None), "upper_bound"),
        (sums(220, 80, 20, cache_write_tokens=30), (170, 20, 30), "exact"),
        (
            sums(220, 80, total_cache_read_input_tokens=20, total_cache_creation_input_tokens=0),
            (200, 20, 0),
            "exact",
        ),
    ],
)
def test_what_is_not_told_apart_is_a_bound(
    final: dict[str, Any], expected: tuple[int | None, ...], basis: str
) -> None:
    run = run_of(trajectory(step(2, cached=None), final=final))
    assert (run.input_tokens, run.cache_read_tokens, run.cache_write_tokens) == expected
    assert run.tokens_basis == basis


def test_without_sums_the_steps_are_added_up() -> None:
    """With sub-agents inside, and with what stands in `extra` alone."""
    metrics = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "extra": {"cache_read_input_tokens": 70, "cache_creation_input_tokens": 20},
    }
    inside = trajectory(step(2, 100, 10, 0), trajectory_id="helper")
    run = run_of(trajectory(step(2, metrics=metrics), subagent_trajectories=[inside]))
    assert (run.input_tokens, run.cache_read_tokens, run.cache_write_tokens, run.output_tokens) == (
        110,
        70,
        20,
        20,
    )
    assert run.cost_reported_usd is None, "one of the two has no cost"


@pytest.mark.parametrize("final", [sums(0, 0, 0, 0.0), {}])
def test_zero_on_both_sides_is_not_recorded(final: dict[str, Any]) -> None:
    run = run_of(
        trajectory(
            step(2, metrics={"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}),
            final=final,
        )
    )
    assert (run.input_tokens, run.output_tokens, run.cost_reported_usd, run.num_turns) == (
        None,
        None,
        None,
        1,
    )


def test_several_models_are_told_apart_where_they_add_up(store: Store, tmp_path: Path) -> None:
    steps = [step(2, model_name="openai/gpt-5"), step(3, model_name="openai/gpt-5-mini")]
    stored(store, tmp_path, trajectory(*steps, final=sums(230, 25, 120, 0.6)))
    with store.reading() as connection:
        rows = connection.sql(
            "select model_id, input_tokens, output_tokens from model_usage order by all"
        ).fetchall()
    assert rows == [("openai/gpt-5", 70, 15), ("openai/gpt-5-mini", 40, 10)], (
        "the rest of the sums is of the main model"
    )


def test_calls_of_the_model_are_turns() -> None:
    steps = [
        copied(2),
        step(3, llm_call_count=3),
        step(4, llm_call_count=0),
        step(5),
        {"step_id": 6, "source": "system", "message": "Done."},
    ]
    assert run_of(trajectory(*steps)).num_turns == 4


FIRST = trajectory(
    step(2), final=sums(2252, 160, 0), continued_trajectory_ref="trajectory.cont-1.json"
)
LAST = trajectory(copied(2), step(3), final=sums(7802, 400, 0), session=f"{SESSION}-cont-1")
HELPER = trajectory(
    step(2), final=sums(1300, 90, 0), session=f"{SESSION}-summarization-1-summary"
) | {
    "agent": {
        "name": "terminus-2-summarization-summary",
        "version": "2.0.0",
        "extra": {"parent_session_id": SESSION},
    }
}


@pytest.mark.parametrize("order", a_share(permutations((FIRST, LAST, HELPER)), 3))
def test_segments_and_helpers_are_one_run(
    order: tuple[dict[str, Any], ...], store: Store, tmp_path: Path
) -> None:
    """The last segment has the sums of all."""
    [run] = stored(store, tmp_path, *order)
    assert (run["agent"], run["input_tokens"], run["output_tokens"]) == ("terminus-2", 7802, 400)


def test_a_session_that_is_no_uuid_may_be_of_several_runs(store: Store, tmp_path: Path) -> None:
    other = trajectory(step(2), session="run")
    other["steps"][0] = PROMPT | {"message": "Another task."}
    assert (
        len(
            stored(
                store,
                tmp_path,
                trajectory(step(2), session="run"),
                other,
                trajectory(step(2), session="run"),
            )
        )
        == 2
    )


def test_without_a_session_the_document_is_the_run(store: Store, tmp_path: Path) -> None:
    ids = (SESSION.replace("4", "5"), SESSION.replace("4", "6"))
    assert {
        run["run_id"]
        for run in stored(
            store, tmp_path, *(trajectory(step(2), session=None, trajectory_id=one) for one in ids)
        )
    } == set(ids)


def test_redacted_values_are_not_read() -> None:
    redacted = "<redacted>"
    steps = [step(2, timestamp=redacted), step(3, source=redacted, timestamp=redacted)]
    record = trajectory(*steps, final=sums(10, 1)) | {
        "agent": {"name": redacted, "version": redacted, "model_name": redacted}
    }
    record["steps"][0] = PROMPT | {"timestamp": redacted, "message": redacted}
    run = run_of(record)
    assert (run.agent, run.duration_ms, run.num_turns, run.input_tokens) == (redacted, None, 1, 10)


LOGS = {
    "atif_first": json.dumps(FIRST),
    "atif_last": json.dumps(LAST),
    "atif_other": json.dumps(trajectory(step(2), session=None)),
}
"""Two segments of a run, and another run: see `test_orders_of_logs`."""
