"""Sentences that claim that something became faster, smaller or cheaper; and sentences that do not."""

from __future__ import annotations

import pytest

from schemas.rows.claim import ClaimKind, ClaimMetric
from tests.claims_read import claims_read


def ratios(text: str) -> list[float]:
    """The ratios of the quantified claims, smallest first."""
    return sorted(claim.ratio or 0.0 for claim in claims_read(text) if claim.kind is ClaimKind.QUANTIFIED)


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("Cold start went from 8 seconds down to 2.", 4),
        ("Startup used to take 8s; it's 2s now.", 4),
        ("Startup: 8s before, 2s after.", 4),
        ("Startup time is now 2 s (previously 8 s).", 4),
        ("We got the build from 8 minutes to 2 minutes.", 4),
        ("Got p99 down to 20ms from 80ms.", 4),
        ("Query time dropped 4x.", 4),
        ("Queries are 4 times as fast.", 4),
        ("This makes parsing four times faster.", 4),
        ("A 4x perf win on the parser.", 4),
        ("The new path is 4x quicker.", 4),
        ("4x faster parsing, no API change", 4),
        ("Parse throughput is up 4x.", 4),
        ("Throughput quadrupled.", 4),
        ("Reduces latency by a quarter.", 1.33333),
        ("p95 latency is down 25%.", 1.33333),
        ("Shaves 25% off the build time.", 1.33333),
        ("Build takes 25% less time.", 1.33333),
        ("saves ~25% of memory", 1.33333),
        ("Memory usage goes down by ~25%.", 1.33333),
        ("-25% RSS", 1.33333),
        ("RSS: -25%", 1.33333),
        ("RSS −25 %", 1.33333),
        ("25% more requests per second", 1.25),
        ("Requests per second increase by 25%", 1.25),
        ("+25% req/s", 1.25),
        ("req/s +25%", 1.25),
        ("throughput improves by 25%", 1.25),
        ("25% throughput improvement", 1.25),
        ("Gives a 25% speed boost to rendering.", 1.25),
        ("Rendering gets a 25% speedup", 1.25),
        ("around a quarter faster", 1.25),
        ("Cuts the render time in half.", 2),
        ("Rendering now takes half the time.", 2),
        ("Rendering time was cut in half.", 2),
        ("Halves p99.", 2),
        ("twice the throughput", 2),
        ("The throughput is doubled", 2),
        ("The allocation count is halved.", 2),
        ("Render time: 100ms → 50ms", 2),
        ("Render time 100ms→50ms", 2),
        ("Render time (ms): 100 → 50", 2),
        ("Render time: 100 → 50ms", 2),
        ("Render time: 100ms ➜ 50ms ✅", 2),
        ("Render time 100 ms => 50 ms", 2),
        ("Before: 100ms, After: 50ms", 2),
        ("before 100ms / after 50ms", 2),
        ("(before: 100ms, after: 50ms)", 2),
        ("Old: 100ms. New: 50ms.", 2),
        ("old = 100 ms, new = 50 ms", 2),
        ("The old code took 100ms, the new code takes 50ms.", 2),
        ("Old code took 100ms vs 50ms with this change.", 2),
        ("50ms vs. 100ms on master", 2),
        ("50 ms with this patch versus 100 ms without it", 2),
        ("takes 50 ms compared to 100 ms before", 2),
        ("takes 50 ms, compared with 100 ms on main", 2),
        ("Takes 50 ms where it previously took 100 ms.", 2),
        ("Where it took 100 ms before, it takes 50 ms now.", 2),
        ("It now completes in 50 ms, down from 100 ms.", 2),
        ("Runs in 50 ms (down from 100 ms)", 2),
        ("finishes in 50 ms rather than 100 ms", 2),
        ("finishes in 50 ms instead of 100 ms", 2),
        ("went from taking 100 ms to taking 50 ms", 2),
        ("from around 100 ms to around 50 ms", 2),
        ("from an average of 100 ms to an average of 50 ms", 2),
        ("from over 100 ms to under 50 ms", 2),
        ("from 100 ms per request to 50 ms per request", 2),
        ("from 100ms/request to 50ms/request", 2),
        ("reduced from 100 ms/op to 50 ms/op", 2),
        ("reducing it from 100 ms (median) to 50 ms (median)", 2),
        ("brings the p99 latency down from 100 ms to 50 ms", 2),
        ("brings p99 down to 50 ms from 100 ms", 2),
        ("p99 improved from 100 ms to 50 ms", 2),
        ("p99: 100 ms (before) → 50 ms (after)", 2),
        ("p99: 100 ms before → 50 ms after", 2),
        ("p99 100 → 50 ms (-50%)", 2),
        ("p99 was 100 ms and is now 50 ms.", 2),
        ("p99 was 100 ms; now it's 50 ms.", 2),
        ("p99 was 100 ms. Now 50 ms.", 2),
        ("With the cache p99 is 50 ms; without it was 100 ms.", 2),
        ("Without cache: 100 ms, with cache: 50 ms", 2),
        ("uncached 100 ms, cached 50 ms", 2),
        ("100 ms uncached vs 50 ms cached", 2),
        ("main: 100 ms, this branch: 50 ms", 2),
        ("main 100 ms, PR 50 ms", 2),
        ("baseline 100 ms, optimized 50 ms", 2),
        ("Baseline: 100 ms -> Optimized: 50 ms", 2),
        ("Sequential 100 ms, parallel 50 ms", 2),
        ("wall time: 100s ⇒ 50s", 2),
        ("latency drops to 50ms (from 100ms)", 2),
        ("latency falls from 100 to 50 ms", 2),
        ("lowers peak memory from 2 GB to 1 GB", 2),
        ("peak memory: 2GB to 1GB", 2),
        ("memory from 2 GiB down to 1 GiB", 2),
        ("bundle size: 2 MB → 1 MB gzipped", 2),
        ("bundle shrinks from 2 MB to 1 MB", 2),
        ("Docker image is now 1 GB instead of 2 GB", 2),
        ("The image went from 2 GB to 1 GB", 2),
        ("40 allocs/op → 20 allocs/op", 2),
        ("allocations per op: 40 -> 20", 2),
        ("40 queries down to 20", 2),
        ("from 40 SQL queries to 20", 2),
        ("20 queries instead of 40", 2),
        ("API calls: 40 → 20 per page", 2),
        ("tokens per request: 4000 → 2000", 2),
        ("prompt shrinks from 4k to 2k tokens", 2),
        ("cost per run from $0.40 to $0.20", 2),
        ("$0.40 → $0.20 per run", 2),
        ("50 fps → 100 fps", 2),
        ("from 50 to 100 fps", 2),
        ("100 fps, up from 50 fps", 2),
        ("100 fps (was 50 fps)", 2),
        ("1M → 2M ops/sec", 2),
        ("from 1.2 GB/s to 2.4 GB/s", 2),
        ("500 → 1000 req/s", 2),
        ("500 req/s before, 1000 req/s after", 2),
        ("now handles 1000 req/s, up from 500", 2),
        ("decode 50 tok/s -> 100 tok/s", 2),
        ("tok/s: 50 -> 100", 2),
        ("increases decode speed from 50 to 100 tok/s", 2),
        ("an order of magnitude faster", 10),
        ("10x less memory", 10),
        ("uses 10x less memory", 10),
        ("10 times less memory", 10),
        ("10x fewer allocations", 10),
        ("10x reduction in allocations", 10),
        ("10x smaller binary", 10),
        ("a tenfold reduction of allocations", 10),
        ("reduces allocations tenfold", 10),
        ("90% fewer queries", 10),
        ("eliminates 90% of the queries", 10),
        ("cuts 90% of allocations", 10),
        ("90% reduction in DB load", 10),
        ("90% reduction in query count", 10),
        ("query count reduced by 90%", 10),
        ("down to 10% of the original size", 10),
        ("now only takes 10% of the time", 10),
        ("2x slower", 0.5),
        ("twice as slow", 0.5),
        ("25% slower", 0.8),
        ("adds 25% overhead", 0.8),
        ("regresses build time by 25%", 0.8),
        ("25% more memory", 0.8),
        ("memory grows by 25%", 0.8),
        ("memory use is 25% higher", 0.8),
        ("memory doubles", 0.5),
        ("no measurable change (16.1 ms)", 1),
        ("unchanged at 16 ms", 1),
        ("speedup: 1.5x", 1.5),
        ("Speedup of 1.5", 1.5),
        ("1.50x speedup", 1.5),
        ("1.5-fold faster", 1.5),
        ("50% speedup", 1.5),
        ("50 percent faster", 1.5),
        ("50% performance improvement", 1.5),
        ("performance improvement of 50%", 1.5),
        ("improves performance by 50%", 1.5),
        ("performance improved 50%", 1.5),
        ("50% perf gain", 1.5),
        ("a 50% gain in throughput", 1.5),
        ("speeds up parsing by 50%", 1.5),
        ("speeds parsing up by 50%", 1.5),
        ("makes parsing 50% faster", 1.5),
        ("parsing is now about 50% faster", 1.5),
        ("parsing is at least 50% faster", 1.5),
        ("parsing is up to 50% faster", 1.5),
        ("2-3x faster", 2.4495),
        ("2x-3x faster", 2.4495),
        ("2x to 3x faster", 2.4495),
        ("two to three times faster", 2.4495),
        ("between 2x and 3x faster", 2.4495),
        ("between 2 and 3 times faster", 2.4495),
        ("2–3× speedup", 2.4495),
        ("3x (before: 30s, after: 10s)", 3),
        ("30s → 10s, a 3x improvement", 3),
        ("30s → 10s: 3x", 3),
        ("30s → 10s = 3x faster", 3),
        ("3x faster (30s → 10s)", 3),
        ("3x faster: 30s → 10s", 3),
        ("3x faster, 30s -> 10s", 3),
        ("3× faster — 30s → 10s", 3),
        ("took 30s, now takes 10s (3x)", 3),
        ("30s down to 10s, i.e. 3x faster", 3),
        ("30s vs 10s (3x speedup)", 3),
        ("from 30s to 10s, which is a 3x improvement", 3),
        ("from 30 s to 10 s, or 66% less", 3),
        ("The renderer goes from a frame time of around 8ms to as low as **2ms** in busy scenes.", 4),
        ("Cloning the tree used to take ~120 s on a laptop for the largest graph, which has now been reduced to 30 s.", 4),
        ("Without copy this took 100 minutes, with\ncopy it only took 25 minutes.", 4),
        ("Without copy this took 100 minutes, with copy it only took 25 minutes. So it reduced the time by ~75%.", 4),
        ("per token latency baseline: ~80ms\nper token latency this change: ~20ms", 4),
        ("Dev 400000 nps\nBase 100000 nps", 4),
        ("A page costs less: 20 to 5 SQL statements.", 4),
        ("In the case where the interval is 1, you see a 300% improvement in speed.", 4),
        ("- Write path: -12% throughput (440 vs 500 ops/sec)", 0.88),
        ("- p99: +25% (100 ms vs 80 ms) - regression", 0.8),
        ("- Latency: 20% lower (80 ms vs 100 ms)", 1.25),
        ("The fast engine is slightly slower (0.80x).", 0.8),
        ("This introduced a 10x performance degradation.", 0.1),
        ("25% additional token savings", 1.33333),
        ("saves an additional 25% of memory", 1.33333),
        ("Speedup: 1.20x\nSlower paths are unaffected.", 1.2),
        ("Encoder: ~500 ms (clip.wav, 3.6 s audio) (was ~2 s at start)", 4),
        ("- **Build Time:** 12 seconds ✅ (improved from 16 s)", 1.33333),
        ("- Build Time: 12 seconds (from 16 s)", 1.33333),
        ("Response time has been reduced by over 5,000x", 5000),
        ("GPU state changes reduced by 75%", 4),
        ("Command buffers per token: 80 → 20", 4),
        ("Speeds up the loop overhead by roughly 4x", 4),
        ("went from 12 ms to 3 ms (a ~50% speedup)", 4),
        ("cut boot time by 75% via faster polling", 4),
        ("We measured 75% fewer SQL statements, with no difference in the payload.", 4),
        ("a stall drops 800 -> 200 cyc.", 4),
        ("Flash reduced by 75%", 4),
        ("Latency fell from 80 ms to 20 ms in the retry path.", 4),
        ("Latency fell from 80 ms to 20 ms at max batch.", 4),
        ("- interval-tree lookup: 80 ms -> 20 ms", 4),
        ("The bump allocator cuts peak memory from 1.6 GB to 0.4 GB.", 4),
        ("memory usage: 80% → 20%", 4),
        ("Flash reduced from 84% to 21% (-27.7 KB saved)", 4),
        ("Compiler perf: −75% wall on a full build", 4),
        ("perf: +12% on decode", 1.12),
        ("prefix reused — **7.6× TTFT**", 7.6),
        ("TTFT goes from cold 16 s → warm 4 s", 4),
        ("Before: 504ms\nAfter: 51ms\nThis represents a roughly 10x improvement", 9.882),
        ("- dropped from 14.0s -> 7.8s\n- Effectively a ~45% time improvement", 1.795),
        ("- **Total Size Reduction**: 1,100KB (75% savings)\n- **Before**: 1.6MB → **After**: 400KB", 4),
        ("- Query reduction: **99.3%**\n- Before: 151 queries\n- After: 1 query", 151),
        ("- master: 6,229ms\n- this PR: 1,305ms\n- Speedup of 79%\n- another", 4.773),
    ],
)
def test_one_claim_in_a_phrase(text: str, ratio: float) -> None:
    assert ratios(text) == pytest.approx([ratio], rel=0.005)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- before R8 - 4.3 MB\n- after R8 - 1.9 MB", [2.263]),
        ("Old:\n73 s\n\nNew:\n2.4 s", [30.42]),
        ("- from: 58360 bytes\n- to: 54308 bytes", [1.075]),
        ("Previous image was 7.69GB, which is somewhat heavy. Now the image is 1.20GB.", [6.408]),
        ("Bundle 525 KB → 412 KB (112KB under limit)", [1.274]),
        ("Build drops from 90 s to 20 s, limited only by disk", [4.5]),
        ("A 10x improvement, tests are fast", [10]),
        ("a x10 size reduction", [10]),
        ("Bundle: 651 KB now. Previously 913 KB.", [1.402]),
        ("CI sharded to 6 parallel runners, dropping from 52 minutes to 10 minutes", [5.2]),
        ("Build from ~210s to ~105s (50% faster), and to ~88s (58% faster)", [2, 2.386]),
        ("reduces the per-request overhead by 40%", [1.667]),
        ("A full build takes 10 seconds (~5s without type checking)", []),
        ("the table reads 60–76 ms for the 521-page rows instead of 0.00 ms", []),
        ("split vendor bundles to reduce main JS chunk by 68%", [3.125]),
        ("Batch it\n\nBefore:\n* 20 req/s\n* ~150ms per request\n\nAfter:\n* 30 req/s\n* ~100ms per request", [1.5, 1.5]),
        ("Before — 1.4s. After — 90ms.", [15.56]),
        ("disk reads fell from 9,000/s to 300/s", [30]),
        ("reduces bandwidth usage by 20-60%", [1.768]),
        ("cut egress bandwidth in half", [2]),
        ("rows read: 300k → 8", [37500]),
        ("Rows examined 1,200,000 → 20", [60000]),
        ("IOPS 3,000 → 12,000", [4]),
        ("WAL volume shrinks by 45%", [1.818]),
        ("egress dropped 93%", [14.29]),
        ("goodput up 30%", [1.3]),
        ("this branch uses 4.1 GB RSS, main uses 4.6 GB", [1.122]),
        ("main sustains 90 req/s; this branch holds 350 req/s", [3.889]),
        ("Bad query took 7+ mins before; after the index it is only 8ms", [52500]),
        ("performance difference is 1.7x with batching on", [1.7]),
        ("cutting its resident set by a third", [1.5]),
        ("shaves a quarter off the response time", [1.333]),
        ("memory use is down by a half", [2]),
        ("the cold scan of the table goes 120 ms → 200 ms", [0.6]),
        ("lock wait 1.2 s → 20 ms", [60]),
        ("(from 88 queries ---> 3 queries)", [29.33]),
        ("cached reads are 80% cheaper", [5]),
        ("costs $0.30/MTok, not $3/MTok", []),
        ("- menu: ~36 FPS to ~75 FPS", [2.083]),
        ("- decode: 72.0 to 197.8 t/s (2.75x)", [2.747]),
        ("Pool the buffers\n\n- 89.0 to 1.6 ms across 9 forwards (-98%)", [55.6]),
        ("- CPU usage: about -40%", [1.667]),
        ("- GC collections: about -99%", [100]),
        ("- Draw throughput: about +74%", [1.74]),
        ("perf: unroll the rounds\n\nSHA3 improves 12%, ARIA improves 8%", [1.08, 1.12]),
        ("perf: AES-NI\n\nimproving CTR mode by 70%", [1.7]),
        ("perf: wide loads\n\nAES improves by as much as 35%", [1.35]),
        ("perf: ring\n\nThere is a 10% improvement for 1Kb messages", [1.1]),
        ("perf: hint\n\nI saw about a 10% boost", [1.1]),
        ("6.25% gain on 8k prefill", [1.0625]),
        ("Speedup movegen by 6%", [1.06]),
        ("33.0 tok/s before, 41.2 tok/s after", [1.248]),
        ("old: 43.8 us, new: 23.6 us", [1.856]),
        ("perf: SIMD hashes\n\nSHA 2.1x, BLAKE3 1.4x", [1.4, 2.1]),
        ("faster decoding (IDCT ~4x)", [4]),
        ("The speedup on Haswell is 23X", [23]),
        ("5.5x launch-overhead removal", [5.5]),
        ("allocations go from **24k** down to **5k** per frame", [4.8]),
        ("allocations went from roughly 24k down to just under 5k", [4.8]),
        ("frametime of around 7ms to about 1.5ms", [4.667]),
        ("Opening took upwards of 40 seconds and now it takes around 5", [8]),
        ("Marginal FPS increase from 16 to 20", [1.25]),
        ("search speed: 1.2 Mnps → 1.9 Mnps", [1.583]),
        ("AES-GCM cpb 1.52 -> 0.88", [1.727]),
        ("slows the parser down by 12%", [0.893]),
        ("slows down shaping by up to 25%", [0.8]),
        ("slows down the benchmark 8%", [0.926]),
        ("a 5~10% speedup", [1.0747]),
        ("hblank is set for 226 cycles instead of 240", []),
        ("NMI costs 7 cycles instead of 2", []),
        ("extend context from 4096 to 32768 tokens", []),
        ("bitrate 4.2 -> 3.1 Mbps at the same PSNR", []),
        ("time control 8+0.08 -> 40+0.4", []),
        ("Latency is worse: 80 ms vs 50 ms.", [0.625]),
        ("The new version uses more memory, 735 MB vs 479 MB.", [0.652]),
        ("Slight regression: 378 ms vs 365 ms", [0.966]),
        ("Throughput is lower with the patch, 80k vs 95k ops/s", [0.842]),
        ("5.2 s (PR) vs 4.1 s (main)", [0.788]),
        ("Build takes 5.2 s in 1.6 vs 4.1 s in 1.5", [1.268]),
        ("Our runners have 64 GB of memory, compared to 32 GB before the move", []),
        ("projectile speed has been increased from 5 to 8", []),
        ("Tower fires 25% faster", []),
        ("Reload time reduced from 2.5s to 1.8s", []),
        ("correctly counting 65 cycles per raster instead of 63", []),
        ("I'd like to ship logs within 5 minutes, rather than 60 minutes", []),
        ("Heartbeat 10s -> 3s", []),
        ("the firmware went from 307 372 bytes to 304 292", [1.01]),
        ("75% in memory reduction", [4]),
        ("perf: x\n\nthis query regressed by 40x", [0.025]),
        ("perf: x\n\nencoding improved by 1..1.5%", [1.0125]),
        ("perf: x\n\nabout 10 to 40 percent faster", [1.241]),
        ("GPU memory reduced in 55%", [2.222]),
        ("4G heap instead of 12G", [3]),
        ("850 → 125 cycles per interrupt", [6.8]),
        ("perf: scan\n\nHuge improvements of up to 12%.", [1.12]),
        ("Optimize the scanner\n\nSort has a 7% regression on arm64", [0.935]),
        ("main does 120 tok/s, this branch 300 tok/s", [2.5]),
        ("254 t/s on a Ryzen-7950X, up from 224 t/s", [1.134]),
        ("perf: model\n\n1.28x faster -> 1.38x faster", [1.078]),
        ("2x more memory efficient", [2]),
        ("perf: cache\n\nthe cache consumes 1/2 the VRAM", [2]),
        ("the scan takes to about a fifth of the time", [5]),
        ("GC pause roughly halved", [2]),
        ("It runs in 70% of the time", [1.4286]),
        ("首屏 JS 由 1.8 MB 降至 0.9 MB", [2]),
        ("forced reflows dropped from 14 to 7", [2]),
        ("612 requests / min -> 8197 / min", [13.39]),
        ("Build time: ~~24s~~ 12s", [2]),
        ("startup time (more or less halves it)", [2]),
        ("the dominant cost (1s per piece vs 40ms to tessellate)", []),
        ("qps = 4 => 43 ms", []),
        ("Sorting is 2 - 4 times as fast", [2.828]),
        ("minus 24 percent live heap", [1.3158]),
        ("**Previous**: 1200 ms (461 SQL queries)\n**New**: 250 ms (19 SQL queries)", [4.8, 24.26]),
        ("drop 40× `memset` calls per token", []),
        ("The page issued 207 queries to show the stats. This PR reduces it to 5 queries", [41.4]),
        ("A cursor's stride falls from 88 to 64 bytes, a lexeme's from 128 to 104, a sequence from 320 to 192.", [1.231, 1.375, 1.667]),
        ("Reduces CLI startup latency by **~170-240 ms (17-29%)** for help", [1.302]),
        ("Support tickets: 47/week → 3/week", []),
        ("tokens: unit\n\nP99 is 80 ms, was 120 ms in late May", [1.5]),
        ("perf: fits\n\n`sample()` rebuild 27 → 13.5 ms, `partial_fit` 60 → 40 ms, `fit` **1.8x** (it is reused)", [1.5, 1.8, 2]),
        ("Median speedup: 1.20x\nWorst speedup: 0.90x", [0.9, 1.2]),
        ("speed up serving\n\n3.1x decode, 2.4x prefill vs baseline", [2.4, 3.1]),
        ("- parse: 10 ms → 5 ms\n- lexing is 2x faster", [2, 2]),
        ("retry delay 100 ms → 500 ms", []),
        ("bump the timeout from 30 s to 60 s", []),
        ("the default is now one second instead of 1000 in the retry loop", []),
        ("**132/185 patterns faster** (71.4% win rate)", []),
        ("Baseline: 26 MB\nAfter 20 requests: 40 MB", []),
        ("alignment improved from 4 to 16 bytes", []),
        ("Reduce rendering cost with half-resolution blur", []),
        ("The 3D perspective increased from 1000px to 3", []),
    ],
)
def test_claims_of_a_text(text: str, expected: list[float]) -> None:
    assert ratios(text) == pytest.approx(expected, rel=0.005)


