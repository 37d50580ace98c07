"""Harbor's trials: input includes the cache, the agent's time is one phase, and scores stand alone.

A score does not depend on the end.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.conftest import record_text
from tests.documents import read_log, run_of, runs_in, stored

TRIAL = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


def used(
    given: int | None = 98_218,
    read: int | None = 91_834,
    output: int | None = 700,
    cost: float | None = 0.5,
    **more: Any,
) -> dict[str, Any]:
    return {
        "n_input_tokens": given,
        "n_cache_tokens": read,
        "n_output_tokens": output,
        "cost_usd": cost,
    } | more


def phase(start: str, end: str | None) -> dict[str, Any]:
    return {"started_at": f"2026-05-01T12:{start}Z", "finished_at": end and f"2026-05-01T12:{end}Z"}


def raised(kind: str) -> dict[str, Any]:
    told = {
        "exception_type": kind,
        "exception_message": "It took too long.",
        "exception_traceback": "",
        "occurred_at": "2026-05-01T12:02:00Z",
    }
    return {"exception_info": told}


def trial(**changes: Any) -> dict[str, Any]:
    return {
        "id": TRIAL,
        "task_name": "hello-world",
        "trial_name": "hello-world__AbCdEfG",
        "trial_uri": "file:///jobs/hello-world__AbCdEfG",
        "task_id": {"path": "tasks/hello-world"},
        "source": "terminal-bench",
        "task_checksum": "0" * 64,
        "config": {},
        "agent_info": {
            "name": "claude-code",
            "version": "2.1.0",
            "model_info": {"name": "claude-opus-4-1", "provider": "anthropic"},
        },
        "agent_result": used(),
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-05-01T12:00:00Z",
        "finished_at": "2026-05-01T12:03:01Z",
        "environment_setup": phase("00:00", "01:00"),
        "agent_execution": phase("02:00", "02:23"),
        "step_results": None,
    } | changes


def test_a_run_has_its_figures_once() -> None:
    [run] = read_log(trial())
    assert [run[f"{name}_tokens"] for name in ("input", "cache_read", "cache_write", "output")] == [
        6384,
        91_834,
        None,
        700,
    ]
    assert run["tokens_basis"] == "upper_bound", (
        "6,378 of the input were cache writes, which the trial does not say"
    )
    assert (run["run_id"], run["agent"], run["agent_version"], run["record_kind"]) == (
        TRIAL,
        "claude-code",
        "2.1.0",
        "trial",
    )
    assert (run["duration_ms"], run["outcome"], run["score"], run["task"]) == (
        23_000,
        "completed",
        1.0,
        "hello-world",
    )
    assert (run["models"], run["cost_own_usd"]) == (("claude-opus-4-1",), Decimal("0.5"))


def test_the_cache_hit_rate_of_a_model_is_that_of_runs_with_all_classes_of_input(
    store: Store, tmp_path: Path
) -> None:
    """Runs and models have the same rate.

    Cache reads do not count without the input that they are a share of.
    """
    usage = {
        "inputTokens": 10,
        "cacheReadInputTokens": 60,
        "cacheCreationInputTokens": 30,
        "outputTokens": 5,
        "costUSD": 0.25,
    }
    stored(store, tmp_path, trial())
    ingest([Source("log", record_text(modelUsage={"claude-opus-4-1": usage}).encode())], store)
    [of_model] = run_queries.models(store, Filters(), metrics=["cache_hit_ratio"]).to_pylist()
    [of_runs] = run_queries.summary(store, Filters(), metrics=["cache_hit_ratio"]).to_pylist()
    assert (of_model["cache_hit_ratio"], of_model["cache_hit_ratio_known"]) == (0.6, 1)
    assert (of_runs["cache_hit_ratio"], of_runs["cache_hit_ratio_known"]) == (0.6, 1)


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("AgentTimeoutError", "limit_reached"),
        ("ContextWindowExceededError", "limit_reached"),
        ("ApiRateLimitError", "api_error"),
        ("AgentAuthenticationError", "api_error"),
        ("AgentSafetyRefusalError", "refused"),
        ("CancelledError", "interrupted"),
        ("NonZeroAgentExitCodeError", "execution_error"),
        ("VerifierTimeoutError", "completed"),
        ("RewardFileNotFoundError", "unknown"),
        ("EnvironmentStartTimeoutError", "unknown"),
        ("DockerException", "unknown"),
    ],
)
def test_an_exception_is_the_outcome_and_not_the_score(kind: str, outcome: str) -> None:
    run = run_of(trial(verifier_result={"rewards": {"reward": 0.8}}, **raised(kind)))
    assert (run.outcome, run.score, run.errors) == (outcome, 0.8, "It took too long.")


def test_an_agent_that_was_never_started_did_not_fail() -> None:
    """Whatever the exception is called: Harbor's environments raise RuntimeError, too."""
    run = run_of(
        trial(
            agent_result=None, agent_execution=None, verifier_result=None, **raised("RuntimeError")
        )
    )
    assert (run.outcome, run.is_error, run.terminal_reason) == ("unknown", None, "RuntimeError")


