"""Results of tools that put a server under load.

Raw value and unit of every kind of row, and what a value cannot be trusted for.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.measuring import by_quantity, column_values, measured, refusals


def vllm_serve(**changes: Any) -> str:
    """A result of `vllm bench serve` with changes; a value of `...` leaves the key out."""
    result = {
        "date": "20260302-081500",
        "endpoint_type": "openai",
        "backend": "openai",
        "label": None,
        "model_id": "org/small-1b",
        "tokenizer_id": "org/small-1b",
        "num_prompts": 100,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": None,
        "duration": 12.5,
        "completed": 100,
        "failed": 0,
        "total_input_tokens": 51200,
        "total_output_tokens": 12800,
        "request_throughput": 8.0,
        "request_goodput": None,
        "output_throughput": 1024.0,
        "total_token_throughput": 5120.0,
        "max_output_tokens_per_s": 1300.0,
        "max_concurrent_requests": 100,
        "mean_ttft_ms": 210.5,
        "median_ttft_ms": 200.25,
        "std_ttft_ms": 40.0,
        "p50_ttft_ms": 200.25,
        "p99_ttft_ms": 390.0,
        "mean_tpot_ms": 11.0,
    }
    return json.dumps({key: value for key, value in (result | changes).items() if value is not ...})


def test_every_quantity_of_a_served_run_has_a_row_but_the_spread_of_its_requests(
    tmp_path: Path,
) -> None:
    rows = measured(tmp_path, result=vllm_serve())
    assert by_quantity(rows, "value_raw", "unit_raw", "value", "unit", "better") == {
        ("time", "total"): (12.5, "s", 12500.0, "ms", "lower"),
        ("request_throughput", "rate"): (8.0, "req/s", 8.0, "req/s", "higher"),
        ("output_throughput", "rate"): (1024.0, "tok/s", 1024.0, "tok/s", "higher"),
        ("output_throughput", "max"): (1300.0, "tok/s", 1300.0, "tok/s", "higher"),
        ("total_throughput", "rate"): (5120.0, "tok/s", 5120.0, "tok/s", "higher"),
        ("total_input_tokens", "total"): (51200.0, "tokens", 51200.0, "tok", "unknown"),
        ("total_output_tokens", "total"): (12800.0, "tokens", 12800.0, "tok", "unknown"),
        ("ttft", "mean"): (210.5, "ms", 210.5, "ms", "lower"),
        ("ttft", "median"): (200.25, "ms", 200.25, "ms", "lower"),
        ("ttft", "p99"): (390.0, "ms", 390.0, "ms", "lower"),
        ("tpot", "mean"): (11.0, "ms", 11.0, "ms", "lower"),
    }
    assert set(
        column_values(
            rows,
            "format",
            "n",
            "spread_kind",
            "status",
            "variant",
            "batch",
            "bench_model",
            "scope",
            "tz_known",
        )
    ) == {("vllm_serve", 1, "none", "ok", None, None, "org/small-1b", "end_to_end", False)}
    assert rows[0]["measured_at"].replace(tzinfo=None) == datetime(2026, 3, 2, 8, 15)  # noqa: DTZ001 - compared without a zone
    assert json.loads(rows[0]["params"]) == {
        "backend": "openai",
        "tokenizer_id": "org/small-1b",
        "num_prompts": 100,
        "request_rate": "inf",
        "burstiness": 1.0,
    }


def test_metadata_say_the_variant_the_code_or_the_workload(tmp_path: Path) -> None:
    told = {
        "variant": "After",
        "commit": "0123ABCD",
        "parent": "89abcdef",
        "gpu": "H100",
        "vllm_version": "0.11",
        "input_len": "512",
    }
    [row, *_] = measured(tmp_path, result=vllm_serve(**told))
    assert (row["variant"], row["commit_full"], row["parent_full"], row["machine"]) == (
        "candidate",
        "0123abcd",
        "89abcdef",
        "H100",
    )
    assert {"input_len"} == {*json.loads(row["params"])} - {
        "backend",
        "tokenizer_id",
        "num_prompts",
        "request_rate",
        "burstiness",
    }


def test_the_version_of_the_code_does_not_change_the_workload(tmp_path: Path) -> None:
    one, other = (
        vllm_serve(vllm_version="0.11", variant="base"),
        vllm_serve(vllm_version="0.12", variant="patched"),
    )
    rows = measured(tmp_path, result=f"{one}\n{other}")
    assert len({row["workload_fp"] for row in rows}) == 1
    assert {(row["variant"], row["batch"]) for row in rows} == {
        ("baseline", f"{tmp_path}/result"),
        ("candidate", f"{tmp_path}/result"),
    }


@pytest.mark.parametrize("key", ["request_goodput", "request_goodput:"])
def test_goodput_is_read_under_the_key_with_the_stray_colon_too(tmp_path: Path, key: str) -> None:
    text = vllm_serve(**{"request_goodput": ..., "failed": ..., key: 7.5})
    assert by_quantity(measured(tmp_path, result=text), "value", "unit")["goodput", "rate"] == (
        7.5,
        "req/s",
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"failed": 2, "completed": 98},
        {"failed": ..., "completed": 99},
        {"errors": ["", "timed out"], "ttfts": [0.2, 0.0]},
    ],
)
def test_failed_requests_are_flagged(tmp_path: Path, changes: dict[str, Any]) -> None:
    rows = measured(tmp_path, result=vllm_serve(**changes))
    assert {tuple(row["flags"]) for row in rows} == {("errors",)}


def test_a_run_without_a_completed_request_is_a_failure_and_no_zero(tmp_path: Path) -> None:
    [row] = measured(tmp_path, result=vllm_serve(completed=0, failed=100, mean_ttft_ms=0.0))
    assert (row["status"], row["failure"], row["value"], row["failure_detail"]) == (
        "failed",
        "unknown",
        None,
        "no request was completed",
    )


def test_the_sidecar_for_pytorch_repeats_nothing(tmp_path: Path) -> None:
    metric = {
        "name": "mean_ttft_ms",
        "benchmark_values": [210.5],
        "extra_info": {"completed": 100, "num_prompts": 100},
    }
    extra = {"model_id": "org/small-1b", "request_throughput": 8.0}
    sidecar = json.dumps(
        [{"benchmark": {"name": "vLLM benchmark", "extra_info": extra}, "metric": metric}]
    )
    assert len(measured(tmp_path, result=vllm_serve(), sidecar=sidecar)) == 11
    assert not refusals(tmp_path)


def test_iterations_of_the_latency_benchmark_are_its_samples(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "avg_latency": 1.5,
            "latencies": [1.25, 1.75],
            "percentiles": {"10": 1.3, "50": 1.5, "99": 1.745},
        },
        indent=4,
    )
    rows = measured(tmp_path, result=text)
    assert by_quantity(rows, "value_raw", "value", "n", "samples", "spread_kind") == {
        ("latency", "mean"): (1.5, 1500.0, 2, [1250.0, 1750.0], "samples"),
        ("latency", "p10"): (1.3, 1300.0, 2, [], "none"),
        ("latency", "median"): (1.5, 1500.0, 2, [1250.0, 1750.0], "samples"),
        ("latency", "p99"): (1.745, 1745.0, 2, [], "none"),
    }
    assert {row["unit_raw"] for row in rows} == {"s"}


def test_the_throughput_benchmark_counts_tokens_in_and_out(tmp_path: Path) -> None:
    result = {
        "elapsed_time": 10.5,
        "num_requests": 42,
        "total_num_tokens": 8400,
        "requests_per_second": 4.0,
        "tokens_per_second": 800.0,
    }
    assert by_quantity(
        measured(tmp_path, result=json.dumps(result)), "value_raw", "unit_raw", "params"
    ) == {
        ("time", "total"): (10.5, "s", '{"num_requests": 42, "total_num_tokens": 8400}'),
        ("request_throughput", "rate"): (
            4.0,
            "req/s",
            '{"num_requests": 42, "total_num_tokens": 8400}',
        ),
        ("total_throughput", "rate"): (
            800.0,
            "tok/s",
            '{"num_requests": 42, "total_num_tokens": 8400}',
        ),
    }


SGLANG = (
    '{"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, '
    '"max_concurrency": null, "total_input_tokens": 4000, "total_output_tokens": 2000, '
    '"total_output_tokens_retokenized": 1990, "mean_e2e_latency_ms": 900.5, "median_ttft_ms": '
    '31.5, "std_ttft_ms": 4.0, "median_itl_ms": 7.25, "output_throughput": 250.0, '
    '"input_throughput": 500.0, "total_throughput": 750.0, "accept_length": null, '
    '"random_input_len": 40, "random_output_len": 20, "duration": 8.0, "completed": 100}\n'
)


def test_a_line_of_sglang_is_a_run_and_its_bare_infinity_the_word_inf(tmp_path: Path) -> None:
    rows = measured(
        tmp_path, result=SGLANG + SGLANG.replace("Infinity", "4.0").replace("31.5", "29.5")
    )
    assert len(rows) == 18
    assert by_quantity(rows[:9], "value_raw", "unit_raw") == {
        ("time", "total"): (8.0, "s"),
        ("input_throughput", "rate"): (500.0, "tok/s"),
        ("output_throughput", "rate"): (250.0, "tok/s"),
        ("total_throughput", "rate"): (750.0, "tok/s"),
        ("total_input_tokens", "total"): (4000.0, "tokens"),
        ("total_output_tokens", "total"): (2000.0, "tokens"),
        ("e2el", "mean"): (900.5, "ms"),
        ("ttft", "median"): (31.5, "ms"),
        ("itl", "median"): (7.25, "ms"),
    }
    assert by_quantity(rows[9:], "value")["ttft", "median"] == (29.5,)
    assert [json.loads(row["params"])["request_rate"] for row in (rows[0], rows[9])] == ["inf", 4.0]
    assert rows[0]["workload_fp"] != rows[9]["workload_fp"]


def test_the_model_of_sglang_stands_among_the_settings_of_its_server(tmp_path: Path) -> None:
    [row, *_] = measured(
        tmp_path, result=SGLANG.replace("{", '{"server_info": {"model_path": "org/small-1b"}, ', 1)
    )
    assert row["bench_model"] == "org/small-1b"


def test_offline_throughput_of_sglang_is_in_seconds(tmp_path: Path) -> None:
    text = (
        '{"backend": "engine", "successful_requests": 10, "total_latency": 2.5, '
        '"total_input_tokens": 1000, "total_output_tokens": 500, "last_gen_throughput": 190.0, '
        '"request_throughput": 4.0, "input_throughput": 400.0, "output_throughput": 200.0, '
        '"total_throughput": 600.0}\n'
    )
    assert by_quantity(measured(tmp_path, result=text), "value", "unit_raw") == {
        ("time", "total"): (2500.0, "s"),
        ("request_throughput", "rate"): (4.0, "req/s"),
        ("input_throughput", "rate"): (400.0, "tok/s"),
        ("output_throughput", "rate"): (200.0, "tok/s"),
        ("total_throughput", "rate"): (600.0, "tok/s"),
        ("last_gen_throughput", "rate"): (190.0, "tok/s"),
    }


def one_batch(run_name: str, prefill: float) -> str:
    run = {
        "run_name": run_name,
        "batch_size": 4,
        "input_len": 64,
        "output_len": 8,
        "total_latency": 0.06,
        "overall_throughput": 4800.0,
    }
    run |= {"prefill_latency": prefill, "prefill_throughput": 256 / prefill}
    return json.dumps(run | {"median_decode_latency": 0.004, "median_decode_throughput": 1000.0})


@pytest.mark.parametrize(
    ("names", "variants", "has_batch"),
    [
        (("before", "after"), ("baseline", "candidate"), True),
        (("default", "default"), (None, None), False),
    ],
)
def test_the_name_of_a_one_batch_run_may_say_the_variant(
    tmp_path: Path, names: tuple[str, str], variants: tuple[str | None, ...], has_batch: bool
) -> None:
    rows = measured(
        tmp_path, result=f"{one_batch(names[0], 0.032)}\n{one_batch(names[1], 0.016)}\n"
    )
    assert by_quantity(rows[:6], "value_raw", "unit_raw", "value") == {
        ("latency", "total"): (0.06, "s", 60.0),
        ("prefill_latency", "total"): (0.032, "s", 32.0),
        ("prefill_throughput", "rate"): (8000.0, "tok/s", 8000.0),
        ("decode_latency", "median"): (0.004, "s", 4.0),
        ("decode_throughput", "median"): (1000.0, "tok/s", 1000.0),
        ("total_throughput", "rate"): (4800.0, "tok/s", 4800.0),
    }
    assert (rows[0]["variant"], rows[6]["variant"]) == variants
    assert {row["batch"] for row in rows} == {f"{tmp_path}/result" if has_batch else None}


K6_NEW: dict[str, Any] = {
    "options": {"summaryTimeUnit": ""},
    "metrics": {
        "vus_max": {
            "type": "gauge",
            "contains": "default",
            "values": {"value": 5, "min": 5, "max": 5},
        },
        "http_reqs": {
            "type": "counter",
            "contains": "default",
            "values": {"count": 90, "rate": 30.5},
        },
        "http_req_failed": {
            "type": "rate",
            "contains": "default",
            "values": {"rate": 0.25, "passes": 15, "fails": 45},
        },
        "http_req_duration": {
            "type": "trend",
            "contains": "time",
            "values": {"avg": 12.5, "med": 11.0, "p(95)": 20.0, "max": 31.0},
        },
        "http_req_duration{group:::a}": {
            "type": "trend",
            "contains": "time",
            "values": {"avg": 9.0},
        },
        "my_size": {"type": "trend", "contains": "data", "values": {"avg": 2048}},
        "my_score": {"type": "trend", "contains": "default", "values": {"avg": 3.5}},
        "data_sent": {"type": "counter", "contains": "data", "values": {"count": 900, "rate": 300}},
    },
}


def test_the_summary_of_k6_in_its_newer_form(tmp_path: Path) -> None:
    rows = measured(tmp_path, summary=json.dumps(K6_NEW))
    tagged = '{"tags": "group:::a", "vus_max": 5}'
    assert column_values(
        rows, "metric", "statistic", "value_raw", "unit_raw", "better", "params"
    ) == [
        ("data_sent", "rate", 300.0, "B/s", "unknown", '{"vus_max": 5}'),
        ("latency", "mean", 12.5, "ms", "lower", '{"vus_max": 5}'),
        ("latency", "median", 11.0, "ms", "lower", '{"vus_max": 5}'),
        ("latency", "p95", 20.0, "ms", "lower", '{"vus_max": 5}'),
        ("latency", "max", 31.0, "ms", "lower", '{"vus_max": 5}'),
        ("latency", "mean", 9.0, "ms", "lower", tagged),
        ("http_req_failed", "rate", 0.25, "ratio", "lower", '{"vus_max": 5}'),
        ("request_throughput", "rate", 30.5, "req/s", "higher", '{"vus_max": 5}'),
        ("my_score", "mean", 3.5, None, "unknown", '{"vus_max": 5}'),
        ("my_size", "mean", 2048.0, "B", "lower", '{"vus_max": 5}'),
    ]
    assert {tuple(row["flags"]) for row in rows} == {("errors",)}


def test_the_summary_of_k6_in_its_older_form_says_value_for_a_rate(tmp_path: Path) -> None:
    older = {
        name: metric["values"] for name, metric in K6_NEW["metrics"].items() if "my_" not in name
    }
    older["http_req_failed"] = {"value": 0, "passes": 0, "fails": 60}
    rows = measured(tmp_path, summary=json.dumps({"root_group": {}, "metrics": older}))
    assert column_values(rows, "metric", "value_raw", "unit_raw", "flags")[1] == (
        "latency",
        12.5,
        "ms",
        [],
    )
    assert ("http_req_failed", 0.0, "ratio", ["zero"]) in column_values(
        rows, "metric", "value_raw", "unit_raw", "flags"
    )


WRK = """Running 10s test @ http://localhost:9000/a
  2 threads and 20 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   420.50us    1.00ms   2.50s    92.00%
    Req/Sec    11.20k     1.05k   12.00k    70.00%
  Latency Distribution
     50%  300.00us
     99%    1.20m
  210000 requests in 10.02s, 41.20MB read