def test_times_of_git_with_their_parts() -> None:
    rows = (
        "Test                          HEAD~1             HEAD",
        "2000.10: add . (full)         0.37(0.28+0.07)    0.36(0.27+0.06) -2.7%",
        "2000.12: add . (sparse)       0.57(0.53+0.07)    0.06(0.06+0.07) -89.5%",
    )
    assert ratios("\n".join(rows)) == pytest.approx([1.028, 9.5], rel=0.005)


def test_sizes_of_functions() -> None:
    rows = (
        "bloat-o-meter:",
        "",
        "function             old     new   delta",
        "push_left           1112    1044     -68",
        "read_block           876     871      -5",
    )
    assert ratios("\n".join(rows)) == pytest.approx([1.0057, 1.0651], rel=0.0005)


def test_blocks_below_headings_of_both_sides() -> None:
    before, after = "> 0-17 sec 28.8 GBytes 14.4 Gbits/sec", "> 0-17 sec 37.0 GBytes 18.5 Gbits/sec"
    assert ratios(f"net: coalesce\n\nBefore this patch:\n\n{before}\n\nAfter this patch:\n\n{after}") == pytest.approx([1.285], rel=0.005)


def test_a_factor_in_a_bracket_that_counts_from_nothing() -> None:
    assert ratios("Speed up `scrub`\n\n#### 45% (0.45x) speedup for `scrub`") == pytest.approx([1.45])


