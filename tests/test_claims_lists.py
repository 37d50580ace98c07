"""Figures in lists, in words and under a legend: compared with figures of their metric, and with no others."""

from __future__ import annotations

import pytest

from schemas.rows.claim import ClaimMetric
from tests.claims_read import claims_read, ratios


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The import went from 48 ms, 0.6 MB and 900 allocations to 12 ms, 0.2 MB and 300 allocations.", [4, 3, 3]),
        ("It took 36 ms, 0.3 MB, and 5,000 allocations, against 18 ms, 0.6 MB, and 10,000 allocations on its baseline.", [0.5, 2, 2]),
        ("Bulk insert: 6.6 ms and 0.5 MB on main versus 3.3 ms and 0.4 MB on the stack.", [2, 1.25]),
        ("Before: peak heap 812 MB, cold start 4.8s\nAfter: heap 203 MB (bounded), start 1.2s", [4, 4]),
        ("**Before**: p50 latency 12ms, p99 latency 80ms\n**After**: p50 6ms, p99 20ms", [2, 4]),
        ("Before: 3.2s and 4.0s\nAfter: 0.8s and 1.0s", [4, 4]),
        ("Before: 3 dropped, longest pause 40s\nAfter: 0 dropped, pause 2s. Total import 41 s → 52 s", [20, 41 / 52]),
        ("Before: encode=800ms, overlaps, total 1.0s\nAfter: warm=700ms + encode=100ms + exec=500ms, total 1.25s", [0.8]),
    ],
)
def test_each_figure_of_a_list_is_compared_with_that_of_its_metric(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Instructions per call: `push` 21 -> 14, `swap` 18 -> 12 and `jump` 40 -> 20.", [1.5, 1.5, 2]),
        ("Instructions per call: `push` 21 -> 14, coverage 60 -> 80.", [1.5]),
        ("Instructions per call: `push` 21 -> 14. The limit went 18 -> 12.", [1.5]),
    ],
)
def test_bare_pairs_that_go_on_with_a_list_measure_what_the_first_does(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\nParser (Before)   150 ns   baseline\nParser (After)    50 ns    66.7% faster\n```", [3]),
        ("Times:\n  Parallel vs Baseline:  1.02x\n  Parallel vs Cached: 0.86x (14% SLOWER)", [1.02, 0.86]),
        ("| Case | Before | After |\n|---|---|---|\n| Throughput | ~4.0B ops/sec | ~6.0B ops/sec |", [1.5]),
        ("Throughput: 12 requests/s, 3000 total tokens/s (baseline 10 requests/s, 2400 total tokens/s)", [1.2, 1.25]),
        ("BenchmarkA-8  120312  98 ns/op  12 allocs/op  (before)\nBenchmarkA-8  412312  28 ns/op  3 allocs/op  (after)", []),
        ("It improves latency (p50 -20%, p99 -50%).", [1.25, 2]),
        ("Speedup: 2.1x (batch 1), 1.6x (batch 8), 1.2x (batch 64)", [2.1, 1.6, 1.2]),
        ("A 36% throughput regression for 512-byte inputs compared to 384 bytes.", [0.64]),
    ],
)
def test_what_stands_beside_a_figure_belongs_to_its_own_line(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Warm medians, this head vs main: `list` 20 s vs 2 s, `show` 30 s vs 10 s.", [0.1, 1 / 3]),
        ("Warm medians, main vs this branch: `list` 20 s vs 2 s, `show` 30 s vs 10 s.", [10, 3]),
        ("Sync took 12.5 s on the branch against 10 s on main. This 25% regression blocks the merge.", [0.8]),
        ("Index build at 50 s for `a1b2`, against 40 s for `c3d4`. That is a 25% slowdown.", [0.8]),
        ("Writes averaged 0.8 s over 20 runs, compared with 3.2 s for the old branch.", [4]),
        ("p95 was 120 ms across 20 trials, versus 480 ms on main.", [4]),
        ("The page went from 200 queries per 50 rows down to 4.", [50]),
    ],
)
def test_words_around_two_figures_give_their_order(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ci: bring the nightly from nine minutes to four and a half", [2]),
        ("**Ten minutes to four**, over three runs", [2.5]),
        ("The suite dropped from half an hour to ten minutes.", [3]),
        ("The build went from forty-five seconds to fifteen.", [3]),
        ("Rendering a row went from three queries to one.", [3]),
        ("Parsing fell from about 900 allocations to one.", [900]),
        ("The shard went from 3m20 to 1m40.", [2]),
        ("The shards went from 3m00–4m00 to 1m00–2m00.", [6**0.5]),
        ("The migration went from an hour and a half to thirty minutes.", [3]),
    ],
)
def test_figures_in_words_are_figures(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "Raise the scratch space default from `512` MB to `4096` MB.",
        "Scaled from one worker to two, and from six nodes to three.",
        "Retries go from three to five, the wait from thirty seconds to ten.",
        "The poll interval goes from one minute to ten seconds.",
        "Reduced cron from one hour to ten minutes, and the sampling window from half an hour to five minutes.",
        "Name | Old | New\n--- | --- | ---\nversion | 1.2 | 1.3\ntimeout | 30s | 60s",
        "It cost $177 (24.0%) -- unattributed loop overhead",
        "The cache is divided by 4 shards, the array by 2.",
        "One of the two calls to one of them moved.",
    ],
)
def test_counts_and_settings_in_words_are_no_claims(text: str) -> None:
    assert ratios(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Case | Before | After | Reduction\n--- | --- | --- | ---\npeak RSS | 800 MiB | 100 MiB | 87.5%\nruntime | 11.4s | 7.6s | 33%",
            [8, 1.5],
        ),
        ("Metric | master | PR\n:-- | --: | --:\nbuild | 42 s | 21 s\n\nRetries went from 3 to 5.", [2]),
        ("The bundle:\n\n|  | development | production\n--|--|--\nwithout gzip | 2.4MB | 800KB\nwith gzip | 600KB | 200KB", [4, 4]),
        ("| metric | cold | warm | delta |\n|--|--|--|--|\n| median_ttft_ms | 400.0 | 500.0 | +25.00% |", [0.8]),
        ("| Test | Baseline mean | Mean | +/- |\n|--|--|--|--|\n| startup | 21,600ms | 10,800ms | -10800ms |", [2]),
    ],
)
def test_tables_without_outer_bars_or_with_a_column_named_like_the_baseline(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EMA costs us a 20% throughput loss.", [0.8]),
        ("We now divide the RSS by 2.", [2]),
        ("This makes the loading time of pages improve by up 5 times", [5]),
        ("The latency reductions we saw were around 20%.", [1.25]),
        ("That takes the 2.4MB archive down to 600KB.", [4]),
        ("CI went from 9 to 4½ minutes.", [2]),
        ("Previously each page issued 62 SQL queries; it now issues 4.", [15.5]),
        ("It now takes 25% of the time it used to.", [4]),
        ("The cold start time is 3 seconds. Originally it was about 12 seconds.", [4]),
        ("Decoding is 3x faster via the SIMD path, 10-20% via SSE.", [3, (1.1 * 1.2) ** 0.5]),
        ("delta: -80ms median (-20.0%)", [1.25]),
        ("A huge (40%) reduction in start-up time", [5 / 3]),
        ("I get 40s/epoch with the patch and 2m00s/epoch without it.", [3]),
    ],
)
def test_changes_in_other_words(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("It reduces boot time memory by 30%", ClaimMetric.MEMORY),
        ("Cuts query time by 40%", ClaimMetric.TIME),
        ("Lowers the build size by 40%", ClaimMetric.SIZE),
    ],
)
def test_the_last_of_compound_nouns_names_the_metric(text: str, metric: ClaimMetric) -> None:
    assert [claim.metric for claim in claims_read(text)] == [metric]


def test_points_in_time_are_no_claims() -> None:
    text = "Fix the drift of timestamps\n\n**Before:**\n- second frame: 2,080ms\n\n**After:**\n- second frame: 2,000ms\n"
    assert ratios(text) == []
