"""Results of ISO-Bench, through an ingest.

Real files of the schemas, and small ones of the same shape.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.measurements.base import MeasuredFile
from ingest.measurements.iso_bench_outcomes import STEP, failure_of, is_quantised, patch_in
from ingest.measurements.tools import read_measurements
from ingest.store.database import Store
from schemas.rows.measurement import Failure, MeasurementRow, PatchApplied, Variant
from tests.conftest import ingest_paths
from tests.documents import rejects_of
from tests.measuring import rows_read

FILES = Path(__file__).parent / "expected" / "measured" / "iso_bench"
CLAUDE = "2026-01/omniperf_results_3way_claude_code"
COMMIT = "015069b01741e9ecb9e604c7fe87fbdfc306ebe5"
RUN = "vllm/claude_code/default/2025-12-22_21-40-38/vllm_core-0000"

Rows = list[dict[str, Any]]


def measured(store: Store, *paths: Path) -> Rows:
    """The measurements in the store after these files were ingested."""
    ingest_paths(store, *paths)
    with store.reading() as connection:
        table = connection.sql(
            "select * from measurements order by source_id, measurement_no"
        ).to_arrow_table()
    rows: Rows = table.to_pylist()
    return rows


@pytest.mark.parametrize(
    ("metrics", "repo", "primary"),
    [
        (
            {"ttft_mean_ms": 9.0, "ttft_p99_ms": 20.0, "output_token_throughput_tok_s": 100.0},
            "vllm",
            [("ttft", "mean")],
        ),
        (
            {"ttft_mean_ms": 9.0, "output_token_throughput_tok_s": 100.0},
            "sglang",
            [("output_throughput", "rate")],
        ),
        ({"throughput_tok_s": 100.0, "latency_avg_ms": 5.0}, "vllm", [("throughput", "rate")]),
        ({"latency_avg_ms": 5.0}, "vllm", []),
    ],
)
def test_one_metric_of_a_benchmark_is_the_one_that_iso_bench_judges_by(
    metrics: dict[str, float], repo: str, primary: list[tuple[str, str]]
) -> None:
    content = {
        "human_commit": "0123abcd",
        "status": "success",
        "metrics": metrics,
        "duration_s": 1.0,
    }
    rows = rows_of(content, f"{repo}/results/0123abcd_agent_result.json")
    assert [(row.metric, row.statistic) for row in rows if row.is_primary] == primary


def rows_of(content: object, name: str = "run/result.json") -> tuple[MeasurementRow, ...]:
    """The rows of a JSON file with this name, as an ingest reads them. It is not refused."""
    return rows_read(
        read_measurements(
            MeasuredFile(name, content if isinstance(content, str) else json.dumps(content)),
            "source",
        )
    )


def values(rows: tuple[MeasurementRow, ...]) -> list[tuple[object, ...]]:
    return [(row.variant, row.metric, row.statistic, row.value, row.unit) for row in rows]


def test_files_of_one_experiment_are_one_batch_with_the_variant_of_each(store: Store) -> None:
    rows = measured(store, FILES / CLAUDE / "results")
    ttft = {
        row["variant"]: row for row in rows if (row["metric"], row["statistic"]) == ("ttft", "mean")
    }
    assert {
        variant: (row["value"], row["unit"], row["better"]) for variant, row in ttft.items()
    } == {
        "baseline": (10.47, "ms", "lower"),
        "reference": (13.69, "ms", "lower"),
        "candidate": (13.48, "ms", "lower"),
    }
    assert {row["batch"] for row in rows} == {CLAUDE}
    assert len({row["workload_fp"] for row in rows}) == 1
    assert {
        (row["commit_full"], row["repo"], row["benchmark"], row["bench_model"]) for row in rows
    } == {(COMMIT, "vllm", "serving", "Qwen/Qwen3-1.7B")}
    candidate = ttft["candidate"]
    assert [
        candidate[name]
        for name in ("agent", "task", "run_path", "patch_applied", "parent_full", "tz_known")
    ] == [
        "claude-code",
        "vllm_core-0000",
        RUN,
        "yes",
        "fbefc8a78d22",
        True,
    ]
    assert (ttft["baseline"]["agent"], ttft["baseline"]["flags"]) == (None, ["model_substituted"])
    assert {
        row["metric"]: row["value"]
        for row in rows
        if row["variant"] == "candidate" and row["unit"] in ("tok/s", "req/s")
    } == {
        "request_throughput": 0.96,
        "output_throughput": 198.29,
        "total_throughput": 434.58,
    }


def test_a_folder_of_baselines_goes_before_the_name_of_the_file(store: Store) -> None:
    rows = measured(store, FILES / "2026-05-x3")
    total = {row["variant"]: row for row in rows if row["metric"] == "total_throughput"}
    assert {
        variant: (row["value"], row["agent"], row["model"]) for variant, row in total.items()
    } == {
        "baseline": (11471.04, None, None),
        "candidate": (11481.45, "openhands", "gpt-5"),
    }
    assert {row["batch"] for row in rows} == {"2026-05-x3"}
    assert len({row["workload_fp"] for row in rows}) == 1
    assert (total["candidate"]["patch_applied"], total["candidate"]["benchmark"]) == (
        "yes",
        "throughput",
    )
    assert not total["candidate"]["tz_known"]


def test_a_missing_model_is_not_the_fault_of_the_patch(store: Store) -> None:
    [row] = measured(store, FILES / "2026-01" / "omniperf_results_3way_trae_sonnet45")
    assert [row[name] for name in ("status", "failure", "agent", "model", "variant", "value")] == [
        "failed", "infra", "trae-agent", "sonnet-4.5", "candidate", None,
    ]  # fmt: skip
    assert row["failure_detail"].startswith(
        "Server crashed after applying patch\ns.HTTPError: 404 Client Error"
    )


def test_every_variant_of_an_isolated_job(store: Store) -> None:
    rows = measured(store, FILES / "omniperf_results_3way_sglang")
    prefill = {
        (row["variant"], row["agent"]): row["value"]
        for row in rows
        if row["metric"] == "prefill_throughput"
    }
    assert prefill == {
        ("baseline", None): 17030.87, ("reference", None): 17709.34,
        ("candidate", "claude-code"): 19527.4, ("candidate", "codex"): 19273.48,
    }  # fmt: skip
    assert not [row for row in rows if row["metric"] == "throughput"], (
        "the same number under another name"
    )
    assert {row["repo"] for row in rows} == {"sglang"}
    failed = [
        (row["agent"], row["model"], row["failure"], row["patch_applied"])
        for row in rows
        if row["variant"] == "candidate" and row["failure"]
    ]
    assert sorted(failed, key=str) == [
        ("claude-code", None, "infra", "yes"), ("codex", None, "patch", "no"),
        ("trae-agent", "gpt-5", "patch", "no"), ("trae-agent", "sonnet-4.5", "infra", "yes"),
    ]  # fmt: skip


def test_a_table_of_commits_and_agents(store: Store) -> None:
    rows = measured(store, FILES / CLAUDE / "hf_export")
    ttft = [row for row in rows if (row["metric"], row["statistic"]) == ("ttft", "mean")]
    assert [
        (row["commit_full"][:8], row["variant"], row["value"], row["agent"], row["model"])
        for row in ttft
    ] == [
        ("015069b0", "baseline", 10.47, None, None),
        ("015069b0", "reference", 13.69, None, None),
        ("015069b0", "candidate", 13.48, "claude-code", "sonnet-4.5"),
        ("22d33bac", "baseline", 596.34, None, None),
        ("22d33bac", "reference", 786.79, None, None),
        ("22d33bac", "candidate", 651.12, "claude-code", "sonnet-4.5"),
    ]
    assert {row["batch"] for row in rows} == {None}, (
        "rows that were merged from several experiments"
    )
    assert {
        (row["unit"], row["machine"]) for row in rows if row["metric"] == "output_throughput"
    } == {("tok/s", "H100:1")}


TRIPLE: dict[str, Any] = {
    "status": "success",
    "gpu_config": "H100:4",
    "full_commit": "a" * 40,
    "parent_commit": "b" * 40,
    "model": "m/Big",
    "error": None,
    "perf_command": "python benchmarks/benchmark_latency.py --model m/Big",
    "has_agent_patch": True,
}


def test_a_triple_is_a_batch_of_its_own_and_flags_rates_of_log_windows() -> None:
    rates = {"baseline": (4261.5, 51.1), "human": (4311.0, 102.1), "agent": (4245.9, 102.3)}
    metrics = {
        f"{word}_metrics": {"latency_avg": latency, "throughput": rate}
        for word, (latency, rate) in rates.items()
    }
    instance = {"commit_hash": "a" * 40, "repo": "vllm"}
    rows = rows_of(
        {"instance": instance, "result": TRIPLE | metrics},
        "omniperf_results_3way_claude_code/vllm/aaaaaaaa/result.json",
    )
    assert values(rows) == [
        (variant, *one)
        for variant, (latency, rate) in zip(
            ("baseline", "reference", "candidate"), rates.values(), strict=True
        )
        for one in (("latency", "mean", latency, "ms"), ("throughput", "rate", rate, "tok/s"))
    ]
    assert [row.metric for row in rows if "quantised" in row.flags] == ["throughput"] * 3
    assert {row.batch for row in rows} == {
        "omniperf_results_3way_claude_code/vllm/aaaaaaaa/result.json"
    }
    assert {(row.machine, row.benchmark, row.parent_full) for row in rows} == {
        ("H100:4", "latency", "b" * 40)
    }
    assert [row.agent for row in rows if row.variant == "candidate"] == ["claude-code"] * 2


def test_the_log_knows_the_unit_better_than_the_key() -> None:
    def variant(rate: float, tokens: float) -> dict[str, Any]:
        log = f"Throughput: {rate} requests/s, {tokens} tokens/s\n"
        return {"status": "success", "metrics": {"throughput_tok_s": rate}, "raw_output": log}

    content = {
        "commit_short": "6ce01f30",
        "task_id": "vllm_core-0030",
        "baseline_command": "benchmark_throughput.py --a",
        "test_command": "benchmark_throughput.py --a --b",
        "timestamp": "2026-01-16 13:08:00",
        "baseline": variant(9.5, 11000.5),
        "human": variant(9.75, 11200.5),
        "agent": variant(9.25, 10900.5),
    }
    rows = rows_of(content)
    assert values(rows) == [
        ("baseline", "request_throughput", "rate", 9.5, "req/s"),
        ("reference", "request_throughput", "rate", 9.75, "req/s"),
        ("candidate", "request_throughput", "rate", 9.25, "req/s"),
    ]
    assert len({row.workload_fp for row in rows}) == 2, "the baseline ran another command"
    assert [row.task for row in rows] == ["vllm_core-0030"] * 3


def test_what_follows_a_failed_baseline_was_not_run() -> None:
    told: dict[str, Any] = {
        "status": "error",
        "error": "Baseline install failed: No wheel available",
        "human_metrics": {},
        "agent_metrics": None,
    }
    rows = rows_of(TRIPLE | {"baseline_metrics": {}} | told)
    assert [(row.variant, row.status, row.failure) for row in rows] == [
        ("baseline", "failed", "infra"),
        ("reference", "not_run", None),
        ("candidate", "not_run", None),
    ]


def test_success_without_values_is_a_failure() -> None:
    rows = rows_of(
        TRIPLE | {"baseline_metrics": {}, "human_metrics": {"ttft_mean": 5.5}, "agent_metrics": {}}
    )
    assert [(row.variant, row.status, row.failure, row.flags) for row in rows] == [
        ("baseline", "failed", "unknown", ("empty_metrics",)), ("reference", "ok", None, ()),
        ("candidate", "failed", "unknown", ("empty_metrics",)),
    ]  # fmt: skip


def test_a_function_before_and_after_the_patch() -> None:
    def output(mean: float) -> dict[str, Any]:
        return {
            "avg_ms": mean,
            "p50_ms": mean - 0.25,
            "p95_ms": mean + 0.5,
            "iters": 20,
            "device": "cpu",
            "impl_tag": str(mean),
        }

    result = {
        "status": "success",
        "baseline_ms": 3.5,
        "patched_ms": 3.25,
        "speedup": 1.08,
        "baseline_output": output(3.5),
        "patched_output": output(3.25),
        "patch_path": f"/data/state/runs/{RUN}/model_patch.diff",
    }
    rows = rows_of({"instance": {"commit_hash": "a" * 40, "repo": "vllm"}, "result": result})
    assert values(rows) == [
        ("baseline", "time", "mean", 3.5, "ms"),
        ("baseline", "time", "median", 3.25, "ms"),
        ("baseline", "time", "p95", 4.0, "ms"),
        ("candidate", "time", "mean", 3.25, "ms"),
        ("candidate", "time", "median", 3.0, "ms"),
        ("candidate", "time", "p95", 3.75, "ms"),
    ]
    assert {(row.scope, row.n, row.workload_fp) for row in rows} == {
        ("micro", 20, rows[0].workload_fp)
    }
    assert {(row.agent, row.run_path, row.task) for row in rows if row.variant == "candidate"} == {
        ("claude-code", RUN, "vllm_core-0000")
    }


def test_a_function_whose_baseline_failed_was_not_run_with_the_patch() -> None:
    result = {
        "status": "baseline_failed",
        "baseline_ms": None,
        "patched_ms": None,
        "error_message": "No module named 'vllm._C'",
    }
    rows = rows_of({"instance": {"commit_hash": "a" * 40}, "result": result})
    assert [(row.variant, row.status, row.failure, row.failure_detail) for row in rows] == [
        ("baseline", "failed", "infra", "No module named 'vllm._C'"),
        ("candidate", "not_run", None, None),
    ]


def test_a_log_of_jobs_is_read_only_where_it_has_values() -> None:
    log = {"timestamp": "20260102_111401", "completed": 2, "total_commits": 9}
    failed = TRIPLE | {
        "status": "error",
        "baseline_metrics": {},
        "human_metrics": {},
        "agent_metrics": None,
        "error": "Baseline failed",
    }
    done = TRIPLE | {
        "baseline_metrics": {"ttft_mean": 2.5},
        "human_metrics": {"ttft_mean": 1.5},
        "agent_metrics": {"ttft_mean": 0.5},
    }
    rows = rows_of(log | {"results": [failed, done, {"status": "error"}]})
    assert [row.status for row in rows] == ["failed", "not_run", "not_run", "ok", "ok", "ok"]
    assert {str(row.measured_at) for row in rows} == {"2026-01-02 11:14:01+00:00"}
    assert (
        read_measurements(
            MeasuredFile("log.json", json.dumps(log | {"results": [failed]})), "source"
        )
        is None
    )


def test_a_harness_that_does_not_say_what_it_measured_leaves_the_variant_open() -> None:
    content = {
        "commit_hash": "c" * 40,
        "status": "success",
        "benchmark_type": "serving",
        "ttft_mean": 40.5,
        "throughput_tok_s": 812.5,
    }
    name = "2026-01/omniperf_results_3way_claude_code/results/docker/cccccccc_result.json"
    rows = rows_of(content, name)
    assert values(rows) == [
        (None, "ttft", "mean", 40.5, "ms"),
        (None, "output_throughput", "rate", 812.5, "tok/s"),
    ]
    assert {row.batch for row in rows} == {f"{CLAUDE}/docker"}


def test_a_skipped_benchmark_was_not_run() -> None:
    reason = "Requires tensor-parallel-size 8"
    [row] = rows_of(
        {"commit": "21d93c14", "status": "skipped", "skip_reason": reason},
        "e/separate_agent/21d93c14_agent_result.json",
    )
    assert (row.variant, row.status, row.failure, row.failure_detail) == (
        "candidate",
        "not_run",
        None,
        reason,
    )


def test_other_tokens_are_another_workload() -> None:
    def result(word: str, tokens: int) -> MeasurementRow:
        log = f"Total input tokens:                      {tokens}     \n"
        content = {
            "human_commit": "e3580537",
            "status": "success",
            "metrics": {"ttft_mean_ms": 5.5},
            "raw_output": log,
            "model": "m",
        }
        [row] = rows_of(content, f"e/results/e3580537_{word}_result.json")
        return row

    assert (
        result("human", 20000).workload_fp
        == result("agent", 20000).workload_fp
        != result("agent", 25600).workload_fp
    )


LABELS = """commit,repo,agent,model,hard,primary_pct,target,quadrant
a1b2c3d4,vllm,claude_code,claude-sonnet-4.5,similar,1.5,same_target,Q1
a1b2c3d4,vllm,codex_cli,gpt-5,worse,-40.5,no_optimization,Q4
b1b2c3d4,sglang,trae_gpt5,,similar,95.5,related_target,Q1
b1b2c3d4,sglang,claude_code,,similar,3.4,related_target,Q1
"""


def test_published_judgements() -> None:
    rows = rows_of(LABELS, "labels.csv")
    assert {row.label for row in rows if row.metric == "target"} == {
        "same_target",
        "no_optimization",
        "related_target",
    }
    first = [
        (row.metric, row.statistic, row.label, row.value, row.unit, row.ratio_base)
        for row in rows[:4]
    ]
    assert first == [
        ("hard", "label", "similar", None, None, None),
        ("target", "label", "same_target", None, None, None),
        ("quadrant", "label", "Q1", None, None, None),
        ("primary_pct", None, None, 1.5, "%", "reference"),
    ]
    assert [
        (row.repo, row.agent, row.model, row.flags) for row in rows if row.metric == "primary_pct"
    ] == [
        ("vllm", "claude-code", "sonnet-4.5", ()),
        ("vllm", "codex", "gpt-5", ()),
        ("sglang", "trae-agent", "gpt-5", ("percent_of_two_kinds",)),
        ("sglang", "claude-code", None, ("percent_of_two_kinds",)),
    ]
    assert {(row.variant, row.status) for row in rows} == {("candidate", "ok")}


def test_judgements_as_lines_of_json() -> None:
    lines = [
        {"commit": "a1b2c3d4", "agent": "codex", "hard": "beats"},
        {"commit": "b1b2c3d4", "agent": "codex", "hard": "worse"},
    ]
    assert [row.label for row in rows_of("".join(json.dumps(line) + "\n" for line in lines))] == [
        "beats",
        "worse",
    ]


def test_a_judgement_of_nobody_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        "commit,agent,hard\na1b2c3d4,codex,beats\na1b2c3d4,,worse\n"
    )
    assert measured(store, tmp_path) == []
    [(_, detail)] = rejects_of(store)
    assert "row 2: a judgement needs an agent, and a commit or a task" in detail


@pytest.mark.parametrize(
    "content",
    [
        {"status": "ok", "commit": "a1b2c3d4", "message": "deployed"},
        {"human_commit": "a1b2c3d4", "status": "success"},
        {"variants": {"baseline": {"status": "success"}}, "variant": "x", "base_commit": "none"},
        {"results": {"baseline": {"status": "success"}}, "commit": "a1b2c3d4"},
        {"instance": {"commit_hash": "a1b2c3d4"}, "result": "success"},
        "commit,agent,message\na1b2c3d4,codex,beats\n",
    ],
    ids=["deployment", "no results", "no commit", "one variant", "no result", "no judgement"],
)
def test_other_files_are_passed_over(content: object) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    assert read_measurements(MeasuredFile("results/agent.json", text), "source") is None


@pytest.mark.parametrize(
    ("error", "log", "ran", "failure"),
    [
        (
            "Server crashed after applying patch",
            "NameError: name 'blocks' is not defined",
            None,
            Failure.CRASH,
        ),
        (
            "Server crashed after applying patch",
            "ModuleNotFoundError: No module named 'transformers.utils'",
            None,
            Failure.INFRASTRUCTURE,
        ),
        (
            "Server crashed after applying patch",
            "ModuleNotFoundError: No module named 'vllm.core.fast'",
            None,
            Failure.CRASH,
        ),
        (
            "Server crashed after applying patch",
            "torch.OutOfMemoryError: CUDA out of memory",
            None,
            Failure.INFRASTRUCTURE,
        ),
        (
            "Server crashed after applying patch",
            "torch.OutOfMemoryError: CUDA out of memory",
            True,
            Failure.CRASH,
        ),
        ("Failed to start SGLang server", "", False, Failure.INFRASTRUCTURE),
        ("Failed to start SGLang server", "", True, Failure.CRASH),
        (
            "No metrics in agent output",
            "bench.py: error: unrecognized arguments: --backend vllm",
            None,
            Failure.INFRASTRUCTURE,
        ),
        (
            "No metrics in agent output",
            "Unable to find image 'x' locally\nStatus: Downloaded newer image",
            None,
            Failure.UNKNOWN,
        ),
        ("Patch failed: Checking patch a.py", "", None, Failure.PATCH),
        ("Agent benchmark timed out after 900s", "", None, Failure.TIMEOUT),
    ],
)
def test_why_a_patched_server_gave_no_values(
    error: str, log: str, ran: bool | None, failure: Failure
) -> None:
    assert failure_of("error", error, log, Variant.CANDIDATE, baseline_ran=ran) is failure


@pytest.mark.parametrize(
    ("log", "applied"),
    [
        ("patching file a.py\npatching file b.py\nAGENT_PATCH_APPLIED\n", PatchApplied.YES),
        (
            "patching file a.py\n1 out of 2 hunks FAILED -- saving rejects to file a.py.rej\n",
            PatchApplied.PARTIAL,
        ),
        (
            (
                "patching file a.py\n2 out of 2 hunks FAILED -- saving rejects to file "
                "a.py.rej\npatching file b.py\n"
            ),
            PatchApplied.PARTIAL,
        ),
        (
            (
                "patching file model_patch.diff\npatching file a.py\n2 out of 2 hunks FAILED -- "
                "saving rejects to file a.py.rej\n"
            ),
            PatchApplied.NO,
        ),
        (
            "cut off\n2 out of 3 hunks FAILED -- saving rejects to file a.py.rej\n",
            PatchApplied.PARTIAL,
        ),
        ("error: a.py: patch does not apply\n", PatchApplied.NO),
        ("patch applied:partial:3_cu_hunks_skipped\n", PatchApplied.PARTIAL),
        ("", PatchApplied.UNKNOWN),
    ],
)
def test_whether_the_patch_was_in_the_measured_code(log: str, applied: PatchApplied) -> None:
    assert patch_in(None, log) is applied


@pytest.mark.slow
@given(st.lists(st.integers(1, 24), min_size=1, max_size=3), st.floats(1.0, 1.005))
def test_whole_steps_of_a_log_window_are_found_whatever_its_length(
    steps: list[int], longer: float
) -> None:
    assert is_quantised(round(count * STEP / longer, 1) for count in steps)


@given(st.lists(st.integers(1, 24), max_size=3), st.integers(1, 60), st.floats(0.1, 0.6))
def test_one_rate_between_two_steps_is_enough_to_clear_them(
    steps: list[int], count: int, part: float
) -> None:
    assert not is_quantised([*(one * STEP for one in steps), (count + part) * STEP])


def test_many_steps_are_no_evidence() -> None:
    assert not is_quantised([9819.5, 9822.4])
    assert not is_quantised([2635.1])
    assert not is_quantised([])