def test_a_bare_reduction_has_the_metric_of_all_other_claims() -> None:
    text = "Shorter answers\n\nToken usage drops from 230,000 tokens to 2,500 tokens.\n\n### Minimal (98.5% reduction)\n- Quick task lists"
    assert ratios(text) == pytest.approx([66.67, 92.0], rel=0.005)
    assert ratios("# Levels\n\n### Minimal (98.5% reduction)\n- Quick task lists") == []


def test_rows_of_bare_numbers_have_the_metric_of_all_other_claims() -> None:
    rows = "| tool | before | after | Δ |\n|---|---|---|---|\n| task | 1,664 | 389 | −77% |"
    assert ratios(f"Trim descriptions\n\nThe prompt falls from 5,395 tokens to 1,895 tokens.\n\n{rows}") == pytest.approx(
        [2.847, 4.278], rel=0.005
    )
    assert ratios(f"Trim descriptions\n\n{rows}") == []


@pytest.mark.parametrize(
    "text",
    [
        "The gate fails only when a scenario is more than 5 percent slower than on main.",
        "GFLOPS at 705 MHz:\nKernel 11 --> 349.0\nKernel 12 --> 355.0",
        "Throughput by load:\nqps = 1 => 23.3 ms\nqps = 2 => 25.4 ms",
    ],
)
def test_conditions_and_names_with_numbers_are_no_claims(text: str) -> None:
    assert ratios(text) == []


