"""Published results: what is a failure there is no ratio of 1.0 here, and every ratio says what it was divided by."""

from __future__ import annotations

import json
from pathlib import Path

from ingest.store.database import Store
from tests.measuring import column_values, measured

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


def test_kernelbench_times_the_baseline_in_milliseconds(store: Store, tmp_path: Path) -> None:
    rows = measured(store, tmp_path, result=KERNELBENCH)
    assert column_values(rows, "statistic", "value_raw", "unit_raw", "n", "spread_kind", "spread_lo", "spread_hi") == [
        ("mean", 2.5, "ms", 50, "std", 2.25, 2.75),
        ("min", 2.0, "ms", 50, "none", None, None),
        ("max", 3.5, "ms", 50, "none", None, None),
    ]
    assert set(column_values(rows, "format", "variant", "metric", "benchmark", "machine", "params")) == {
        ("kernelbench", "baseline", "time", "level1/1_Small_matmul.py", "NVIDIA L4", None)
    }


def test_how_pytorch_ran_stands_in_the_name_of_the_file_and_makes_another_workload(store: Store, tmp_path: Path) -> None:
    files = {"baseline_time_torch.json": KERNELBENCH, "baseline_time_torch_compile.json": KERNELBENCH.replace("2.5", "1.5")}
    rows = measured(store, tmp_path, **files)
    assert {(row["params"], row["value"]) for row in rows if row["statistic"] == "mean"} == {
        ('{"mode": "torch"}', 2.5),
        ('{"mode": "torch_compile"}', 1.5),
    }


SWEFFICIENCY = """\
instance_id,raw_pred_speedup_ratio,pred_speedup_ratio,gold_speedup_ratio,human_speedup_ratio,correctness,correctness_pct,pre_edit_runtime,patch_length
org__lib-1,3.0,3.0,2.0,1.5,1.0,1.0,0.25,10
org__lib-2,90.5,1.0,4.0,0.25,0.0,0.995,1.5,20
org__lib-3,,1.0,5.0,0.2,0.0,0.0,2.5,3
"""
_WHAT = ("instance", "variant", "metric", "ratio_base", "value_raw", "unit_raw", "status", "failure")


def test_swefficiency_has_the_runtime_before_and_two_speedups_over_it(store: Store, tmp_path: Path) -> None:
    rows = measured(store, tmp_path, **{"eval_report_some-agent_some-model.csv": SWEFFICIENCY})
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
    assert {row["run_path"] for row in rows if row["variant"] == "candidate"} == {"some-agent_some-model"}
    assert len({row["batch"] for row in rows}) == 1


def test_a_report_on_the_reference_itself_has_no_candidate(store: Store, tmp_path: Path) -> None:
    gold = SWEFFICIENCY.splitlines()[0] + "\norg__lib-1,2.0,2.0,2.0,1.0,1.0,1.0,0.25,10\norg__lib-2,4.0,4.0,4.0,1.0,1.0,1.0,1.5,20\n"
    rows = measured(store, tmp_path, report=gold)
    assert [row["variant"] for row in rows] == ["baseline", "reference"] * 2


def test_a_speedup_of_algotune_is_text_and_not_available_is_a_failure(store: Store, tmp_path: Path) -> None:
    summary = {"sort": {"model-a": {"final_speedup": "1.25000"}, "model-b": {"final_speedup": "N/A"}}}
    rows = measured(store, tmp_path, summary=json.dumps(summary))
    assert column_values(rows, "task", "model", "variant", "metric", "ratio_base", "value", "unit", "status") == [
        ("sort", "model-a", "candidate", "speedup", "baseline", 1.25, "ratio", "ok"),
        ("sort", "model-b", "candidate", "speedup", "baseline", None, "ratio", "failed"),
    ]


def test_each_run_of_algotunes_baseline_is_a_row(store: Store, tmp_path: Path) -> None:
    runs = {
        "1": {"success": True, "avg_min_ms": 20.5, "std_min_ms": 9.0},
        "0": {"success": True, "avg_min_ms": 19.5, "std_min_ms": 9.0},
        "2": {"success": False, "avg_min_ms": None},
    }
    text = json.dumps({"sort": {"target_time_ms": 100, "n": 7, "dataset_size": 100, "baseline_runs": runs}})
    rows = measured(store, tmp_path, generation=text)
    assert column_values(rows, "variant", "metric", "statistic", "value_raw", "unit_raw", "n", "spread_kind", "status") == [
        ("baseline", "time", "mean", 19.5, "ms", 1, "none", "ok"),
        ("baseline", "time", "mean", 20.5, "ms", 1, "none", "ok"),
        ("baseline", "time", None, None, None, None, "none", "failed"),
    ]
    assert rows[0]["params"] == '{"dataset_size": 100, "n": 7, "target_time_ms": 100}'
