"""Claims in tables of every shape, in lists below `Before` and `After`, in aligned columns, in other scripts; and near misses."""

from __future__ import annotations

import pytest

from ingest.claims import Claim
from schemas.rows.claim import ClaimKind, ClaimMetric, Evidence
from tests.claims_read import claims_read, table


def quantified(text: str) -> list[Claim]:
    return [claim for claim in claims_read(text) if claim.kind is ClaimKind.QUANTIFIED]


TABLES = [
    # header cells name one side or none: the change decides
    (table("op | stock | lean | Δ", "scan (ms) | 21.5 | 29.2 | +35.8%", "sort (ms) | 80 | 60 | -25%"), [21.5 / 29.2, 80 / 60]),
    (table("metric | flag=0 | flag=1 | Δ", "throughput (rps) | 400 | 470 | **+17.5%**"), [1.175]),
    (table("kernel | numpy | numba | speedup", "sum of rows (latency) | 10.2 | 1.3 | 7.85x"), [10.2 / 1.3]),
    (table("interface | v2 | v1 legacy | gain", "mean response time | 40 ms | 160 ms | ↓75%"), [4]),
    (table(" | row by row | bulk", "Throughput | 300/s | **360/s (+20%)**", "insert cost | 1.2 ms | 0.8 ms"), [1.2, 1.5]),
    (table("suite | runtime | vs main", "unit | 40 s | -20%"), [1.25]),
    (table("case | Time taken before (ms) | Current | Delta vs baseline", "open page | 90 ms | 30 ms | -67%"), [3]),
    # several figures in a cell, several columns after
    (table("path | Before | After | Gain", "export | 360 ms / **16 MB** | 180 ms / **4 MB** | ~2× faster, ~4× smaller"), [2, 4]),
    (table("mode | before GB | after GB", "fast memory | 20 / 22 | 10 / 11"), [2, 2]),
    (table("page load | Original | Optimized | Final, optimized | Total gain", "home | 2.4 s | 1.2 s | 0.4 s | **83% ⬆**"), [6]),
    (table("arm | effect", "cached | decode 50 to **60 tok/s** (+20%); step 40 ms to 32 ms (-20%)"), [1.2, 1.25]),
    (table("route | p50 before | p50 after | p99 before | p99 after", "/a | 40 ms | 20 ms | 90 ms | 30 ms"), [2, 3]),
    (table("case | Time (old) | Time (new)", "lint | 12 s | 4 s"), [3]),
    (table("case | Without cache | With cache", "lint | 12 s | 4 s"), [3]),
    # labels in several columns, units in the label, digits in groups
    (table("bench | unit | old | new | delta", "load | allocs/op | 3529.3k [3529..3530] | 42.8k [42..43] | -98.8%"), [3529.3 / 42.8]),
    (table("prefill | pp | old | new", "dense | 2048 | 20 000 | **25 000** (+25%)"), [1.25]),
    (table("Decode TPS p50 | Baseline | bf16", "Decode TPS p50 | 30.0 | 24.0"), []),
    (table("metric | Baseline | bf16 | Δ", "decode TPS p50 | 30.0 | 24.0 | -20%"), [0.8]),
    # lying on its side
    (
        table(
            " | p50 latency (ms) | RSS (MB) | RPS", "before | 45 | 800 | 1200", "after | 15 | 400 | 3600", "change | -67% | -50% | +200%"
        ),
        [3, 2, 3],
    ),
    (table(" | prefill tok/s", "before prefill (main) | 20,000.5", "after prefill (this PR) | 22,000.55"), [1.1]),
    # a change alone
    (table("step | Reduction", "cold start latency | 50%"), [2]),
    (table("step | Improvement", "vector search | **50% less CPU**"), [2]),
    (table("step | Gain", "batching | 20% reduction in overhead"), [1.25]),
    (f"perf(decode): fuse two kernels\n\n{table('PR | Delta', '#12 | +4.75%', '#13 | -0.35%')}", [1.0475]),
]


@pytest.mark.parametrize(("text", "ratios"), TABLES)
def test_tables(text: str, ratios: list[float]) -> None:
    assert [claim.ratio for claim in quantified(text)] == pytest.approx(ratios, rel=0.001)


@pytest.mark.parametrize(
    ("text", "ratios"),
    [
        (
            "### Before tuning\n- **Open**: 10-15 s\n- **Save**: 900 ms\n\n### After tuning\n- **Open**: 2-3 s\n- **Save**: 300 ms",
            [5, 3],
        ),
        ("**Before:**\n- Startup: 4.2 s\n- Workers: 4\n\n**After:**\n- Startup: 1.4 s (3x faster)\n- Workers: 8", [3]),
        ("Sizes:\n- Current size: 1,200,000 bytes\n- New size: 900,000 bytes\n- Reduction: ~300 KB", [4 / 3]),
        ("- sequential run: 380 s\n- parallel run (8 cores): 95 s", [4]),
        ("main: 1.5 s\nthis branch: 1.0 s", [1.5]),
        ("rows      OLD (rows/sec)   NEW (rows/sec)   Speedup\n------------\n10        7000             42000            6.00x", [6]),
        ("rows      NEW (ms)   OLD (ms)   Speedup\n10        20         60            3.00x", [3]),
    ],
)
def test_lists_and_columns(text: str, ratios: list[float]) -> None:
    assert [claim.ratio for claim in quantified(text)] == pytest.approx(ratios, rel=0.01)


