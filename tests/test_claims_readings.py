"""Named readings of benchmark scripts: which figure is compared with which."""

from __future__ import annotations

import pytest

from ingest.claims import extract
from schemas.rows.claim import ClaimKind, ClaimMetric


def ratios(text: str) -> list[float]:
    return [round(claim.ratio, 2) for claim in extract(text) if claim.kind is ClaimKind.QUANTIFIED and claim.ratio]


LISTS = """Benchmark on CPU
- Baseline:
  - top-k: ~12.0 ms/iter
  - top-p: ~8.0 ms/iter
- After changes:
  - top-k: ~6.0 ms/iter
  - top-p: ~2.0 ms/iter"""
DICTIONARIES = """Benchmark
- Before: {'bind_time_s': 0.08, 'send_time_s': 0.03, 'runs': 400}
- After: {'bind_time_s': 0.02, 'send_time_s': 0.01, 'runs': 400}"""
CASES = """Benchmark
- Baseline timings:
  - len=500: warmup=4ms, time=90ms
  - len=900: warmup=8ms, time=160ms
- After:
  - len=500: warmup=2ms, time=30ms
  - len=900: warmup=2ms, time=40ms"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(LISTS, [2, 4], id="lists below two labels"),
        pytest.param(DICTIONARIES, [4, 3], id="dictionaries behind two labels; the number of runs is no result"),
        pytest.param(CASES, [2, 3, 4, 4], id="each case with its own"),
        pytest.param(
            "Benchmark output: {'n': 8192, 'baseline_ms': 12.0, 'optimized_ms': 4.0, 'speedup_x': 3.0}", [3], id="with its factor"
        ),
        pytest.param("Measured: {'old_impl_ms': 24.0, 'new_impl_ms': 12.0}", [2], id="both sides in one dictionary"),
        pytest.param("Microbenchmark:\n- orig_loop avg_time_s=0.036\n- opt_vectorized avg_time_s=0.012", [3], id="two variants"),
        pytest.param(
            "Benchmark\n- Before: {'evict_time_s': 0.90}\n- After: {'evict_time_s': 0.72}\n- Eviction time improved by 20.0%",
            [1.25],
            id="the line below repeats it",
        ),
    ],
)
def test_readings_are_paired_by_name(text: str, expected: list[float]) -> None:
    assert ratios(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Before: {'timeout_s': 30}\nAfter: {'timeout_s': 60}",
        "Baseline run\n- items: 8192\nAfter\n- items: 4096",
        "Benchmark\n- Baseline: {'a_ms': 4.0}\n- After: {'b_ms': 2.0}",
    ],
)
def test_what_is_no_pair_of_results_is_none(text: str) -> None:
    assert ratios(text) == []


def test_results_of_vllm_below_before_and_after_are_compared_line_by_line() -> None:
    """Its units stand in the labels."""
    block = """============ Serving Benchmark Result ============
Successful requests:                     200
Request throughput (req/s):              {}
Mean TTFT (ms):                          {}
P99 TTFT (ms):                           {}
=================================================="""
    before, after = block.format("4.00", "300.00", "800.10"), block.format("5.00", "200.00", "800.10")
    found = [
        (claim.metric, round(claim.ratio or 0, 2)) for claim in extract(f"### Before\n```\n{before}\n```\n\n### After\n```\n{after}\n```")
    ]
    assert found == [(ClaimMetric.THROUGHPUT, 1.25), (ClaimMetric.TIME, 1.5), (ClaimMetric.TIME, 1.0)]
