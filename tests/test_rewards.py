"""What Harbor's verifier wrote beside a trajectory.

The score and the task of the run, and what was measured of it.
"""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests.conftest import Run, ingest_paths
from tests.documents import runs_in_store
from tests.test_atif import step, sums, trajectory
from tests.test_harbor import trial

SOLVED = {
    "reward": 1,
    "correct": True,
    "speedup_vs_lib": 2.5,
    "speedup_vs_naive": 9.0,
    "max_err": 0.01,
    "suspicious": True,
    "error": None,
}
WRONG = {
    "reward": 0,
    "correct": False,
    "speedup_vs_lib": None,
    "max_err": 3.5,
    "suspicious": False,
    "error": "values differ",
}
SESSIONS = [f"4ba0d6f5-8a2c-4f49-9a38-0f5d6f2f6c{number:02}" for number in range(4)]


def put(place: Path, name: str, value: object) -> Path:
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def log(number: int = 0, model: str = "openai/gpt-5") -> dict[str, Any]:
    agent = {"name": "terminus-2", "version": "2.0.0", "model_name": model}
    last = step(2, message="The kernel is 2.4x faster.")
    return trajectory(last, final=sums(100, 10, 60, 0.25), session=SESSIONS[number], agent=agent)


def verdicts(store: Store) -> list[tuple[Any, ...]]:
    columns = (
        "v_verdicts.run_id, v_verdicts.metric, claimed_speedup, measured_speedup, measured_class"
    )
    with store.reading() as connection:
        rows: list[tuple[Any, ...]] = connection.sql(
            f"select {columns} from v_verdicts order by all"
        ).fetchall()
    return rows


def two_models(place: Path) -> Path:
    for number, (model, reward) in enumerate(
        (("openai/gpt-5", SOLVED), ("anthropic/claude-opus-4-6", WRONG))
    ):
        folder = place / f"jobs/{number}/sample1/softmax__4096"
        put(folder, "trajectory.json", log(number, model))
        put(folder, "reward.json", reward)
    return place


def test_a_reward_beside_a_trajectory_is_score_task_and_measured_speedup(
    store: Store, tmp_path: Path, tachograph: Run
) -> None:
    report = ingest_paths(store, two_models(tmp_path))
    assert (report.total("accepted"), report.total("ignored"), report.total("rejected")) == (
        2,
        2,
        0,
    )
    one, other = runs_in_store(store)
    assert [(run["score"], run["outcome"], run["task"]) for run in (one, other)] == [
        (1.0, "completed", "softmax__4096"), (0.0, "completed", "softmax__4096"),
    ]  # fmt: skip
    assert [dict(run["labels"]) for run in (one, other)] == [
        {"correct": "true", "suspicious": "true"}, {"correct": "false", "suspicious": "false"},
    ]  # fmt: skip
    assert verdicts(store) == [
        (SESSIONS[0], "speedup_vs_lib", 2.4, 2.5, "faster"),
        (SESSIONS[1], "speedup_vs_lib", 2.4, None, "breaks"),
    ]
    with store.reading() as connection:
        given = connection.sql(
            "select metric, value, ratio_base, status from measurements order by all"
        ).fetchall()
    assert given == [
        ("max_err", 0.01, None, "ok"),
        ("max_err", 3.5, None, "failed"),
        ("speedup_vs_lib", 2.5, "baseline", "ok"),
        ("speedup_vs_lib", None, "baseline", "failed"),
        ("speedup_vs_naive", 9.0, "baseline", "ok"),
    ]
    matrix = tachograph(
        "tasks", "--by", "model", "--format", "csv", "--db", str(store.location)
    ).stdout.splitlines()
    assert len(matrix) == 2, "one task"
    assert all(name in matrix[0] for name in ("gpt-5", "claude-opus-4-6")), "of two models"
    solved = tachograph(
        "report",
        "--by",
        "model",
        "--metrics",
        "solved",
        "--format",
        "json",
        "--db",
        str(store.location),
    )
    assert '"solved": 1' in solved.stdout


def test_a_rebuild_keeps_what_the_verifier_said(store: Store, tmp_path: Path) -> None:
    """It has only the store."""
    ingest_paths(store, two_models(tmp_path / "in"))
    before, measured = runs_in_store(store), verdicts(store)
    for path in (tmp_path / "in").rglob("*.json"):
        path.unlink()
    rebuild(store)
    assert (runs_in_store(store), verdicts(store)) == (before, measured)


