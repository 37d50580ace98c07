"""Claims in the structures of reports: rows named before and after, steps of a series, labelled lines; and figures that claim nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.rows.claim import ClaimMetric, Direction
from tests.claims_read import claims_read, ratios, table

LINES = [
    # a heading with a word behind the side
    (
        "Before optimization:\n- Mean latency: 450ms\n- Rate: 220 req/s\n\nAfter optimization:\n- Mean latency: 150ms\n- Rate: 880 req/s",
        [3, 4],
    ),
    ("### Before the rewrite\n\n- one day: about 900 seconds\n\n### After the rewrite\n\n- one day: about `1.5s`", [600]),
    ("# Perf\n```\n=== Before ===\nTotal: 9.0s\n\n=== After ===\nTotal: 3.0s\n```", [3]),
    # the current figure is the candidate below the previous one, and the baseline above the new one
    ("perf: lookups\n\nPrevious: 36 ms\nCurrent: 12 ms", [3]),
    ("perf: lookups\n\n- previous median: `36 ms`\n- current median: `12 ms`\n- speedup: 3x", [3]),
    ("perf: lookups\n\nCurrent: 36 ms\nAfter: 12 ms", [3]),
    # the change alone below two figures with any labels
    ("perf: lookups\n\n- Scan: 600 µs\n- Tree: 1.2 µs\n- **500x faster**", [500]),
    # sides in bold with a full stop, and figures with many digits
    ("# Fixed N+1\n\n**Before**. ~600 ms query time (150 SQL queries)\n\n**Current**. ~300 ms query time (15 SQL queries)", [2, 10]),
    ("Step 1: `all()`\n  Original time: 1.80000000000000021 seconds\n  Improved time: 0.60000000000029133 seconds", [3]),
    # a result below the run is read by itself
    (
        "# Perf\n\n- **Before**: 5 allocations\n- **After**: 1 allocations\n\n**Result**: 6.5% improvement alone, 2.1% in the suite.",
        [5, 1.065, 1.021],
    ),
    # a pair of a time and its rate is one effect
    ("perf: build\n\nBuild: before 800 s / 1,000 rows/s → after 400 s / 2,000 rows/s = **+100 % faster**", [2]),
    # two sides with a verb or a name each
    ("The tuned kernel is quick: 0.5 ms, where the old one needed 2 ms.", [4]),
    ("The load takes 12 s for a file of 1 GB; it took 96 s.", [8]),
    ("The optimized kernel takes 0.5 ms, the reference takes 1.5 ms.", [3]),
    ("Original execution time was ~880ms, optimized execution time was ~800ms.", [1.1]),
    ("It takes 5 s, was 20 s.", [4]),
    ("perf: one query\n\nThis reduces latency (~25% improvement in tests).", [1.25]),
    ("Query latency drops from 10ms to .8ms", [12.5]),
    ("perf: vm\n\nThe suite shows a **9.5% improvement** over baseline with stable variance and preserved correctness.", [1.095]),
    ("perf: parser\n\n- Impact: 2-8x improvement in line parsing", [4]),
    ("perf: tasks\n\n- 20% reduction in function calls", [1.25]),
    ("# Vitest\n\n- 5x dev performance\n- 2x CI performance", [5, 2]),
    ("perf: lookups\n\n- Baseline: 12 ms\n- Optimized: 24 ms", [0.5]),
    ("### build time\n\n- No cache: 12 s\n- With cache: 15 s\n- Change: +25%", [0.8]),
    ("### build time\n\n- No cache: 12 s\n- With cache: 8 s\n- Change: -33%", [1.5]),
    ("Faster inserts:\n\n*before ~10ms per insert*\n\n    insert into t\n\n*after ~0.1 ms per insert*", [100]),
    ("perf: reads\n\nresults before this PR:\n```\nread: 0.4 micros/op\n```\n\nresults after this PR:\n```\nread: 0.2 micros/op\n```", [2]),
    ("perf: queues\n\nMain branch:\n```\nrate: 500 msgs/s\n```\n\nThis PR:\n```\nrate: 600 msgs/s\n```", [1.2]),
    ("perf: rows\n\n### Original\n\n- load: 30 s\n\n### Current\n\n- load: 10 s", [3]),
    ("drops query count down from like ~600 to 8", [75]),
    ("Latency of 100 ms compared to a baseline of 80 ms", [0.8]),
    ("每个查询只需5秒，而不是之前的40秒。", [8]),
    ("perf: rules\n\nMean improvement across the 28-cell corpus: 50%", [1.5]),
    ("perf: early exit\n\n- Fixes the Q7 (+100%), Q12 (+300%) regressions", [0.5, 0.25]),
    ("feat: cache of the status (TTL 5s)\n\n- Measured warm render: **90ms → 45ms**.", [2]),
    ("The baseline loop over 6 words took **120 ms**. The optimized concurrent loop took **20 ms**, an **83%** improvement!", [6]),
    ("A hash map turns the 30 s scan into a 200 ms lookup.", [150]),
    ("encode 2.0 GB/s (was 0.5), decode 3.0 GB/s (was 1.5)", [4, 2]),
    ("perf: 1000 rows in 0.5s (old: 4s)", [8]),
    ("Rows: 4.0s total before, 1.0s total after", [4]),
    ("# Fix of the batch: 20 Minutes to About 1 Second", [1200]),
    ("Before the fix each call cost 12 ms of CPU; after it, 0.4 ms.", [30]),
    # large factors, and factors of what is named behind them
    ("# Speed\n\n- Vector search: 44.6x improvement\n- Vectors: 1400x improvement\n- 2000x fewer disk reads", [44.6, 1400, 2000]),
    ("perf: SIMD\n\nPolynomial exp (3.1x silu), cosine for batches (6.3x batch cosine)", [3.1, 6.3]),
    # bare figures below the heading with their unit
    ("perf: tables\n\nTiming (ms):\n- insert: 120 → 40\n- select: 90 → 45 (-50%)", [3, 2]),
    ("# Assets\n\n**Bundle Size Reduction**:\n\n- Before: 24K (page.js)\n- After: 18K (page.js)\n- **Reduction: 6K (25% less)**", [4 / 3]),
    # comments of code
    ("perf: no ORM\n\n```python\n# Before: 45-90ms per operation\n# After: 15-30ms per operation\n```", [3]),
    # a saving is the difference of the figures behind it, a percentage the share of those before it
    ("**Results:** ~20s faster across the suite (200s → 180s)", [200 / 180]),
    ("For a page of 10 posts this reduces queries from ~30 to 2 - a 93% reduction.", [15]),
    ("Locally, the type check dropped ~54s (full) to ~18s on a warm build.", [3]),
    # the sentence behind a pair says the same
    ("Previously: ~500ms per request. Now: ~50ms per request. That's a 10x improvement.", [10]),
    # the noun inside the claim tells the metric, not one behind it
    ("perf: encoder\n\n- 20% encode time reduction for speed 7 to 10", [1.25]),
    # more of a speedup is better, less of a bandwidth that is used, too
    ("perf: fusion. speedup 1.1 → 1.32", [1.2]),
    ("Pages are 40% quicker and use 3x less bandwidth.", [1.4, 3]),
    ("perf: overhead\n\n- **Vectors:** nearly at the speed of exact (1.5x, down from 30x)", [20]),
]


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_lines(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.005)


TABLES = [
    # rows are the sides, although a header cell looks like that of a change
    (table("Version | 100k frames | Impact", "**Before (wrapper)** | 3.3 ms | high", "**After (reused)** | 0.3 ms | none"), [11]),
    # rows with any names, and their differences below
    (
        table(
            "Mode | Decode tok/s | p50 | µs/layer",
            "Graph | **300** | 3.0ms | 100",
            "Eager | 250 | 3.6ms | 120",
            "Delta | +20% | -17% | -17%",
        ),
        [1.2, 1.2, 1.2],
    ),
    # each change below its figure, of the row above or of the first
    (
        table(
            "Step | Time | Improvement",
            "Baseline | 40,000ms | -",
            "+ cache | 20,000ms | 50%",
            "+ index | 8,000ms | 60%",
            "Total | 8,000ms | **80%**",
        ),
        [2, 2.5, 5],
    ),
    # several figures of a cell, of one measure each; those in brackets are the same figure in another unit
    (
        table(
            "Case | Before | After | Improvement", "stat | 36µs, 4.2KB, 49 allocs | 12µs, 1.4KB, 7 allocs | **67% faster, 67% less memory**"
        ),
        [3, 3, 7],
    ),
    (table("Case | Before | After | Speedup", "stat (10k) | 111 ms (11.1 µs/query) | 14.8 ms (1.5 µs/query) | **7.5×**"), [7.5]),
    # of two columns about the change, the one of gains
    (table("Task | Speed ratio | Improvement", "search | 0.82x | 44.6x faster"), [44.6]),
    (
        table("Step | Time (ns) | vs baseline | Improvement", "baseline | 34000 | +0 ns | +0.00%", "capacity | 32000 | +2000 ns | +6.25%"),
        [1.0625],
    ),
    # measurements by configuration are no settings, and how it was done is not what was measured
    (table("Config | p50 | p99", "before | 12 ms | 90 ms", "after | 6 ms | 30 ms"), [2, 3]),
    (table("Version | Time (ms) | vs baseline", "baseline | 120 | 1.00x", "SIMD | 40 | 3.00x", "SIMD + threads | 12 | 10.0x"), [3, 10]),
    # the first step compares with the same figure twice
    (table("Stage | Mean | Δ vs. previous | Δ vs. original", "original | 300 s | – | –", "fewer clones | 240 s | -20% | -20%"), [1.25]),
    # other languages
    (table("Métrica | Baseline (HEAD) | Otimizado | Ganho", "tempo total | 6000.00 | 400.00 | **93,33%**"), [15]),
    # columns separated by blanks, with an arrow behind the change
    ("## Bundle size\n```\nPage       Before      After      Savings\n/company   ~4.4 KB     166 B      96% ↓\n```", [4400 / 166]),
]


@pytest.mark.parametrize(("text", "expected"), TABLES)
def test_tables(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.03)


NO_CLAIMS = [
    "perf: similarity\n\nThe loop is unrolled (by a factor of 4).",
    "perf: lower memory\n\n- Triple garbage collection calls (`gc.collect()` x3)",
    table("Metric | Before | After | Savings", "Dependencies | 30+ packages | 6 packages | 80%"),
    table("Metric | Before | After", "Records | 17,630,158 keys | 17,630,158 keys"),
    "perf: speech\n\n" + table("Case | Audio | Total (median) | RTF", "4s | 4.8s | 8111 ms | 1.70x", "6s | 5.3s | 9076 ms | 1.70x"),
    "perf: speech\n\n## 2026-02-16 — Baseline (0.6B, CUDA 12.8)",
    "perf: what is next\n\n### To push beyond 50%",
    "Give tests of the whole app time\n\nThey run with an extended timeout.\n\nChanged from **60 seconds** → **180 seconds**",
    "### Performance\n"
    + table("Metric | Baseline | Optimized | Improvement", "**Layers** | 3 | 4 | +33%", "Concurrent Users | 10 | 100 | 10x"),
    "### Performance\n"
    + table("Metric | Baseline | Optimized | Improvement", "Index Usage | 20% | 95%+ | **4.75x**", "AUC | 0.69 | 0.75 | +9%"),
    "perf: the fast script. It changes the mode of run.sh from 644 to 755.",
    "perf: SIMD with the registers x7, x8",
    "perf: shapes\n\n" + table("Case | Original | Optimized", "(1, 16, 20, 20) → (1, 32, 40, 40) | yes | no"),
    "perf: it makes 2 queries rather than 2N+1",
    "It took 45 min to write and 10 min to test.",
    "Increase the retry limit\n\nIncreases the total wait time from 2 seconds to 5 seconds for the update tests.",
    "perf: forecasts\n\n- result: wMAPE 0.2654 vs 0.2938, improved 9.7% relative.",
    "perf: display\n\n- BUFFER_SIZE: 250 ms → 50 ms",
    "Tests of the pages\n\n"
    + table("File | Change", "studio.test.tsx | beforeEach timeout 10s -> 30s", "page.test.tsx | Test timeout 5s -> 15s"),
    "Tighter limits\n\n- Main bundle: **190 kB → 165 kB** (actual: ~160 kB gzipped)",
    "perf: prompt cache\n\nThe condensed view changes at every request: the cached share fell to 69%.",
    "perf: scaling\n\nThroughput improved from 1 to 2 containers.",
    "perf: rollout\n\n`n_envs=16`: 35 ms/step → 451 env-steps/s.",
    "perf: residency\n\nAt N=32 the residency of the cache is +-0.2% throughput.",
    "perf: lint\n\nThe corpus lints in 22.6 s, 5.3× under budget.",
    "perf: messages\n\n- **Time**: 4 minutes (vs 30 min estimate)",
    "perf: start\n\n" + table("Run | Idle RSS | Peak RSS | Idle CPU", "1 | 189,096 KB | 191,832 KB | 1.0%"),
    "perf(ci): memory report\n\n- Threshold-based warnings: at +10%, and failures at +25% for memory",
    "perf(ci): faster tests\n\nThe suite has grown (~90% of the migration complete).",
    "perf: rendering\n\nPaced runs (1x/4x, watched by a human) are untouched.",
    "After 5 min of silence the client reconnects; it took 30 s before a try was made.",
]


@pytest.mark.parametrize("text", NO_CLAIMS)
def test_what_is_no_claim(text: str) -> None:
    assert ratios(text) == []


def test_the_last_number_of_a_command_is_no_baseline_of_its_result() -> None:
    assert ratios("perf: workers\n\n- before:\n  - `taskset -c 0-3 run 12` => **8.9s**") == []


def test_a_side_in_brackets_is_that_of_the_figure_before_it() -> None:
    assert ratios("perf: 600 kB (with the player before) to 500 kB -> 20% smaller") == [pytest.approx(1.2, rel=0.05)]


def test_a_remark_in_brackets_does_not_name_the_metric() -> None:
    [claim] = claims_read("- **Query QPS**: before 1,060 → after 1,000 = **−6 %** (memory-bandwidth-bound)")
    assert (claim.metric, claim.direction) == (ClaimMetric.THROUGHPUT, Direction.WORSE)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("Unoptimized loop took ~800ms vs optimized taking ~50ms.", 800, 50),
        ("Latency of the loop is better: 46 ms vs 51 ms.", 51, 46),
        ("Throughput 50 req/s vs 70 req/s.", 50, 70),
        ("It uses more memory, 735 MB vs 479 MB.", 479, 735),
    ],
)
def test_the_baseline_of_a_pair_in_open_order_is_that_of_its_ratio(text: str, before: float, after: float) -> None:
    [claim] = claims_read(text)
    assert (claim.before, claim.after) == (before, after)
    assert claim.ratio == pytest.approx(after / before if claim.metric is ClaimMetric.THROUGHPUT else before / after)


@given(
    sides=st.tuples(
        st.sampled_from(["original", "old", "baseline", "unoptimized", "naive", "main", "the previous"]),
        st.sampled_from(["optimized", "new", "patched", "improved", "the tuned", "current"]),
    ),
    noun=st.sampled_from(["execution time", "loop", "kernel", "version"]),
    verb=st.sampled_from([" was ", " took ", " needs ", ": ", " at ", " ran in "]),
    join=st.sampled_from([", ", "; ", " vs ", " and ", " whereas ", " compared to "]),
    figures=st.lists(st.integers(2, 900), min_size=2, max_size=2, unique=True),
    is_candidate_first=st.booleans(),
)
def test_names_tell_the_sides_in_any_order_and_whichever_is_better(
    sides: tuple[str, str], noun: str, verb: str, join: str, figures: list[int], is_candidate_first: bool
) -> None:
    before, after = figures
    clauses = [f"{sides[0]} {noun}{verb}{before} ms", f"{sides[1]} {noun}{verb}{after} ms"]
    [claim] = claims_read(f"perf: lookups\n\nOf a lookup, {join.join(reversed(clauses) if is_candidate_first else clauses)}.")
    assert (claim.before, claim.after) == (before, after)
    assert claim.ratio == pytest.approx(before / after)


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("A lookup takes 80 ms (patched kernel) vs 20 ms (original kernel).", 0.25),
        ("A lookup takes 80 ms with the original loop compared to 20 ms with the optimized loop.", 4),
        ("A lookup takes 20 ms on this branch -> 80 ms on main.", 4),
        ("A lookup runs at 80 req/s on the baseline but 20 req/s on this branch.", 0.25),
    ],
)
def test_names_behind_the_figures_tell_the_sides(text: str, ratio: float) -> None:
    assert ratios(text) == [pytest.approx(ratio)]


MEASURES = st.sampled_from([("Startup", "ms", False), ("Peak memory", "MB", False), ("Throughput", "req/s", True)])


@st.composite
def change_of(draw: st.DrawFn, before: int, after: int, *, more_is_better: bool) -> tuple[str, str]:
    """A header cell and the change below it, as people write it: of the figures, of how good they are, or of how much less they are."""
    rise, gain = after / before - 1, after / before - 1 if more_is_better else 1 - after / before
    return draw(
        st.sampled_from(
            [
                ("Change", f"{rise:+.1%}"),
                ("Improvement", f"{gain:+.1%}"),
                ("Gain", f"{gain:.1%}"),
                ("Reduction", f"{-rise:.1%}"),
                ("Speedup", f"{after / before if more_is_better else before / after:.2f}x"),
            ]
        )
    )


@given(
    names=st.sampled_from([("CPU", "GPU"), ("fp32", "int8"), ("Python", "Rust"), ("v1.2.0", "v1.3.0"), ("Before", "After")]),
    measure=MEASURES,
    figures=st.tuples(st.integers(20, 900), st.sampled_from([0.25, 0.5, 0.8, 1.25, 2, 5])),
    is_candidate_first=st.booleans(),
    data=st.data(),
)
def test_the_change_of_a_row_tells_the_sides_whatever_their_names_and_order(
    names: tuple[str, str], measure: tuple[str, str, bool], figures: tuple[int, float], is_candidate_first: bool, data: st.DataObject
) -> None:
    subject, unit, more_is_better = measure
    before, after = figures[0] * 20, round(figures[0] * 20 * figures[1])
    header, change = data.draw(change_of(before, after, more_is_better=more_is_better))
    sides = [(names[0], f"{before} {unit}"), (names[1], f"{after} {unit}")]
    (one, first), (other, second) = reversed(sides) if is_candidate_first else sides
    rows = table(f"Metric | {one} | {other} | {header}", f"{subject} | {first} | {second} | {change}")
    [claim] = claims_read(f"perf: lookups\n\n{rows}")
    assert claim.ratio == pytest.approx(after / before if more_is_better else before / after)


def test_changes_against_the_row_of_the_baseline_may_be_gains() -> None:
    rows = ("Baseline | none | 100.0 | - | -", "A | ranges | 80.0 | +20% | +20%", "B | calls | 110.0 | -10% | -38%")
    assert ratios(table("Attempt | Change | Time (ms) | Δ vs Baseline | Δ vs Previous", *rows)) == [1.25, pytest.approx(1 / 1.1)]


def test_an_average_below_percentiles_is_of_the_same_times() -> None:
    found = ratios(f"perf: qps\n\n{table('metric | delta', 'p99 | +25%', 'avg | -20%', 'qps | +10%')}")
    assert found == [pytest.approx(0.8), pytest.approx(1.25), pytest.approx(1.1)]


def test_a_line_below_a_table_is_a_claim_of_its_own() -> None:
    rows = table("Case | Before | After", "suite | 1056 s | 395 s")
    assert ratios(f"perf(test): parallel\n\n{rows}\n\n**~2.67x faster** than before.") == [pytest.approx(1056 / 395), 2.67]


def test_numbers_grouped_by_blanks_are_whole_before_their_unit() -> None:
    assert ratios(
        table("phase | before | after | speedup", "scan | 3 920 ms | **31 ms** | ×125", "join | **16 800 ms** | 180 ms | ×93")
    ) == [
        pytest.approx(3920 / 31),
        pytest.approx(16_800 / 180),
    ]


def test_sides_in_rows_may_come_in_any_order() -> None:
    assert ratios(table("| latency", "Optimized | 10 ms", "Baseline | 30 ms")) == [3]
    assert ratios(table("| latency", "Previous | 30 ms", "Current | 10 ms")) == [3]
    assert ratios(table("| latency", "Old | 30 ms", "New | 10 ms")) == [3]


def test_current_is_the_candidate_beside_a_baseline() -> None:
    assert ratios(table("Case | Current | Previous", "load | 10 s | 30 s")) == [3]
    assert ratios(table("Case | Current | New", "load | 30 s | 10 s")) == [3]
