"""One change in other words, units, orders and layouts; and near misses, which are no claims."""

from __future__ import annotations

import pytest

from ingest.claims import Claim
from schemas.rows.claim import ClaimKind, ClaimMetric
from tests.claims_read import claims_read


def quantified(text: str) -> list[Claim]:
    return [claim for claim in claims_read(text) if claim.kind is ClaimKind.QUANTIFIED]


def ratios(text: str) -> list[float | None]:
    return [claim.ratio for claim in quantified(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Startup: 126 ms (vs 84 ms)", [2 / 3]),
        ("Latency is 3 ms (vs. 12 ms on main)", [4]),
        ("Packing it INCREASES the artifact size (20 MB vs 16 MB without).", [0.8]),
        ("Allocations per op: 3 (was 42)", [14]),
        ("Queries per page: 4 (down from 112)", [28]),
        ("It used 2.4 GB of memory; now it uses 300 MB", [8]),
        ("Builds took 12 minutes before this change. With the cache enabled they complete in 3 minutes.", [4]),
        ("Until now an index build took about 40 s. This change brings it to 8 s.", [5]),
        ("Loading took 4.5 s in the past; it now takes 1.5 s.", [3]),
        ("We measured 4.8s on main and 1.2s on this branch", [4]),
        ("Load time: 4.8s on main, 1.2s with this PR", [4]),
        ("With this PR: 1.2s. Without: 4.8s.", [4]),
        ("Load time with the patch 1.2s, without 4.8s", [4]),
        ("Loads in 1.2s, previously 4.8s", [4]),
        ("Loads in 1.2s (4.8s before)", [4]),
        ("Query time: old 42 s, new 6 s", [7]),
        ("startup (before/after): 4.8s / 1.2s", [4]),
        ("`initialize` collapsed to **60s** under bursts (stacked scans) before → **5s** warm after", [12]),
        ("Reduces 101 queries down to 2", [50.5]),
        ("parse time is now just 40% of main", [2.5]),
        ("The report took 60 s before indexing, 4 s on the first request afterward, and 0.5 s on a repeated one.", [15, 120]),
        ("Allocation fell from 12 MB to 3 MB per batch (33,000 to 2,000 allocations).", [4, 16.5]),
        ("C6: APKs 20MB (antes 80MB).", [4]),
        ("Maximum sampled live heap fell from 250 MB to 100 MB.", [2.5]),
    ],
)
def test_which_of_two_figures_is_the_baseline(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Render time grows from 12 ms / 30 MB to 40 ms / 90 MB", [0.3, 1 / 3]),
        ("Cold start from 3.2 s and 420 MB to 0.8 s and 120 MB.", [4, 3.5]),
        ("The scan takes 4 s with 300 MB; previously it took 20 s and 2.1 GB.", [5, 7]),
        ("Full build 90 s and 4 GB → 30 s and 1.6 GB", [3, 2.5]),
        ("latency from 40 ms to 10 ms on Linux and 16 ms on macOS", [4, 2.5]),
        ("Before: 12 s / 420 MB\nAfter: 3 s / 120 MB", [4, 3.5]),
        ("- before: full rebuild 140 s; content indexing 114 s\n- after: full rebuild 70 s; content indexing 57 s", [2, 2]),
        ("Before: mean 12 ms, max 30 ms\nAfter: mean 4 ms, max 12 ms", [3]),
        ("| op | Before (ms) | After (ms) | Calls |\n|---|---|---|---|\n| parse | 12 | 4 | 12 (was 480) |", [3, 40]),
        ("| Case | Without | POOL=1 |\n|---|---|---|\n| idle | 720 ms | 60 ms (instant) |", [12]),
        ("Before:\n  parse 840 ms\n  load 20 ms\nAfter:\n  parse 210 ms\n  load 10 ms", [4, 2]),
        ("baseline   840 ms\nfix        210 ms", [4]),
        ("**Before Change: (Time is 100 ms)**\n<img src='a.png' />\n\n**After Change (Time is 5 ms):**\n<img src='b.png' />", [20]),
        (
            "| 基准 | 基线 | 候选 | 比率 |\n|---|---|---|---|\n| sec/op | 20ms | 5ms | 0.25x |\n| allocs/op | 16k | 2k | 0.125x |",
            [4, 8],
        ),
        ("| Run | Earlier | Current |\n|---|---|---|\n| CLI overhead | 130ms | 50ms |", [2.6]),
        ("| Config | Time | Speedup |\n|---|---|---|\n| baseline | 12 s | 1.0x |\n| tiled | 6 s | 2.0x |", [2]),
        ("| Query | Before | After | Speedup |\n|---|---|---|---|\n| A | 120 | 30 | 4 |\n| B | 90 | 45 | 2 |", [4, 2]),
        ("| model | t/s master | t/s PR |\n|---|---|---|\n| 7B | 800.1 ± 2 | 1200.3 ± 3 |", [1.5]),
        ("Load time 840 ± 10 ms → 210 ± 5 ms", [4]),
        (
            "| | Full | Slim | Improvement |\n|---|--|--|--|\n| Base Size | 5 MB | 2 MB | 60% |\n| Final Size | 3 MB | 2 MB | 33% |",
            [2.5, 1.5],
        ),
    ],
)
def test_several_figures_are_compared_by_metric(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Test suite: 12:40 → 3:10", [4]),
        ("The CI job dropped from 18:30 to 6:10", [3]),
        ("Suite time ~5 min → ~2:30", [2]),
        ("Locally: 7:30 → 2:30 min", [3]),
        ("Parse time is about 5% faster on small files. And it is up to 12% on large ones.", [1.05, 1.12]),
        ("parses 1.3x faster, lexes 1.45x", [1.3, 1.45]),
        ("Rendering is 2x faster, and retried 3x.", [2]),
        ("Speedups: parse 1.3x, lex 1.45x", [1.3, 1.45]),
        ("a real regression (avg throughput -20%, worst -60%)", [0.8, 0.4]),
        ("perf: Vec27 with SIMD (+34%)\n\nThe run has +34% throughput now.", [1.34, 1.34]),
        ("perf: keep the buffers on the card\n\nThe win is that blocks stay there (33x for that stage alone).", [33]),
        ("perf(parser): intern names\n\n- parse: -50%\n- render: -20%", [2, 1.25]),
        ("TTFB reduced by 60%", [2.5]),
        ("two to three times faster", [6**0.5]),
        ("parser speed x3", [3]),
        ("Query throughput ×10", [10]),
        ("That is 2x baseline throughput.", [2]),
        ("a speedup of roughly 1.8 on 8 cores", [1.8]),
        ("The report runs in a tenth of the time.", [10]),
        ("It takes a quarter of the former time.", [4]),
        ("Pooling saves a third of the memory.", [1.5]),
        ("30% perf win for the parser", [1.3]),
        ("- **Latency (p50):** −50 %", [2]),
        ("One lookup took about two-thirds less time.", [3]),
        ("The loop is faster by a factor of 3.", [3]),
        ("from 30 FPS to a steady 60 FPS", [2]),
        ("doubles fps", [2]),
        ("2 orders of magnitude less memory", [100]),
        ("5% throughput loss on one core", [1 / 1.05]),
    ],
)
def test_changes_alone(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "Moved the nightly job from 09:30 to 11:45",
        "Aspect ratio 16:10 → 4:30",
        "The wall time jumps from 1:59 to 3:00 at the start of daylight time.",
        "Add x86 HW acceleration for the cipher.",
        "On a 2.2 GHz board, SHA1 was benchmarked at 250 MByte/s",
        "Improved x64 speed of the decoder",
        "Speedup of the 1024 x 1024 render.",
        "Trained on 1×GPU. Faster convergence is expected.",
        "Need ~1.6MB more savings from elsewhere.",
        "The goal is to run in 0.5 seconds and use less than 10 MB.",
        "| Metric | Baseline | Target |\n|---|---|---|\n| startup | 750 ms | 58 ms |",
        "| Metric | Old | Unit |\n|---|---|---|\n| startup | 750 | 58 |",
        "Coverage +34% in total, docs +12%",
        "Scheduling overhead: 5% → 1%",
        "CPU usage: ~100% → ~5%",
        "Accuracy: 5% loss",
        "Requests limit: 100 (was 10)",
        "Issues: 12 (was 340)",
        "A 60% win rate against the old engine",
        "The zoom is x3 and the scale ×2",
        "Opening hours go from 9:00 to 17:00",
        "Full reconciliation: its 10,000-session allocation was about 1 GiB per pass",
        "fix(ci): scale the timeouts of the UI tests\n\n- `adaptiveShortTimeout` now scales: base 5s local → 10s CI\n- Local: 10s → 20s",
        "Keep a copy (3x for safety) of every file.",
    ],
)
def test_near_misses_are_no_claims(text: str) -> None:
    assert not quantified(text)


def test_a_repeated_percentage_has_the_metric_of_the_first() -> None:
    metrics = [claim.metric for claim in quantified("Ring buffer (+34%)\n\nMeasured +34% throughput on the bus.")]
    assert metrics == [ClaimMetric.THROUGHPUT, ClaimMetric.THROUGHPUT]
