"""terminal-bench's results.

A run for each trial, solved or not whatever its end, and no tokens where none were recorded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.store.database import Store
from schemas.catalogue.metrics import RUN_METRICS
from tests.conftest import ingest_paths, record_text
from tests.documents import read_log, run_of, runs_in, stored


def trial(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": str(UUID(int=number)),
        "trial_name": f"play-zork.{number}-of-5.2025-10-21__11-48-19",
        "task_id": "play-zork",
        "instruction": "Win the game.",
        "is_resolved": True,
        "failure_mode": "unset",
        "parser_results": {"test_won": "passed"},
        "recording_path": None,
        "total_input_tokens": 1000,
        "total_output_tokens": 50,
        "trial_started_at": "2025-10-21T11:48:28.583289+00:00",
        "trial_ended_at": "2025-10-21T11:54:55.980977+00:00",
        "agent_started_at": "2025-10-21T11:52:49.365413+00:00",
        "agent_ended_at": "2025-10-21T11:54:36.112340+00:00",
    } | changes


def results(*trials: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": str(UUID(int=99)),
        "results": list(trials),
        "pass_at_k": {},
        "n_resolved": 1,
        "n_unresolved": 0,
        "accuracy": 0.5,
    }


def test_every_trial_is_a_run_with_its_figures() -> None:
    run, other = read_log(results(trial(), trial(2, is_resolved=False)))
    assert (run["run_id"], run["record_kind"], run["task"], run["prompt"]) == (
        str(UUID(int=1)),
        "trial",
        "play-zork",
        "Win the game.",
    )
    assert (
        run["input_tokens"],
        run["cache_read_tokens"],
        run["output_tokens"],
        run["tokens_basis"],
    ) == (1000, None, 50, "upper_bound")
    assert (run["duration_ms"], run["outcome"], run["agent"]) == (106_747, "completed", "unknown")
    assert (run["score"], other["score"]) == (1, 0)


def test_results_of_a_run_and_of_its_trials_repeat_each_other(store: Store, tmp_path: Path) -> None:
    assert len(stored(store, tmp_path, trial(2), results(trial(1), trial(2)), trial(1))) == 2


@pytest.mark.parametrize(
    ("mode", "outcome"),
    [
        ("unset", "completed"),
        ("none", "completed"),
        ("test_timeout", "completed"),
        ("agent_timeout", "limit_reached"),
        ("context_length_exceeded", "limit_reached"),
        ("output_length_exceeded", "limit_reached"),
        ("parse_error", "unknown"),
        ("agent_installation_failed", "unknown"),
        ("unknown_agent_error", "execution_error"),
        ("unknown", "unknown"),
        (None, "unknown"),
    ],
)
@pytest.mark.parametrize("solved", [True, None])
def test_the_failure_is_the_outcome_and_not_the_score(
    mode: str | None, outcome: str, solved: bool | None
) -> None:
    run = run_of(trial(failure_mode=mode, is_resolved=solved))
    assert (run.outcome, run.score) == (outcome, solved and 1)


def test_a_failure_of_the_harness_is_none_of_the_agent(store: Store, tmp_path: Path) -> None:
    """It is a run with a cost, but of an unknown outcome.

    The rate of failures is that of the others.
    """
    modes = ("unset", "parse_error", "agent_installation_failed", "unknown_agent_error")
    stored(
        store,
        tmp_path,
        results(*(trial(number, failure_mode=mode) for number, mode in enumerate(modes, 1))),
    )
    with store.reading() as connection:
        [told] = connection.sql(
            f"select count(*), {RUN_METRICS['error_rate'].sql} from v_runs"
        ).fetchall()
        ends = connection.sql(
            "select terminal_reason, is_error from v_runs where is_completed is null order by 1"
        ).fetchall()
    assert told == (4, 0.5)
    assert ends == [("agent_installation_failed", None), ("parse_error", None)]


def test_zero_tokens_were_not_recorded() -> None:
    run = run_of(trial(failure_mode="agent_timeout", total_input_tokens=0, total_output_tokens=0))
    assert (run.input_tokens, run.output_tokens, run.tokens_basis) == (None, None, "unknown")


def test_older_trials_have_neither_id_nor_times(store: Store, tmp_path: Path) -> None:
    old = [
        {
            name: value
            for name, value in trial(number).items()
            if name != "id" and not name.endswith("_at")
        }
        for number in (1, 2)
    ]
    assert len(stored(store, tmp_path, results(*old), *old)) == 2


def test_a_trial_with_a_wrong_figure_is_a_reject_of_its_own(store: Store, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(
        json.dumps(results(trial(1), trial(2, total_input_tokens=-1), trial(3)))
    )
    report = ingest_paths(store, tmp_path / "results.json")
    assert (report.total("accepted"), report.total("rejected"), report.total("documents")) == (
        2,
        1,
        3,
    )
    with store.reading() as connection:
        [(detail,)] = connection.sql("select detail from rejects").fetchall()
    assert detail.startswith("results.1: total_input_tokens: ")


def test_a_record_in_an_instruction_is_no_run() -> None:
    assert len(read_log(results(trial(instruction=record_text())))) == 1


@given(st.integers(0, 99))
def test_a_cut_file_is_one_reject_and_no_trial(cut: int) -> None:
    data = json.dumps(results(trial(1), trial(2), trial(3)), indent=2).encode()
    data = data[: len(data) * cut // 100]
    runs, rejects = runs_in(data)
    assert not runs
    assert len(rejects) == 1 or cut < 20


LOGS = {
    "terminal_bench": json.dumps(results(trial(1), trial(2, total_input_tokens=0))),
    "terminal_bench_trial": json.dumps(trial(2, total_input_tokens=0)),
}
"""Logs of two runs: see `test_orders_of_logs`."""