@pytest.mark.parametrize(
    ("rewards", "score"),
    [
        ({"reward": 0.0, "style": 1.0}, 0.0),
        ({"tests": 0.5}, 0.5),
        ({"tests": 0.5, "style": 1.0}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_score_is_the_reward(rewards: dict[str, float] | None, score: float | None) -> None:
    assert run_of(trial(verifier_result={"rewards": rewards})).score == score


def test_a_task_with_several_steps_adds_them_up() -> None:
    steps = [
        {
            "step_name": "one",
            "agent_result": used(100, 40, 10, 0.1),
            "agent_execution": phase("00:00", "00:10"),
        },
        {
            "step_name": "two",
            "agent_result": used(200, 50, 20, 0.2),
            "agent_execution": phase("00:20", "00:25"),
        }
        | raised("AgentTimeoutError"),
    ]
    run = run_of(trial(agent_result=None, agent_execution=None, step_results=steps))
    assert (run.input_tokens, run.cache_read_tokens, run.output_tokens, run.cost_reported_usd) == (
        210,
        90,
        30,
        Decimal("0.3"),
    )
    assert (run.duration_ms, run.outcome) == (15_000, "limit_reached")


def test_models_are_told_apart_where_they_add_up(store: Store, tmp_path: Path) -> None:
    usage = {"claude-opus-4-1": used(90, 40, 9, 0.4), "claude-haiku-4-5": used(10, 0, 1, 0.1)}
    other = {
        "id": TRIAL.replace("7", "8"),
        "agent_result": used(500, 40, 10, 0.5, model_usage=usage),
    }
    stored(
        store,
        tmp_path,
        trial(agent_result=used(100, 40, 10, 0.5, model_usage=usage)),
        trial(**other),
    )
    with store.reading() as connection:
        rows = connection.sql(
            "select model_id, input_tokens from model_usage order by input_tokens"
        ).fetchall()
    assert rows == [("claude-haiku-4-5", 10), ("claude-opus-4-1", 50), ("claude-opus-4-1", 460)]


@pytest.mark.parametrize("result", [None, used(None, None, None, None), used(0, 0, 0, 0.0)])
def test_nothing_recorded_is_no_zero(result: dict[str, Any] | None) -> None:
    run = run_of(
        trial(
            agent_result=result,
            agent_info={"name": "oracle", "version": "unknown", "model_info": None},
        )
    )
    assert (run.input_tokens, run.output_tokens, run.cost_reported_usd, run.model) == (
        None,
        None,
        None,
        None,
    )


def test_a_trial_without_an_end_was_interrupted(store: Store, tmp_path: Path) -> None:
    [run] = stored(
        store,
        tmp_path,
        trial(),
        trial(finished_at=None, verifier_result=None, agent_execution=phase("02:00", None)),
    )
    assert run["outcome"] == "completed"
    assert (
        run_of(trial(finished_at=None, agent_execution=phase("02:00", None))).outcome
        == "interrupted"
    )


def test_the_sum_of_a_job_is_no_run() -> None:
    stats = {
        "n_completed_trials": 1,
        "evals": {"a__m__d": {"n_trials": 1}},
        "n_input_tokens": 5,
        "cost_usd": 1.0,
    }
    assert runs_in(json.dumps({"id": TRIAL, "n_total_trials": 1, "stats": stats}).encode()) == (
        [],
        [],
    )


LOGS = {
    "harbor": json.dumps(trial()),
    "harbor_no_id": json.dumps(trial(id=None, exception_info=None, step_results=[])),
}
"""Logs of two runs: see `test_orders_of_logs`."""
