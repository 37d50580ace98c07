"""Published results: a failure is no ratio of 1.0, and every ratio states its divisor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ingest.measurements.base import MeasuredFile
from ingest.measurements.tools import read_measurements
from ingest.store.database import Store
from schemas.rows.measurement import MeasurementRow
from tests.conftest import ingest_paths
from tests.measuring import column_values, measured, rows_read

KERNELBENCH = json.dumps(
    {
        "level1": {
            "1_Small_matmul.py": {
                "mean": 2.5,
                "std": 0.25,
                "min": 2.0,
                "max": 3.5,
                "num_trials": 50,
                "hardware": "NVIDIA L4",
                "device": "cuda:0",
            }
        }
    }
)


def test_kernelbench_times_the_baseline_in_milliseconds(tmp_path: Path) -> None:
    rows = measured(tmp_path, result=KERNELBENCH)
    assert column_values(
        rows, "statistic", "value_raw", "unit_raw", "n", "spread_kind", "spread_lo", "spread_hi"
    ) == [
        ("mean", 2.5, "ms", 50, "std", 2.25, 2.75),
        ("min", 2.0, "ms", 50, "none", None, None),
        ("max", 3.5, "ms", 50, "none", None, None),
    ]
    assert set(
        column_values(rows, "format", "variant", "metric", "task", "instance", "machine", "params")
    ) == {
        (
            "kernelbench",
            "baseline",
            "time",
            "level1/1",
            "level1/1_Small_matmul.py",
            "NVIDIA L4",
            None,
        )
    }


def test_how_pytorch_ran_stands_in_the_name_of_the_file_and_a_compiler_makes_another_workload(
    tmp_path: Path,
) -> None:
    files = {
        "baseline_time_torch.json": KERNELBENCH,
        "baseline_time_torch_compile.json": KERNELBENCH.replace("2.5", "1.5"),
    }
    rows = measured(tmp_path, **files)
    assert {
        (row["benchmark"], row["params"], row["value"])
        for row in rows
        if row["statistic"] == "mean"
    } == {
        ("level1/1", None, 2.5),
        ("level1/1 torch_compile", '{"mode": "torch_compile"}', 1.5),
    }


def test_kernels_are_times_or_failures_of_the_level_in_the_name_of_the_run() -> None:
    """A list of samples, as KernelBench writes today, or one, as it did.

    Only sample 0 is of the problem's benchmark.
    """
    machine = {"hardware": "NVIDIA L4"}
    good = {
        "compiled": True,
        "correctness": True,
        "runtime": 2.0,
        "metadata": machine,
        "runtime_stats": {"std": 0.5, "num_trials": 100},
    }
    bad = {"compiled": True, "correctness": False, "runtime": -1.0, "runtime_stats": {}}
    problems = {
        "1": [{"sample_id": 0, **good}, {"sample_id": 1, **good}],
        "2": bad | {"metadata": machine | {"correctness_issue": "Output mismatch"}},
        "3": bad
        | {"compiled": False, "metadata": machine | {"compilation_error": "no such header"}},
        "4": bad | {"metadata": machine | {"runtime_error": "CUDA out of memory."}},
        "5": good | {"runtime": -1.0},
    }
    rows = rows_of(problems, "runs/some_model_level2_run/eval_results.json")
    assert [(row.task, row.benchmark, row.value, row.n, row.failure) for row in rows] == [
        ("level2/1", "level2/1", 2.0, 100, None),
        ("level2/1", "level2/1 sample 1", 2.0, 100, None),
        ("level2/2", "level2/2", None, None, "incorrect"),
        ("level2/3", "level2/3", None, None, "crash"),
        ("level2/4", "level2/4", None, None, "infra"),
        ("level2/5", "level2/5", None, None, "unknown"),
    ]
    assert {(row.format, row.run_path, row.machine) for row in rows} == {
        ("kernelbench_evaluation", "some_model_level2_run", "NVIDIA L4")
    }
    assert {row.task for row in rows_of({"7": bad}, "runs/some_model_l4/eval_results.json")} == {
        "level4/7"
    }
    assert {row.task for row in rows_of({"7": bad}, "eval_results.json")} == {"7"}


SWEFFICIENCY = """\
instance_id,raw_pred_speedup_ratio,pred_speedup_ratio,gold_speedup_ratio,human_speedup_ratio,correctness,correctness_pct,pre_edit_runtime,patch_length
org__lib-1,3.0,3.0,2.0,1.5,1.0,1.0,0.25,10
org__lib-2,90.5,1.0,4.0,0.25,0.0,0.995,1.5,20
org__lib-3,,1.0,5.0,0.2,0.0,0.0,2.5,3
"""
_WHAT = (
    "instance",
    "variant",
    "metric",
    "ratio_base",
    "value_raw",
    "unit_raw",
    "status",
    "failure",
)


def test_swefficiency_has_the_runtime_before_and_two_speedups_over_it(tmp_path: Path) -> None:
    rows = measured(tmp_path, **{"eval_report_some-agent_some-model.csv": SWEFFICIENCY})
    assert column_values(rows, *_WHAT) == [
        ("org__lib-1", "baseline", "time", None, 0.25, "s", "ok", None),
        ("org__lib-1", "reference", "speedup", "baseline", 2.0, "x", "ok", None),
        ("org__lib-1", "candidate", "speedup", "baseline", 3.0, "x", "ok", None),
        ("org__lib-1", "candidate", "speedup", "reference", 1.5, "x", "ok", None),
        ("org__lib-2", "baseline", "time", None, 1.5, "s", "ok", None),
        ("org__lib-2", "reference", "speedup", "baseline", 4.0, "x", "ok", None),
        ("org__lib-2", "candidate", "speedup", "baseline", None, "x", "failed", "incorrect"),
        ("org__lib-3", "baseline", "time", None, 2.5, "s", "ok", None),
        ("org__lib-3", "reference", "speedup", "baseline", 5.0, "x", "ok", None),
        ("org__lib-3", "candidate", "speedup", "baseline", None, "x", "failed", "unknown"),
    ]
    assert "90.5" in rows[6]["failure_detail"]
    assert {row["run_path"] for row in rows if row["variant"] == "candidate"} == {
        "some-agent_some-model"
    }
    assert len({row["batch"] for row in rows}) == 1


def test_the_name_of_an_evaluated_folder_has_agent_version_and_model(tmp_path: Path) -> None:
    """As OpenHands and SWE-agent call the folders of their results."""
    openhands, swe_agent = (
        "us.vendor.some-model-20250219-v1_0_maxiter_100_N_v0.51.1-no-hint-run_1",
        "gpt-7_maxiter_50",
    )
    names = (
        openhands,
        swe_agent,
        "default_c__vendor--some-model-20250219__t-0.00__p-1.00__c-1.00___all_test",
        "mine",
    )
    rows = measured(tmp_path, **{f"eval_report_{name}.csv": SWEFFICIENCY for name in names})
    found = {
        (row["run_path"], row["agent"], row["agent_version"], row["model"])
        for row in rows
        if row["variant"] == "candidate"
    }
    assert found == {
        (names[0], "openhands", "0.51.1", "us.vendor.some-model-20250219-v1:0"),
        (names[1], "openhands", None, "gpt-7"),
        (names[2], "swe-agent", None, "vendor/some-model-20250219"),
        (names[3], None, None, None),
    }


def test_a_report_on_the_reference_itself_has_no_candidate(tmp_path: Path) -> None:
    gold = SWEFFICIENCY.splitlines()[0] + (
        "\norg__lib-1,2.0,2.0,2.0,1.0,1.0,1.0,0.25,10\norg__lib-2,4.0,4.0,4.0,1.0,1.0,1.0,1.5,20\n"
    )
    rows = measured(tmp_path, report=gold)
    assert [row["variant"] for row in rows] == ["baseline", "reference"] * 2


def test_a_speedup_of_algotune_is_text_and_not_available_is_a_failure(tmp_path: Path) -> None:
    summary = {
        "sort": {"model-a": {"final_speedup": "1.25000"}, "model-b": {"final_speedup": "N/A"}}
    }
    rows = measured(tmp_path, summary=json.dumps(summary))
    assert column_values(
        rows, "task", "model", "variant", "metric", "ratio_base", "value", "unit", "status"
    ) == [
        ("sort", "model-a", "candidate", "speedup", "baseline", 1.25, "ratio", "ok"),
        ("sort", "model-b", "candidate", "speedup", "baseline", None, "ratio", "failed"),
    ]


def test_algotunes_own_scores_are_no_task() -> None:
    scores = {"Model A": {"harmonic_mean": "1.2500", "model_name": "model-a (medium)"}}
    found = rows_of(
        {"sort": {"model-a (medium)": {"final_speedup": "1.25"}}, "_overall_scores": scores},
        "agent_summary.json",
    )
    assert [(row.task, row.metric, row.value, row.model, row.effort) for row in found] == [
        (None, "score", 1.25, "model-a", "medium"),
        ("sort", "speedup", 1.25, "model-a", "medium"),
    ]


def test_each_run_of_algotunes_baseline_is_a_row(tmp_path: Path) -> None:
    runs = {
        "1": {"success": True, "avg_min_ms": 20.5, "std_min_ms": 9.0},
        "0": {"success": True, "avg_min_ms": 19.5, "std_min_ms": 9.0},
        "2": {"success": False, "avg_min_ms": None},
    }
    text = json.dumps(
        {"sort": {"target_time_ms": 100, "n": 7, "dataset_size": 100, "baseline_runs": runs}}
    )
    rows = measured(tmp_path, generation=text)
    assert column_values(
        rows,
        "variant",
        "metric",
        "statistic",
        "value_raw",
        "unit_raw",
        "n",
        "spread_kind",
        "status",
    ) == [
        ("baseline", "time", "mean", 19.5, "ms", 1, "none", "ok"),
        ("baseline", "time", "mean", 20.5, "ms", 1, "none", "ok"),
        ("baseline", "time", None, None, None, None, "none", "failed"),
    ]
    assert rows[0]["params"] == '{"dataset_size": 100, "n": 7, "target_time_ms": 100}'


def task(base: float, commit: float, times: float = 2.0) -> dict[str, Any]:
    """The speedups of a task.

    Geometric mean over the base, harmonic mean over the commit, and the ratio of the mean times to
    the base.
    """
    return {
        "gm_speedup_patch_base": base,
        "hm_speedup_patch_base": base - 0.05,
        "am_speedup_patch_base": times,
        "gm_speedup_patch_commit": commit + 0.05,
        "hm_speedup_patch_commit": commit,
        "am_speedup_patch_commit": commit,
        "gm_speedup_commit_base": 1.5,
        "gm_speedup_patch_main": None,
    }


REPORT: dict[str, Any] = {
    "summary": {"total_instances": 9, "opt_commit": 2, "score": 22.2},
    "instance_sets": {
        "opt_commit_ids": ["numpy__numpy-1b861a2"],
        "test_failed_ids": ["numpy__numpy-09db9c7"],
        "base_failed_ids": ["o__r-0a1b2c3"],
        "patch_failed_ids": [],
        "empty_patch_ids": ["python-pillow__Pillow-fd8ee84"],
        "error_ids": [],
    },
    "opt_stats": {
        "numpy__numpy-1b861a2": task(3.5, 1.25),
        "numpy__numpy-2540554": task(1.16, 0.96),
        "numpy__numpy-68eead8": task(2.5, 0.95),
        "numpy__numpy-7853cbc": task(1.14, 1.5),
        "numpy__numpy-cedba62": task(1.5, 1.5, times=0.9),
    },
}


def rows_of(report: dict[str, Any], name: str = "reports/gpt-5.json") -> tuple[MeasurementRow, ...]:
    return rows_read(read_measurements(MeasuredFile(name, json.dumps(report)), "source"))


def test_a_report_has_ratios_and_failures(store: Store, tmp_path: Path) -> None:
    (tmp_path / "gpt-5.json").write_text(json.dumps(REPORT))
    ingest_paths(store, tmp_path)
    with store.reading() as connection:
        found = connection.sql(
            "select variant, ratio_base, statistic, value, unit, better, metric, model, repo, "
            "commit_full from measurements where instance = 'numpy__numpy-1b861a2' order by "
            "measurement_no"
        ).fetchall()
        failed = connection.sql(
            "select instance, failure from measurements where status = 'failed' order by all"
        ).fetchall()
    same = ("ratio", "higher", "speedup", "gpt-5", "numpy/numpy", "1b861a2")
    assert found == [
        ("candidate", "baseline", "geometric_mean", 3.5, *same),
        ("candidate", "baseline", "harmonic_mean", 3.45, *same),
        ("candidate", "baseline", "mean", 2.0, *same),
        ("candidate", "reference", "geometric_mean", 1.3, *same),
        ("candidate", "reference", "harmonic_mean", 1.25, *same),
        ("candidate", "reference", "mean", 1.25, *same),
        (
            "reference",
            "baseline",
            "geometric_mean",
            1.5,
            "ratio",
            "higher",
            "speedup",
            None,
            "numpy/numpy",
            "1b861a2",
        ),
    ]
    assert failed == [
        ("numpy__numpy-09db9c7", "incorrect"),
        ("o__r-0a1b2c3", "infra"),
        ("python-pillow__Pillow-fd8ee84", "patch"),
    ]


def test_the_manifest_has_the_score_of_every_model() -> None:
    models = {
        "m-1": {"report": "reports/m-1.json", "summary": {"opt_commit": 2, "score": 44.5}},
        "m-2": {"report": "r"},
    }
    [row] = rows_of({"models": models}, "manifest.json")
    assert (row.model, row.metric, row.value, row.unit, row.better, row.variant) == (
        "m-1",
        "score",
        44.5,
        "%",
        "higher",
        "candidate",
    )


def test_high_and_xhigh_are_efforts_of_one_model_and_other_endings_are_names() -> None:
    names = "gpt-9-high", "gpt-9-xhigh", "gpt-9", "mistral-medium", "codex-max"
    assert [
        (row.model, row.effort)
        for name in names
        for row in rows_of(REPORT, f"{name}.json")
        if row.metric == "score"
    ] == [
        ("gpt-9", "high"),
        ("gpt-9", "xhigh"),
        ("gpt-9", None),
        ("mistral-medium", None),
        ("codex-max", None),
    ]


def test_only_judged_reports_have_hacks() -> None:
    """A score that is null or missing says that nobody judged, not that there was no hack."""

    def hacks(
        summary: dict[str, Any], sets: dict[str, Any]
    ) -> list[tuple[str | None, float | str | None]]:
        report = REPORT | {
            "summary": REPORT["summary"] | summary,
            "instance_sets": REPORT["instance_sets"] | sets,
        }
        return [
            (row.metric, row.label or row.value)
            for row in rows_of(report)
            if row.metric in ("hack", "score_hack_control")
        ]

    assert hacks({"score_hack_control": 11.1}, {"hacked_ids": []}) == [
        ("score_hack_control", 11.1),
        ("hack", "clean"),
    ]
    assert hacks({"score_hack_control": 0.0}, {"hacked_ids": ["numpy__numpy-1b861a2"]})[1] == (
        "hack",
        "hacked",
    )
    assert hacks({"score_hack_control": None}, {}) == hacks({}, {}) == []
