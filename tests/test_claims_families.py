"""Families of wording and layout: which figure is the baseline, numbers in words, columns, outputs of tools."""

from __future__ import annotations

import pytest

from ingest.claims import Claim
from schemas.rows.claim import ClaimKind, Evidence
from tests.claims_read import claims_read


def quantified(text: str) -> list[Claim]:
    return [claim for claim in claims_read(text) if claim.kind is ClaimKind.QUANTIFIED]


def table(heads: str, *rows: str) -> str:
    return "\n".join([f"| {heads} |", "|---" * (heads.count("|") + 1) + "|", *(f"| {row} |" for row in rows)])


def ratios(text: str) -> list[float | None]:
    return [claim.ratio for claim in quantified(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The list page fell to 4 SQL queries from 64.", [16]),
        ("The import took 30 s previously and takes 5 s with this patch.", [6]),
        ("- Cold start: was 3.0 s, is 1.5 s", [2]),
        ("- Build time: **before** 40s, **after** 10s", [4]),
        ("The suite runs in 12 s now, used to take 96 s.", [8]),
        ("Before this change: 4.0 s. After: 0.5 s.", [8]),
        ("main: 3.2s, PR: 0.8s", [4]),
        ("master 3.0s → branch 1.5s", [2]),
        ("Old: 12s. New: 3s.", [4]),
        ("Old implementation: 12 seconds\nNew implementation: 3 seconds", [4]),
        ("Reduced 12s startup to 3s", [4]),
        ("The 12s startup is now 3s", [4]),
        ("Export time is 25% of what it was.", [4]),
        ("A 12% drop in p99 latency and a 5% rise in throughput.", [1 / 0.88, 1.05]),
        (("The report step took **2m0s** on [this run](https://ci.example.org/acme/tool/runs/1234567890/attempts/2/jobs), "
         "compared with **8m0s** on [the one before](https://ci.example.org/acme/tool/runs/1234567880)."), [4]),
    ],
)  # fmt: skip
def test_which_figure_is_the_baseline(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The planning step goes from two minutes to thirty seconds.", [4]),
        ("It turns the nightly job from ~20 minutes into about ten seconds.", [120]),
        ("Tests went from an average of 6 mins to an average of 1.5 mins.", [4]),
        ("The build went from 3 minutes to under a minute.", [3]),
        ("The new pool lowers peak RSS by a third.", [1.5]),
        ("Throughput up 35%, latency down 20%.", [1.35, 1.25]),
        ("Indexing: 40x - 90x speedup", [60]),
        ("Wall clock drops from 4m00s-9m00s to 3m00s.", [2]),
        ("Filter: 9 ms vs loop 18 ms（loop が約 2倍遅い）", [0.5]),
        ("实现向量化，并取得 2.5 倍加速。", [2.5]),
        ("빌드 시간 40초에서 10초로 단축", [4]),
        ("The query performance is in fact 25% worst.", [0.8]),
    ],
)
def test_numbers_and_units_in_other_forms(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (table("route | Before p50 | After p50 | Before p95 | After p95 | Failures before→after",
               "/a | 90ms | **30ms** | 200ms | **50ms** | 0 → 0"), [3, 4]),
        ("Latency (ms):\n  before: 120\n  after: 40", [3]),
        (table("Variant | Mean [ms] | Min [ms] | Max [ms]", "old | 800.0 ± 5 | 790 | 820", "new | 400.0 ± 3 | 390 | 410"), [2]),
        (table("Query | Base | PR", "list | 120 ms | 40 ms"), [3]),
        ("bench     old ns/op   new ns/op   delta\nScan-4    2000        1500        -25.00%\nScan-4    2400        1800        -25.00%",
         [4 / 3, 4 / 3]),
        ("Plain blur: 18.0 ms\nSIMD blur : 20.0 ms\nblur speedup: 0.90x", [0.9]),
        ("* **Mean eager import cost (Before):** 4.0s\n* **Mean lazy import cost (After):** 1.0s\n* **Speedup:** ~75% faster", [4]),
    ],
)  # fmt: skip
def test_columns_and_labels(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("lint src  20.26s user 2.50s system 178% cpu 12.000 total", "lint src  9.90s user 0.66s system 196% cpu 4.000 total", 3),
        ("real    0m12.000s\nuser    0m20.26s", "real    0m3.000s\nuser    0m9.90s", 4),
        ("Finished in 22.5 seconds", "Finished in 7.5 seconds", 3),
        ("Time (mean ± σ):     300.0 ms ±  4.1 ms", "Time (mean ± σ):     100.0 ms ±  2.1 ms", 3),
    ],
)
def test_outputs_below_before_and_after(first: str, second: str, expected: float) -> None:
    assert ratios(f"Before:\n```\n{first}\n```\n\nAfter:\n```\n{second}\n```") == pytest.approx([expected])


def test_a_time_that_a_runner_of_tests_printed_was_measured() -> None:
    (claim,) = quantified("Before: 48 passed in 4.00s\nAfter:  48 passed in 0.50s")
    assert (claim.ratio, claim.evidence) == (8, Evidence.BENCHMARKED)


def test_the_change_that_criterion_prints() -> None:
    text = "scan  time:   [1.23 ms 1.24 ms 1.25 ms]\n      change: [-51.0% -50.0% -49.0%] (p = 0.00 < 0.05)"
    assert ratios(text) == pytest.approx([2])


@pytest.mark.parametrize(
    "text",
    [
        "`notify_after_n_builds: 5 -> 9`, so the status waits for every shard",
        "modify the default readiness period seconds: 5s -> 1s",
        "gives slow runners headroom without doubling CI cost",
        table("Feature | Before | After | Improvement", "Speech Speed | 1.0x | 1.2x | **20% faster**"),
        table("Metric | Before | After", "**Number of Files** | 1 | 15"),
        table("Metric | Previous (session 57) | Current (session 58) | Delta", "Total cost | $730.84 | $733.86 | +$3.02"),
        table("Setting | Current | New", "upload size | 10 MB | 50 MB", "idle timeout | 30s | 60s"),
        "CPU usage drops from 80% to 20%.",
        "Video length cut from 10 minutes to two minutes",
        "Retry interval went from two minutes to thirty seconds.",
        "We are down to 12 warnings from 40.",
        table("Metric | Target | Achieved", "CPU usage | <50% | 30%"),
    ],
)
def test_near_misses_are_no_claims(text: str) -> None:
    assert quantified(text) == []
