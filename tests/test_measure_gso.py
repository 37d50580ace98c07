"""Reports and the manifest of GSO, through an ingest: ratios without values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ingest.measurements.base import MeasuredFile
from ingest.measurements.tools import read_measurements
from ingest.store.database import Store
from schemas.rows.measurement import MeasurementRow
from tests.conftest import ingest_paths
from tests.measuring import rows_read


def task(base: float, commit: float, times: float = 2.0) -> dict[str, Any]:
    """The speedups of a task: geometric mean over the base, harmonic mean over the commit, and the ratio of the mean times to the base."""
    return {
        "gm_speedup_patch_base": base, "hm_speedup_patch_base": base - 0.05, "am_speedup_patch_base": times,
        "gm_speedup_patch_commit": commit + 0.05, "hm_speedup_patch_commit": commit, "am_speedup_patch_commit": commit,
        "gm_speedup_commit_base": 1.5, "gm_speedup_patch_main": None,
    }  # fmt: skip


REPORT: dict[str, Any] = {
    "summary": {"total_instances": 9, "opt_commit": 2, "score": 22.2},
    "instance_sets": {
        "opt_commit_ids": ["numpy__numpy-1b861a2"], "test_failed_ids": ["numpy__numpy-09db9c7"], "base_failed_ids": ["o__r-0a1b2c3"],
        "patch_failed_ids": [], "empty_patch_ids": ["python-pillow__Pillow-fd8ee84"], "error_ids": [],
    },
    "opt_stats": {
        "numpy__numpy-1b861a2": task(3.5, 1.25),
        "numpy__numpy-2540554": task(1.16, 0.96),
        "numpy__numpy-68eead8": task(2.5, 0.95),
        "numpy__numpy-7853cbc": task(1.14, 1.5),
        "numpy__numpy-cedba62": task(1.5, 1.5, times=0.9),
    },
}  # fmt: skip


def rows_of(report: dict[str, Any], name: str = "reports/gpt-5.json") -> tuple[MeasurementRow, ...]:
    return rows_read(read_measurements(MeasuredFile(name, json.dumps(report)), "source"))


def test_a_report_has_ratios_and_failures(store: Store, tmp_path: Path) -> None:
    (tmp_path / "gpt-5.json").write_text(json.dumps(REPORT))
    ingest_paths(store, tmp_path)
    with store.reading() as connection:
        found = connection.sql(
            "select variant, ratio_base, statistic, value, unit, better, metric, model, repo, commit_full from measurements"
            " where instance = 'numpy__numpy-1b861a2' order by measurement_no"
        ).fetchall()
        failed = connection.sql("select instance, failure from measurements where status = 'failed' order by all").fetchall()
    same = ("ratio", "higher", "speedup", "gpt-5", "numpy/numpy", "1b861a2")
    assert found == [
        ("candidate", "baseline", "geometric_mean", 3.5, *same), ("candidate", "baseline", "harmonic_mean", 3.45, *same),
        ("candidate", "baseline", "mean", 2.0, *same), ("candidate", "reference", "geometric_mean", 1.3, *same),
        ("candidate", "reference", "harmonic_mean", 1.25, *same), ("candidate", "reference", "mean", 1.25, *same),
        ("reference", "baseline", "geometric_mean", 1.5, "ratio", "higher", "speedup", None, "numpy/numpy", "1b861a2"),
    ]  # fmt: skip
    assert failed == [("numpy__numpy-09db9c7", "incorrect"), ("o__r-0a1b2c3", "infra"), ("python-pillow__Pillow-fd8ee84", "patch")]


def test_the_manifest_has_the_score_of_every_model() -> None:
    models = {"m-1": {"report": "reports/m-1.json", "summary": {"opt_commit": 2, "score": 44.5}}, "m-2": {"report": "r"}}
    [row] = rows_of({"models": models}, "manifest.json")
    assert (row.model, row.metric, row.value, row.unit, row.better, row.variant) == ("m-1", "score", 44.5, "%", "higher", "candidate")