Requests/sec:  20958.10
Transfer/sec:      4.11MB
"""


def test_units_of_wrk_stand_behind_the_numbers(tmp_path: Path) -> None:
    rows = measured(tmp_path, wrk=WRK)
    assert by_quantity(rows, "value_raw", "unit_raw", "value", "unit") == {
        ("latency", "mean"): (420.5, "us", 0.4205, "ms"),
        ("latency", "max"): (2.5, "s", 2500.0, "ms"),
        ("latency", "median"): (300.0, "us", 0.3, "ms"),
        ("latency", "p99"): (1.2, "min", 72000.0, "ms"),
        ("request_throughput", "rate"): (20958.1, "req/s", 20958.1, "req/s"),
        ("transfer", "rate"): (4.11, "MiB/s", 4.11 * 1024**2, "B/s"),
    }
    assert {(row["benchmark"], row["params"]) for row in rows} == {
        ("http://localhost:9000/a", '{"connections": 20, "duration": "10s", "threads": 2}')
    }
    assert not any(row["flags"] for row in rows)


@pytest.mark.parametrize(
    "line",
    [
        "  Socket errors: connect 0, read 3, write 0, timeout 1\n",
        "  Non-2xx or 3xx responses: 12\n",
    ],
)
def test_errors_that_wrk_reports_are_flagged_for_their_own_test_only(
    tmp_path: Path, line: str
) -> None:
    rows = measured(tmp_path, wrk=WRK.replace("Requests/sec", f"{line}Requests/sec") + WRK)
    assert [tuple(row["flags"]) for row in rows] == [("errors",)] * 6 + [()] * 6


def test_the_rate_of_wrk2_was_set_and_its_uncorrected_latency_is_another(tmp_path: Path) -> None:
    spectrum = """  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.50ms
 99.900%    6.00ms
100.000%    9.00ms

  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%  200.00us
"""  # noqa: E501
    percentiles = "  Latency Distribution\n     50%  300.00us\n     99%    1.20m\n"
    text = "wrk -t2 -c20 -d10s -R2000 http://localhost:9000/a\n" + WRK.replace(
        percentiles, spectrum
    )
    rows = measured(tmp_path, wrk=text)
    assert by_quantity(rows, "value", "flags") == {
        ("latency", "mean"): (0.4205, []),
        ("latency", "max"): (2500.0, []),
        ("latency", "median"): (1.5, []),
        ("latency", "p99.9"): (6.0, []),
        ("request_throughput", "rate"): (20958.1, ["set_point"]),
        ("transfer", "rate"): (4.11 * 1024**2, ["set_point"]),
    }
    assert {row["command"] for row in rows} == {"wrk -t2 -c20 -d10s -R2000 http://localhost:9000/a"}