def test_in_an_archive_it_is_the_same(store: Store, tmp_path: Path) -> None:
    place, packed = two_models(tmp_path / "in"), tmp_path / "runs.tar"
    with tarfile.open(packed, "w") as archive:
        for path in sorted(place.rglob("*.json"), reverse=True):
            member = tarfile.TarInfo(str(path.relative_to(place)))
            member.size = path.stat().st_size
            archive.addfile(member, io.BytesIO(path.read_bytes()))
    ingest_paths(store, packed)
    assert [(run["score"], run["task"]) for run in runs_in_store(store)] == [
        (1.0, "softmax__4096"),
        (0.0, "softmax__4096"),
    ]
    assert [row[3:] for row in verdicts(store)] == [(2.5, "faster"), (None, "breaks")]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"verifier/reward.json": {"reward": 0.5}}, (0.5, "sort", "completed")),
        ({"verifier/reward.json": "1"}, (1.0, "sort", "completed")),
        ({"verifier/reward.json": {"accuracy": 0.75}}, (0.75, "sort", "completed")),
        ({"verifier/reward.txt": "1\n"}, (1.0, "sort", "completed")),
        (
            {"verifier/reward.json": {"a": 1, "b": 0}, "verifier/reward.txt": "0.25"},
            (0.25, "sort", "completed"),
        ),
        (
            {
                "verifier/reward.txt": "1",
                "config.json": {
                    "trial_name": "sort__AbCdEfG",
                    "task": {"path": "/tasks/sort-numbers"},
                },
            },
            (1.0, "sort-numbers", "completed"),
        ),
        (
            {
                "config.json": {
                    "trial_name": "sort__AbCdEfG",
                    "task": {"path": "/tasks/sort-numbers"},
                }
            },
            (None, "sort-numbers", "unknown"),
        ),
        (
            {"config.json": {"n_attempts": 1, "tasks": [{"path": "/tasks/sort-numbers"}]}},
            (None, None, "unknown"),
        ),
        ({"verifier/reward.json": {"reward": "high"}}, (None, None, "unknown")),
        ({"verifier/reward.json": "NaN", "verifier/reward.txt": ""}, (None, None, "unknown")),
        ({"verifier/reward.json": {"a": 1, "b": 0}}, (None, None, "unknown")),
        ({"verifier/reward.json": '{"reward": 1' + "0" * 400 + "}"}, (None, None, "unknown")),
        ({}, (None, None, "unknown")),
    ],
)
def test_a_trial_without_a_result_has_the_reward_of_its_verifier_and_the_task_of_its_configuration(
    store: Store, tmp_path: Path, files: dict[str, object], expected: tuple[Any, ...]
) -> None:
    put(tmp_path, "sort__AbCdEfG/agent/trajectory.json", log())
    for name, value in files.items():
        put(tmp_path, f"sort__AbCdEfG/{name}", value)
    ingest_paths(store, tmp_path)
    [run] = runs_in_store(store)
    assert (run["score"], run["task"], run["outcome"]) == expected


def test_a_trial_with_a_result_stays_as_it_is_and_has_its_measured_values(
    store: Store, tmp_path: Path
) -> None:
    """The direction of a metric without a unit follows from the reference.

    The reference is better than the baseline.
    """
    folder = tmp_path / "hello-world__AbCdEfG"
    put(folder, "result.json", trial())
    put(folder, "agent/trajectory.json", log())
    put(
        folder,
        "config.json",
        {"trial_name": "hello-world__AbCdEfG", "task": {"path": "/tasks/other"}},
    )
    measured = {
        "metric": 4.0,
        "baseline_time_measured": 8.0,
        "baseline_time": 0.0,
        "reference_time": 2.0,
    }
    put(folder, "verifier/reward.json", {"reward": 0.25, "fine": True, **measured})
    ingest_paths(store, tmp_path)
    [run] = runs_in_store(store)
    assert (run["score"], run["task"], run["outcome"], dict(run["labels"])) == (
        1.0,
        "hello-world",
        "completed",
        {},
    )
    with store.reading() as connection:
        columns = (
            "measured_baseline, measured_candidate, measured_reference, measured_speedup, "
            "measured_vs_reference"
        )
        assert connection.sql(f"select {columns} from v_verdicts").fetchall() == [
            (8.0, 4.0, 2.0, 2.0, 0.5)
        ]


def test_a_reward_of_a_trajectory_is_not_that_of_other_logs_beside_it(
    store: Store, tmp_path: Path
) -> None:
    """Nor do other objects with a reward have measured values."""
    put(tmp_path, "trajectory.json", log(0))
    put(tmp_path, "later.json", log(1))
    put(tmp_path, "reward.json", SOLVED)
    put(tmp_path, "training.json", {"reward": 1, "loss": 0.5})
    ingest_paths(store, tmp_path)
    assert [run["score"] for run in runs_in_store(store)] == [1.0, None]
    with store.reading() as connection:
        assert connection.sql("select count(distinct source_id) from measurements").fetchall() == [
            (1,)
        ]