def test_a_saving_that_restates_the_figures_is_one_claim() -> None:
    assert ratios("Token usage drops from 230,000 to 2,500 tokens - a 227,500 token savings.") == pytest.approx([92])


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("We cut between 3% and 23% of the runtime.", 1.157),
        ("Latency fell between **10%** and **20%**", 1.179),
        ("reduces serialization CPU usage by `35.32%` to `41.14%`", 1.621),
        ("throughput +10% to +20%", 1.149),
        ("latency: −8% to −12%", 1.111),
    ],
)
def test_both_ends_of_a_range_count(text: str, ratio: float) -> None:
    assert ratios(text) == [pytest.approx(ratio, rel=0.001)]


def test_an_arrow_on_its_own_line_links_times_and_no_counts() -> None:
    assert ratios("p95 latency:\n737.5 ms\n    ↓\n45.8 ms") == [pytest.approx(16.1, rel=0.001)]
    assert ratios("Retrieval latency, documents left:\n1,000\n↓\n100\n↓\n10") == []


@pytest.mark.parametrize(
    "text",
    [
        "syscalls per second dropped from 3,000 to 500",
        "Wakeups fell from 3,000 wakeups per second to 500",
        "allocations/s: 3,000 → 500",
    ],
)
def test_fewer_events_of_overhead_per_second_are_better(text: str) -> None:
    assert ratios(text) == [pytest.approx(6)]