@pytest.mark.parametrize(
    ("text", "ratio", "metric"),
    [
        ("perf(attn): one launch per head (+4.1% decode)", 1.041, ClaimMetric.THROUGHPUT),
        ("perf: intern strings in the lexer (-20%)", 1.25, ClaimMetric.TIME),
        ("Fewer concatenations (-4% inference time)", 1 / 0.96, ClaimMetric.TIME),
        ("prefill 1,000 to 1,250 tok/s (+25 %)", 1.25, ClaimMetric.THROUGHPUT),
        ("30 vs 24 µs per call (+25%: short inputs are padded)", 0.8, ClaimMetric.TIME),
        ("step cut from ~224us (2 × 112us) to ~112us", 2, ClaimMetric.TIME),
        ("perf: lazy imports, for the startup time\n\n8x: 1.2~ => 0.15~", 8, ClaimMetric.TIME),
        ("improves the startup times by about 5 times.", 5, ClaimMetric.TIME),
        ("Startup of simple commands such as `x --help` has its load time reduced by more than two thirds.", 3, ClaimMetric.TIME),
        ("reduces the number of queries on the index page from 120 to 6", 20, ClaimMetric.OPERATIONS),
        ("- startup: 3.0s (before) / 1.2s (after)", 2.5, ClaimMetric.TIME),
        ("Before this change, indexing took 40 minutes; after it, 10 minutes.", 4, ClaimMetric.TIME),
        ("build went from 6 minutes to 1 minute 20 seconds", 4.5, ClaimMetric.TIME),
        ("payload went from 800ms-1.6s to 200-400 ms", 4, ClaimMetric.TIME),
        ("响应速度提升 **79%**", 1.79, ClaimMetric.TIME),
        ("- **吞吐量**: +5.6%", 1.056, ClaimMetric.THROUGHPUT),
        ("批量插入（40倍提升），性能更好", 40, ClaimMetric.TIME),
        ("P95延迟降低 **75%**", 4, ClaimMetric.TIME),
        ("処理時間を40%短縮しました。", 1 / 0.6, ClaimMetric.TIME),
        ("起動時間が 3.3秒 から 1.1秒 に短縮。", 3, ClaimMetric.TIME),
        ("빌드 시간이 50% 감소했습니다.", 2, ClaimMetric.TIME),
        (table("指标 | 优化前 | 优化后 | 提升", "数据库查询次数 | 12 次 | 2 次 | **83%** ↓"), 6, ClaimMetric.OPERATIONS),
        (table("項目 | 変更前 | 変更後", "ビルド時間 | 120秒 | 40秒"), 3, ClaimMetric.TIME),
    ],
)
def test_other_words_and_scripts(text: str, ratio: float, metric: ClaimMetric) -> None:
    (claim,) = quantified(text)
    assert claim.metric is metric
    assert claim.ratio == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize(
    "text",
    [
        table("Setting | Before | After", "timeout | 30s | 60s", "workers | 4 | 8", "超时 | 30秒 | 60秒"),
        table("File | Lines before | Lines after | Change", "app.py | 1200 | 400 | -67%"),
        table("指标 | 修复前 | 修复后 | 提升", "成功率 | 80% | 99% | +19%", "并发连接 | 10 | 20 | 100%"),
        table("Metric | Before | After | Improvement", "Reliability | Unstable | Stable | 100% fix"),
        table(" | tests | coverage", "before | 80 | 71%", "after | 95 | 84%"),
        table("PR | Delta", "#12 | +4.75%", "#13 | -0.35%"),
        table("Category | Score | Change", "Performance | 92 | +12%"),
        table("Metric | Before | After | Change", "Files | 12 | 4 | -67%"),
        "perf: tune the prefetch window (3 → 5)",
        "### Before\n- Retries: 3\n- Timeout: 10 s\n\n### After\n- Retries: 5\n- Timeout: 30 s",
        "Raise the default context window from 32K to 128K tokens",
        "Set `DEFAULT_CONTEXT_TOKENS` from 200K to 1M",
        "Total overhead: < 0.5% of the request",
        "Before: N+1 queries (1 per file)\nAfter: 1 query",
        "错误率降至 0%，成功率达到 100%",
        "ran it 5 times, by hand",
    ],
)
def test_near_misses_are_no_claims(text: str) -> None:
    assert quantified(text) == []


def test_a_table_of_figures_is_one_of_measurements() -> None:
    text = table("page | Before | After", "home | 150ms | 50ms")
    assert [claim.evidence for claim in quantified(text)] == [Evidence.BENCHMARKED]


BOX = """┌────────┬────────┬───────┬────────┐
│ Step   │ Before │ After │ Delta  │
├────────┼────────┼───────┼────────┤
│ decode │ 8 ms   │ 2 ms  │ -75.0% │
├────────┼────────┼───────┼────────┤
│ encode │ 9 ms   │ 6 ms  │ -33.3% │
└────────┴────────┴───────┴────────┘"""


@pytest.mark.parametrize("text", [BOX, BOX.translate(str.maketrans("┌┬┐├┼┤└┴┘│─", "╔╦╗╠╬╣╚╩╝║═"))])
def test_a_table_drawn_with_lines_is_a_table_and_is_quoted_as_it_is_drawn(text: str) -> None:
    claims = quantified(text)
    assert [claim.ratio for claim in claims] == pytest.approx([4, 1.5])
    assert [claim.quote for claim in claims] == [text[claim.start : claim.end] for claim in claims]
    assert claims[0].quote.startswith("8 ms   ")


def test_lines_that_do_not_cross_draw_no_table() -> None:
    assert [claim.quote for claim in quantified("src\n├── decode.py   3x faster\n│   └── tables.py   2 ms\n")] == ["3x faster"]


def test_what_grows_by_the_hour_is_better_smaller() -> None:
    assert [claim.ratio for claim in quantified("Memory growth: 12 MB/hour → 3 MB/hour")] == [4]
