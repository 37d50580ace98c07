"""Predictions, grades and sums of runs are sidecars: they make no runs, and no rejects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ingest.store.database import Store
from tests.conftest import fetched, ingest_paths, record_text

PREDICTION = {
    "model_name_or_path": "gpt-5",
    "instance_id": "django__django-1",
    "model_patch": "diff --git a/x b/x\n",
}
GRADE = {
    "patch_is_None": False,
    "patch_exists": True,
    "patch_successfully_applied": True,
    "resolved": True,
    "tests_status": {},
}
ROLL_UPS: dict[str, Any] = {
    "preds": {
        "django__django-1": PREDICTION,
        "django__django-2": PREDICTION | {"model_patch": None},
    },
    "prediction": PREDICTION,
    "predictions": [PREDICTION, PREDICTION | {"instance_id": "django__django-2"}],
    "patch with a record in it": PREDICTION | {"model_patch": record_text()},
    "grade": GRADE,
    "grade by task": {"django__django-1": GRADE},
    "grades": {
        "total_instances": 2,
        "resolved_ids": ["a"],
        "unresolved_ids": ["b"],
        "error_ids": [],
        "schema_version": 2,
    },
    "job": {
        "id": "x",
        "n_total_trials": 2,
        "stats": {"n_completed_trials": 2, "cost_usd": 3.5, "evals": {}},
    },
    "metadata": {
        "run_id": "2025-10-21__11-48-19",
        "agent_name": "terminus",
        "n_attempts": 5,
        "accuracy": 0.5,
    },
}


def test_a_roll_up_is_a_sidecar(store: Store, tmp_path: Path) -> None:
    for name, value in ROLL_UPS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    report = ingest_paths(store, tmp_path)
    told = {
        Path(source.name).stem: (source.accepted, source.rejected, source.ignored, source.kind)
        for source in report.sources
    }
    assert told == dict.fromkeys(ROLL_UPS, (0, 0, 1, "sidecar"))
    assert fetched(store, "select distinct kind from sources") == [("sidecar",)]


def test_predictions_in_lines_are_one_too(store: Store, tmp_path: Path) -> None:
    (tmp_path / "all_preds.jsonl").write_text(
        "".join(json.dumps(PREDICTION) + "\n" for _ in range(3))
    )
    assert ingest_paths(store, tmp_path / "all_preds.jsonl").total("ignored") == 1


def test_somebodys_own_file_with_a_patch_and_a_record_is_a_run(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "mine.json").write_text(
        json.dumps(PREDICTION | {"claude": json.loads(record_text())})
    )
    assert ingest_paths(store, tmp_path / "mine.json").total("accepted") == 1