def test_a_factor_behind_a_label_may_be_the_most_that_was_reached() -> None:
    assert ratios("Speedups:\n- Decode: up to 2.4x\n- Prefill: up to 1.8x") == [1.8, 2.4]
    assert ratios("Speedups of retries\n\nFailed requests are retried up to 3x.") == []


def test_the_capacity_for_users_is_throughput() -> None:
    assert ratios("Concurrent user capacity: ~1000 users (10x improvement)") == [10]
    assert ratios("Disk capacity: 1 TB (10x improvement)") == []


def test_a_change_behind_the_first_of_its_line_is_a_claim_of_its_own() -> None:
    lines = "- **Before**: ~5 ms to process\n- **After**: ~2 ms to process\n- **Improvement**: "
    assert ratios(f"{lines}60% faster, 80% less memory") == pytest.approx([2.5, 5])
    assert ratios(f"{lines}2.5x faster, 4.5x in other runs") == [2.5]
    assert ratios(f"{lines}60%, 95% test coverage") == [2.5]


_RESULTS = """
============ Serving Benchmark Result ============
Successful requests:                     640
Benchmark duration (s):                  {}
Output token throughput (tok/s):         {}
Mean TPOT (ms):                          {}
==================================================
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("before", "after"),
        ("MAIN:", "PR:"),
        ("main", "this PR"),
        ("Before: `--overlap 0`", "After: `--overlap 1`"),
        ("### Baseline", "### Optimized"),
        ("baseline", "patched"),
    ],
)
def test_results_of_a_server_below_a_line_that_names_the_side(before: str, after: str) -> None:
    blocks = [f"{side}\n\n```{_RESULTS.format(*figures)}```\n" for side, figures in ((before, (210, 3000, 20)), (after, (200, 3300, 18)))]
    assert ratios("Overlap decode with sampling.\n\n" + "\n".join(blocks)) == pytest.approx([1.05, 1.1, 1.111], rel=0.001)


def test_a_line_that_says_main_or_before_is_no_side_by_itself() -> None:
    assert ratios("The steps:\n\nmain\n\n- load: 30 s\n- wait: 10 s\n\nbefore\n\n- load: 20 s\n") == []


def test_units_that_benchstat_prints_once_for_a_section() -> None:
    text = """
                    │   old.txt   │              new.txt               │
                    │    B/op     │    B/op     vs base                │
