"""A file of every measuring tool that is right, by the name of the tool.

What the fuzzing of measurements begins with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests import (
    test_measure_bench_text,
    test_measure_exchange,
    test_measure_functions,
    test_measure_iso_bench,
    test_measure_load,
    test_measure_published,
)

_FILES = test_measure_iso_bench.FILES
_COMMIT = "a" * 40
_TRIPLE = test_measure_iso_bench.TRIPLE | {
    f"{word}_metrics": {"ttft_mean": 2.5} for word in ("baseline", "human", "agent")
}
_VARIANT = {
    "status": "success",
    "metrics": {"throughput_tok_s": 9.5},
    "raw_output": "Throughput: 9.5 requests/s, 11000.5 tokens/s\n",
}
_FUNCTION = {"avg_ms": 3.5, "p50_ms": 3.25, "p95_ms": 4.0, "iters": 20, "device": "cpu"}
_BASELINE = {"success": True, "avg_min_ms": 20.5, "std_min_ms": 9.0}
_PYPERF = {
    "metadata": {"date": "2026-01-02 03:04:05"},
    "warmups": [[64, 99.0]],
    "values": [0.25, 0.5],
}
_HYPERFINE = {
    "command": "run 8",
    "mean": 0.5,
    "stddev": 0.25,
    "median": 0.5,
    "user": 0.125,
    "system": 0.25,
    "min": 0.25,
    "max": 0.75,
}

_JSON: Mapping[str, Any] = {
    "iso_bench_function": {
        "instance": {"commit_hash": _COMMIT, "repo": "vllm"},
        "result": {
            "status": "success",
            "baseline_ms": 3.5,
            "patched_ms": 3.25,
            "baseline_output": _FUNCTION,
            "patched_output": _FUNCTION,
        },
    },
    "iso_bench_instance": {"instance": {"commit_hash": _COMMIT, "repo": "vllm"}, "result": _TRIPLE},
    "iso_bench_progress": {
        "timestamp": "20260102_111401",
        "completed": 2,
        "total_commits": 9,
        "results": [_TRIPLE, {"status": "error"}],
    },
    "iso_bench_triple": _TRIPLE,
    "iso_bench_rerun": {
        "commit_short": "6ce01f30",
        "baseline": _VARIANT,
        "human": _VARIANT,
        "agent": _VARIANT,
    },
    "iso_bench_result": {
        "human_commit": "e3580537",
        "status": "success",
        "metrics": {"ttft_mean_ms": 5.5},
        "model": "m",
    },
    "iso_bench_early_result": {
        "commit_hash": _COMMIT,
        "status": "success",
        "benchmark_type": "serving",
        "ttft_mean": 40.5,
    },
    "iso_bench_isolated": {
        "base_commit": "b" * 40,
        "commit": _COMMIT,
        "variants": {
            word: _VARIANT | {"variant": word} for word in ("baseline", "human", "trae_gpt5")
        },
    },
    "algotune_baseline": {
        "sort": {
            "target_time_ms": 100,
            "n": 7,
            "dataset_size": 100,
            "baseline_runs": {"0": _BASELINE, "1": _BASELINE},
        }
    },
    "algotune_summary": {
        "sort": {"model-a": {"final_speedup": "1.25000"}, "model-b": {"final_speedup": "N/A"}}
    },
    "asv": test_measure_functions.asv_results("v1"),
    "criterion": test_measure_functions.estimates(200, 190),
    "criterion-sample": {"sampling_mode": "Linear", "iters": [1, 2, 4], "times": [200, 420, 760]},
    "google-benchmark": {
        "context": test_measure_functions.CONTEXT,
        "benchmarks": [
            test_measure_functions.entry("sort", 2.5),
            test_measure_functions.aggregate("sort", "mean", 2.5),
        ],
    },
    "gso_manifest": {
        "models": {
            "m-1": {"report": "reports/m-1.json", "summary": {"opt_commit": 2, "score": 44.5}}
        }
    },
    "gso_report": test_measure_published.REPORT,
    "harbor": {
        "reward": 0.5,
        "correct": True,
        "speedup": 2.5,
        "metric": 4.5,
        "baseline": 9.0,
        "reference": 3.0,
        "error": None,
    },
    "hyperfine": {
        "results": [
            _HYPERFINE
            | {"times": [0.25, 0.75], "exit_codes": [0, None], "parameters": {"size": "8"}}
        ]
    },
    "k6": test_measure_load.K6_NEW,
    "kernelbench_evaluation": {
        "1": [
            {
                "sample_id": 0,
                "compiled": True,
                "correctness": True,
                "runtime": 2.5,
                "metadata": {"hardware": "L4"},
                "runtime_stats": {"std": 0.5},
            }
        ]
    },
    "pyperf": {
        "benchmarks": [{"metadata": {"name": "sum"}, "runs": [_PYPERF]}],
        "metadata": {"hostname": "box"},
        "version": "1.0",
    },
    "pytest-benchmark": test_measure_functions.pytest_json(
        {
            "name": "test_pack",
            "params": {"size": 8},
            "stats": test_measure_functions.stats(data=[0.25, 0.25, 0.5, 1.0]),
        }
    ),
    "tachograph measure": {
        "tachograph_measure": 1,
        "version": "1",
        "measured_at": "2026-01-02T03:04:05+00:00",
        "ended_at": "2026-01-02T03:05:05+00:00",
        "repo": "pack",
        "baseline_commit": _COMMIT,
        "candidate_commit": "b" * 40,
        "command": ["run", "8"],
        "machine": {"name": "box", "system": "Linux", "processor": "x", "cores": 2},
        "series": [
            {
                "members": [0],
                "metric": "time",
                "unit": "ms",
                "better": "lower",
                "verdict": "faster",
                "noise_floor": 0.25,
                "ratio": 2.0,
            }
        ],
        "runs": [
            {"phase": "compared", "block": block, "arm": arm, "values": [value]}
            for block in (1, 2)
            for arm, value in (
                ("baseline", 9.5),
                ("candidate", 4.75),
                ("candidate", 5.0),
                ("baseline", 10.0),
            )
        ],
    },
    "vllm_latency": {
        "avg_latency": 1.5,
        "latencies": [1.25, 1.75],
        "percentiles": {"10": 1.3, "50": 1.5, "99": 1.745},
    },
    "vllm_throughput": {
        "elapsed_time": 10.5,
        "num_requests": 42,
        "total_num_tokens": 8400,
        "requests_per_second": 4.0,
        "tokens_per_second": 800.0,
    },
    "sglang_offline": {
        "backend": "engine",
        "successful_requests": 10,
        "total_latency": 2.5,
        "total_input_tokens": 1000,
        "last_gen_throughput": 190.0,
    },
    "bencher_bmf": {
        "lib::sort": {
            "latency": {"value": 88.5, "lower_value": 80.0, "upper_value": 95.0},
            "throughput": {"value": 5.5},
        }
    },
    "github_action_benchmark": test_measure_exchange.BENCHES,
}

_TEXTS: Mapping[str, str] = {
    "iso_bench_table": next(_FILES.rglob("updated_rows_only.csv")).read_text(),
    "iso_bench_labels": test_measure_iso_bench.LABELS,
    "asv-text": test_measure_bench_text.ASV,
    "criterion-text": test_measure_bench_text.CRITERION,
    "libtest": test_measure_bench_text.LIBTEST,
    "go-bench": test_measure_bench_text.GO,
    "kernelbench": test_measure_published.KERNELBENCH,
    "sglang_one_batch": f"{test_measure_load.one_batch('before', 0.032)}\n{test_measure_load.one_batch('after', 0.016)}\n",  # noqa: E501
    "sglang_serving": test_measure_load.SGLANG,
    "swefficiency": test_measure_published.SWEFFICIENCY,
    "vllm_serve": test_measure_load.vllm_serve(),
    "wrk": test_measure_load.WRK,
    "csv_table": test_measure_exchange.LONG,
    "github_action_benchmark, history": test_measure_exchange.history("go"),
    (
        "csv_table, wide"
    ): "metric\tbase_ms\thuman_ms\tagent_ms\tagent_std\nttft_mean\t10.5\t9.5\t\t\np99_itl\t4\t3\t2.5\t0.5\n",  # noqa: E501
}

MEASURED: Mapping[str, str] = {
    name: json.dumps(value, indent=1) for name, value in _JSON.items()
} | dict(_TEXTS)