EncodeRow-4           64.000 ± 0%  16.000 ± 0%  -75.00% (p=0.000 n=10)
geomean                1.5Ki        1.0Ki       -33.33%

                    │  old.txt   │              new.txt               │
                    │ allocs/op  │ allocs/op   vs base                │
EncodeRow-4           6.000 ± 0%   4.000 ± 0%  -33.33% (p=0.000 n=10)

                    │  old.txt   │              new.txt               │
                    │    B/s     │    B/s      vs base                │
EncodeRow-4           40.00 ± 0%   60.00 ± 0%  +50.00% (p=0.000 n=10)
"""
    found = claims_read(f"A pool for slices\n{text}")
    assert [(claim.metric, round(claim.ratio or 0, 2)) for claim in found] == [
        (ClaimMetric.MEMORY, 4),
        (ClaimMetric.MEMORY, 1.5),
        (ClaimMetric.OPERATIONS, 1.5),
        (ClaimMetric.THROUGHPUT, 1.5),
    ]


def test_the_size_of_an_input_is_no_baseline() -> None:
    table = "| Input | Peak of the reader |\n|---|---|\n| 2 MiB | 3.3 MB (1.5x of it) |\n| 20 MiB | 40 MB (1.9x of it) |"
    assert ratios(f"Memory of the reader\n\n{table}") == []


def test_the_colon_of_a_clock_is_behind_no_name() -> None:
    lines = "  before 12.50s user 3.25s system 101% cpu 2:20.30 total\n  after  12.10s user 1.75s system  97% cpu 2:19.90 total"
    assert ratios(f"The same report:\n\n```\nlinux\n{lines}\n```") == []


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("Lookups: a performance improvement in the order of **3 orders of magnitude**", 1000),
        ("It cuts the query latency by two orders of magnitude.", 100),
        ("a speedup of an order of magnitude", 10),
    ],
)
def test_orders_of_magnitude_behind_the_change(text: str, ratio: float) -> None:
    assert ratios(text) == [pytest.approx(ratio)]


def test_several_pairs_of_columns_with_the_candidate_first() -> None:
    header = "| rate | ttft (PR) [ms] | ttft (main) [ms] |  | tpot (PR) [ms] | tpot (main) [ms] |\n|---|---|---|---|---|---|"
    assert ratios(f"Serving, by rate:\n\n{header}\n| 1 | 100 | 110 | | 8 | 10 |\n| 5 | 200 | 190 | | 20 | 21 |") == pytest.approx(
        [0.95, 1.05, 1.1, 1.25]
    )


def test_loops_of_timeit_below_comments_that_name_the_sides() -> None:
    fast, slow = "10 loops, best of 3: 150 ms per loop", "1 loops, best of 3: 600 ms per loop"
    assert ratios(f"Group by key\n\n```\n# this PR\nIn [1]: %timeit f()\n{fast}\n\n# master\nIn [1]: %timeit f()\n{slow}\n```") == [
        pytest.approx(4)
    ]
    mean = "{} ms ± 3.1 ms per loop (mean ± std. dev. of 7 runs, 10 loops each)"
    text = f"Transform\n\n**Before**\n```\n%timeit f()\n{mean.format(300)}\n```\n**After**\n```\n%timeit f()\n{mean.format(100)}\n```"
    assert ratios(text) == [pytest.approx(3)]


def test_of_performance_more_is_better() -> None:
    assert ratios("Improves performance of the inner product from 300 to 330 TF") == [pytest.approx(1.1)]
    assert ratios("Performance dropped from 330 to 300.") == [pytest.approx(300 / 330)]
    assert ratios("Performance improved from 330 to 300.") == [pytest.approx(1.1)]


def test_a_band_that_changes_stay_within_is_no_change() -> None:
    table = "| kernel | v1 | v2 | delta |\n|---|---:|---:|---:|\n| `sieve` | 400 | 440 | **+10%** |\n| all others | — | — | within ±2% |"
    assert ratios(f"v2 is slower:\n\n{table}") == [pytest.approx(400 / 440, rel=0.001)]


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("The rate: main 80 vs branch 76 req/s (−5%).", 76 / 80),
        ("Request throughput: branch 84 req/s vs main 80 req/s.", 84 / 80),
        ("The median latency is higher on the branch (2.0 vs 2.2 ms, +10%).", 2.0 / 2.2),
        ("The p95 latency is lower on the branch (60 vs 50 ms).", 60 / 50),
    ],
)
def test_names_and_signs_tell_the_sides_of_a_comparison(text: str, ratio: float) -> None:
    assert ratios(text) == [pytest.approx(ratio)]


def test_what_grows_while_something_runs_is_no_change() -> None:
    assert ratios("The leak: memory climbs from 2 GB to 3 GB in ten minutes.") == []
    assert ratios("Peak memory grew from 2 GB to 3 GB with the new cache.") == [pytest.approx(2 / 3)]
