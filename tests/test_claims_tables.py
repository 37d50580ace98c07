"""Claims in tables whose heads, lines above or cells leave something out, in labelled lines, in sections and in what tools print."""

from __future__ import annotations

import pytest

from ingest.claims import Claim
from schemas.rows.claim import ClaimKind, ClaimMetric
from tests.claims_read import claims_read


def quantified(text: str) -> list[Claim]:
    return [claim for claim in claims_read(text) if claim.kind is ClaimKind.QUANTIFIED]


def table(heads: str, *rows: str) -> str:
    return "\n".join([f"| {heads} |", "|---" * (heads.count("|") + 1) + "|", *(f"| {row} |" for row in rows)])


TIME, THROUGHPUT, MEMORY, SIZE, TOKENS = (
    ClaimMetric.TIME,
    ClaimMetric.THROUGHPUT,
    ClaimMetric.MEMORY,
    ClaimMetric.SIZE,
    ClaimMetric.TOKENS,
)

TABLES = [
    # another head, the line above or a heading says what is measured
    (table("Scenario | Baseline | After | Δ tok | Δ %", "one | 784 | 631 | -153 | -19.5%"), [784 / 631], TOKENS),
    (table("Item | Change | Δ tokens", "a | 6,802 → 3,097 | −3,705 (−54.5%)"), [6802 / 3097], TOKENS),
    (f"Requests/sec\n\n{table('Test | Before | After | Change', 'JSON | 1,000 | 1,500 | +50.0%')}", [1.5], THROUGHPUT),
    (
        f"Requests/sec:\n\nOn an idle machine with 16 cores.\n\n{table('Test | Before | After | Δ', 'JSON | 1,000 | 1,500 | +50.0%')}",
        [1.5],
        THROUGHPUT,
    ),
    (f"## Average encode fps\n\n{table('clip | main | patch | delta', 'city | 40.0 | 50.0 | +25%')}", [1.25], THROUGHPUT),
    (f"<b>Results</b> (ops/s)\n\n## SHA\n\n{table(' | `wide` | `main` | delta', '16 | 50.0 | 40.0 | 25%')}", [1.25], THROUGHPUT),
    (table("conns | copy rps | splice rps | ", "1 | 2,000 | 4,000 | 2.0x"), [2], THROUGHPUT),
    (table("Scenario | per request rps | pooled rps", "GET / | ~5,000 | **~12,000** (~2.4×)"), [2.4], THROUGHPUT),
    (table("query | before_ms | after_ms | speedup_x | improvement_pct", "q1 | 90.0 | 30.0 | 3.00 | 66.7%"), [3], TIME),
    (f"Times in ms:\n\n{table('rows | before | after', '10 | 30 | 20')}", [1.5], TIME),
    (table("case (ms) | Before | After", "open | 300 | 200"), [1.5], TIME),
    (table("path | Size", "dist | 26.0 KB (-20% 🔽)"), [1.25], SIZE),
    # how much of a machine is taken
    (table("metric | develop | #1234 | Δ%", "cpu | 40% | 20% | -50%"), [2], TIME),
    # one column says what both of two others do
    (
        table("metric | v1 base | v1 branch | v2 base | v2 branch | v2 branch vs base", "time | 90 s | 60 s | 80 s | 40 s | -50%"),
        [1.5, 2],
        TIME,
    ),
    # a column is the one after with the like name, and of the like dimension
    (table("rows | new stmts | old median | new median", "200 | 1 | 30.0ms | 3.0ms"), [10], TIME),
    # by the label, and not by the place
    (
        table("Model | Test | t/s master | t/s wide-mul | Speedup", "8B | pp64 | 400.5 | 404.5 | 1.01", "8B | pp1 | 90 | 90 | 1.00"),
        None,
        THROUGHPUT,
    ),
    (table("metric | develop | #1234 | Δ%", "mem | 2.4 GiB | 2.3 GiB | -2% ▲"), [2.4 / 2.3], MEMORY),
    (table("metric | pg (develop) | pg (1234) | Δ%", "mem | 2.4 GiB | 2.3 GiB | -2% ▲"), [2.4 / 2.3], MEMORY),
    (table("Config | main | #9554 (small)", "rome peak heap | 150 MiB | 100 MiB"), [1.5], MEMORY),
    (table("metric | trunk | patched", "load time | 30 ms | 20 ms"), [1.5], TIME),
    (table("metric | HEAD~1 | HEAD", "load time | 30 ms | 20 ms"), [1.5], TIME),
    (table("Command | `dev` | This PR | Saved", "`az --help` | 900 ms ± 34 ms | 600 ms ± 10 ms | **-300 ms (33.3%)**"), [1.5], TIME),
    # a loss among gains
    (table("Op | Scalar (ns) | SSE2 (ns) | Speedup", "add | 60.0 | 20.0 | 200.0%", "mul | 40.0 | 42.0 | -4.8%"), [3, 40 / 42], TIME),
    # nothing but changes
    (table("Case | allocs/op | B/op | sec/op", "a | **−50.0%** | −10.0% | −20.0%"), [2, 1 / 0.9, 1.25], None),
    (f"Cut it\n\nCuts latency.\n\n{table('Measurement | x86 | arm', 'Parse geomean | **-20.0%** | **-12.0%**')}", [1.25, 1 / 0.88], TIME),
    (table("Metric | Before | After | Change", "Memory | All records | Paginated | 90% ↓"), [10], MEMORY),
    # the head says of what a pair in a cell is
    (table("Build | Wall ms before → after", "Full, bump | 800.5 → 700.5"), [800.5 / 700.5], TIME),
    (table("Change | Kernel | End-to-end delta", "Fuse | 15.6 -> 9.8 us | +0.74 tok/s (+0.45%)"), [15.6 / 9.8, 1.0045], None),
    # the labels are in the last column
    (table("before<br><main> | after<br><#12> | ratio | benchmark", "517±30ms | 181±4ms | 0.35 | sparse.time(50)"), [517 / 181], TIME),
    # every further column against the one baseline
    (table("Pkg | Baseline | Warm | One changed", "all | 25.2s | 1.4s (94% faster) | 6.2s (75% faster)"), [25.2 / 1.4, 25.2 / 6.2], TIME),
    # other languages
    (table("Métrique | Avant | Après", "LCP | 2,8 s | 1,4 s"), [2], TIME),
    (table("Messung | Vorher | Nachher", "Start | 9 s | 3 s"), [3], TIME),
    (table("Métrica | Antes | Después", "LCP | 3 s | 1,5 s"), [2], TIME),
    # a signed percentage per cell
    (
        f"Average throughput gains by instance:\n\n{table('Name | a | b', 'KEM-512 | +29.2% | +38.7%', 'KEM-768 | +29.3% | +37.6%')}",
        [1.292, 1.387, 1.293, 1.376],
        THROUGHPUT,
    ),
    (
        table(
            "case | semantic rps | hybrid rps | Improvement", "base | 90 | 150 | -", "pooled | 190 | 220 | **+111% semantic, +49% hybrid**"
        ),
        [2.11, 1.49],
        THROUGHPUT,
    ),
    # a row before and a row after, beside a column of ratios
    (table("Description | p50 (ms) | p99 (ms) | Ratio", "Before | 40 | 90 | 1.00", "After | 20 | 30 | 0.5"), [2, 3], TIME),
    (
        table(
            "Command | Mean [ms] | Min [ms] | Relative", "`old` | 300.0 ± 4.0 | 290.0 | 2.00 ± 0.05", "`new` | 150.0 ± 4.0 | 140.0 | 1.00"
        ),
        [2],
        TIME,
    ),
    # a column of speedups: minus is worse, whatever the metric
    (table("position | master | #628 | speedup", "start | 180583 ± 442 | 178087 ± 569 | -1.4%"), [178087 / 180583], None),
    (table("size | main | patch | speedup", "10MB | 0.33 | 3.32 | 10.1x"), [3.32 / 0.33], THROUGHPUT),
    (table("input | ours | theirs | Speedup", "1M rows | 1.5 s | 3.0 s | 2.0×"), [2], TIME),
    (table("case | old writes/sec | new writes/sec | Speedup", "log | 2,000 | 3,000 | 1.5x"), [1.5], THROUGHPUT),
]


@pytest.mark.parametrize(("text", "ratios", "metric"), TABLES)
def test_tables(text: str, ratios: list[float], metric: ClaimMetric | None) -> None:
    claims = quantified(text)
    assert [claim.ratio for claim in claims] == pytest.approx(ratios or [404.5 / 400.5, 1], rel=0.001)
    assert metric is None or {claim.metric for claim in claims} == {metric}


LINES = [
    # by the label, and not by the order
    ("* this branch: 2.4M nps\n* main: 1.2M nps", [2], THROUGHPUT),
    ("* Branch `wide`: 2.4M nps\n* Branch `main`: 1.2M nps", [2], THROUGHPUT),
    ("* Branch `main`: 120k NPS\n* Branch `wide`: 150k NPS", [1.25], THROUGHPUT),
    ("* Main branch test on X: 50.0 FPS average\n* This branch test on X: 75.0 FPS average", [1.5], THROUGHPUT),
    ("NPS before: 40000\nNPS after: 50000", [1.25], THROUGHPUT),
    ("NPS before: `40000`\nNPS after: `50000`", [1.25], THROUGHPUT),
    ("Baseline: 10.5 s\nDev: 8.4 s", [1.25], TIME),
    ("* Before: run finished in 9.0 seconds\n\n* After: run finished in 7.5 seconds", [1.2], TIME),
    ("App sizes\n- before R8 - 4.2 MB\n- after R8 - 2.1 MB", [2], SIZE),
    (
        "Results (against SomeFS):\n  Before: 2,000 ops/s avg, 61% CV\n  After: 5,000 ops/s avg, 1% CV\n  Other: 5,120 ops/s (reference)",
        [2.5],
        THROUGHPUT,
    ),
    ("Serial baseline: **500 s**\n\nParallel runs:\n\n- 203 s\n- 197 s\n\nMedian: **200 s (60% faster)**", [2.5], TIME),
    ("- `main`: 30 s\n- `fast-path`: 15 s", [2], TIME),
    ("Branch `main`: 4 nodes, 40000 nps\nBranch `wide`: 4 nodes, 50000 nps\n25 percent speed increase.", [1.25], THROUGHPUT),
    (
        (
            "### First bundle\n- **Before**: 200 KB (a.js)\n- **After**: 100 KB (b.js)\n- **Reduction**: 100 KB (50% smaller)\n\n"
            "### Total bundle\n- **Before**: 400 KB\n- **After**: 500 KB\n- **Change**: +100 KB (+25%)"
        ),
        [2, 0.8],
        SIZE,
    ),
    (
        (
            "Shape: 4096x4096\n    max abs diff: 0.000e+00\n    old kernel: 90.0 µs\n    new kernel: 60.0 µs\n    speedup: 1.50x\n"
            "  dtype: bf16\n    max abs diff: 0.000e+00\n    old kernel: 80.0 µs\n    new kernel: 40.0 µs\n    speedup: 2.00x"
        ),
        [1.5, 2],
        TIME,
    ),
]


@pytest.mark.parametrize(("text", "ratios", "metric"), LINES)
def test_labelled_lines(text: str, ratios: list[float], metric: ClaimMetric) -> None:
    claims = quantified(text)
    assert [claim.ratio for claim in claims] == pytest.approx(ratios, rel=0.001)
    assert {claim.metric for claim in claims} == {metric}


SECTIONS = [
    ("Before:\n* 20 req/s\n* ~150ms per request\n\nAfter:\n* 30 req/s\n* ~100ms per request", [1.5, 1.5]),
    ("Before:\n* 20 req/s\n\nAfter:\n* 30 req/s", [1.5]),
    ("Old:\n75 s\n\nNew:\n2.5 s", [30]),
    ("Baseline:\n`12 nodes, finished in 10.5 seconds`\nDev:\n`12 nodes, finished in 8.4 seconds`", [1.25]),
    (
        "net: coalesce\n\nBefore this patch:\n\n> 0-17 sec 2 GB 14.4 Gbits/sec\n\nAfter this patch:\n\n> 0-17 sec 3 GB 18.0 Gbits/sec",
        [1.25],
    ),
    (
        "coalesce\n\nBefore this patch:\n\n```\n0-17 sec 14.4 Gbits/sec\n```\n\nAfter this patch:\n\n```\n0-17 sec 18.0 Gbits/sec\n```",
        [1.25],
    ),
    ("## Baseline\n\n- Cold start: ~2.4 s on a laptop.\n\n## After lazy imports\n\n- Cold start: ~1.6 s", [1.5]),
    ("## Baseline\n\n- Cold start of `app`: ~2.4 s.\n\n## After lazy imports\n\n- Cold start: ~1.6 s", [1.5]),
    ("### Before\n- **Bundle:** 2,000 KB (gzip: 600 KB)\n\n### After\n- **Bundle:** 500 KB (gzip: 90 KB) **75% smaller**", [4]),
]


@pytest.mark.parametrize(("text", "ratios"), SECTIONS)
def test_sections(text: str, ratios: list[float]) -> None:
    assert [claim.ratio for claim in quantified(text)] == pytest.approx(ratios, rel=0.001)


OUTPUTS = [
    (
        (
            "```\n       before           after         ratio\n     [00a45b4d]       [47118fb6]\n"
            "-         150±3μs          100±2μs     0.67  b.contig\n-        440±10μs         220±10μs     0.50  b.outer\n```"
        ),
        [1.5, 2],
    ),
    ("Compile time:\n  alpha 1567865214 -> 1580128947 +0.78%\n  beta 1000000 -> 1100000 +10.00%", [1567865214 / 1580128947, 1 / 1.1]),
    ("Compile time:\n- alpha: 1567865214 -> 1580128947 (+0.78%)\n- beta: 1000000 -> 1100000 (+10.00%)", [1567865214 / 1580128947, 1 / 1.1]),
    (
        (
            "Before:\n```\nBenchmarkScan-8   1000   1200 ns/op   64 B/op\nBenchmarkSort-8   1000   900 ns/op\n```\n\n"
            "After:\n```\nBenchmarkScan-8   2000   600 ns/op   32 B/op\nBenchmarkSort-8   1000   300 ns/op\n```"
        ),
        [2, 2, 3],
    ),
    (
        (
            "# old\nBenchmark 1: ./run\n  Time (mean ± σ):     300.0 ms ±  4.0 ms    [User: 280.0 ms, System: 8.0 ms]\n\n"
            "# new\nBenchmark 1: ./run\n  Time (mean ± σ):     150.0 ms ±  4.0 ms    [User: 140.0 ms, System: 8.0 ms]"
        ),
        [2],
    ),
    (
        (
            "Before:\n$ go test -bench=.\nPASS\nBenchmarkDecode   500   4000 ns/op   6200 B/op   18 allocs/op\n\n"
            "After\n$ go test -bench=.\nPASS\nBenchmarkDecode   900   2000 ns/op   3100 B/op   9 allocs/op"
        ),
        [2, 2, 2],
    ),
    ("Runs\n\nBefore\n\n```\nreal\t0m4.0s\nuser\t0m3.0s\n```\n\nAfter\n\n```\nreal\t0m2.0s\nuser\t0m1.0s\n```", [2]),
    ("          before    after\nparse     4.0 ms    2.0 ms\nrender    6.0 ms    2.0 ms", [2, 3]),
    (
        "name  before ns/iter  after ns/iter  diff ns/iter   diff %  speedup\nscan  4,000   2,000   -2,000  -50.00%   x 2.00",
        [2],
    ),
    (
        (
            "old version:\n```\n    Latency   600.00us  172.11us  10.87ms\nRequests/sec:  16000.25\nTransfer/sec:     21.18MB\n```\n\n"
            "new version:\n```\n    Latency   300.00us  154.85us  10.25ms\nRequests/sec:  32000.50\nTransfer/sec:     42.97MB\n```"
        ),
        [2, 2],
    ),
    ("Before:\n```\n== 120 passed in 30.0s ==\n```\n\nAfter:\n```\n== 120 passed in 15.0s ==\n```", [2]),
]


@pytest.mark.parametrize(("text", "ratios"), OUTPUTS)
def test_outputs(text: str, ratios: list[float]) -> None:
    assert [claim.ratio for claim in quantified(text)] == pytest.approx(ratios, rel=0.001)


@pytest.mark.parametrize(
    "text",
    [
        table("Item | Cost | % of Bill", "Egress | $200 | 40%"),
        f"### Lighthouse — avant / après\n\n{table('Audit | Avant | Après', 'Performance | 96 | 96', 'Lighthouse Performance | 71 | 94')}",
        f"# Site\n\n{table('Audit | Before | After', 'Performance | 96 | 96', 'Lighthouse Performance | 71 | 94')}",
    ],
)
def test_shares_and_marks_are_no_changes(text: str) -> None:
    assert quantified(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Before:\n- 3 workers\n- 10 s timeout\n\nAfter:\n- 5 workers\n- 30 s timeout",
        "## Baseline\n\n- 8 GB RAM\n- 4 cores\n\n## After setup\n\n- 2 GB free",
        "Old:\n30 days\n\nNew:\n90 days",
        "Take more\n\nBefore:\ntop = rows[0:15]\n\nAfter:\ntop = rows[0:30]",
        "Calm it\n\nBefore:\n```css\nfade: 300ms;\n```\n\nAfter:\n```css\nopacity: 150ms;\n```",
        "Before:\n```go\nd := 5 * time.Second // 5s\n```\n\nAfter:\n```go\nd := 10 * time.Second // 10s\n```",
        "- Baseline: 5 GB RAM\n- Recommended: 16 GB RAM",
        "Before: 20 MB\nDev dependencies: 5 MB",
        "Main bundle (index): 437 KB\nVendor: 200 KB",
        "Tests before: 400\nTests after: 500",
        f"Scores by instance:\n\n{table('Algorithm | a | b', 'x | +29.2% | +38.7%')}",
        f"## Throughput\n\nAccuracy of both:\n\n{table('Case | Before | After', 'errors | 30 | 20')}",
        table("Metric | Before | After | Improvement", "Users | 100 | 200 | +100%", "Commands | 10 | 20 | +100%"),
        table("Feature | Before | After | Change", "Coverage | 70% | 90% | +20%"),
    ],
)
def test_near_misses_are_no_claims(text: str) -> None:
    assert quantified(text) == []


def test_a_change_beside_a_figure_after_is_quoted_with_its_bracket() -> None:
    rows = table("Pkg | Baseline | Warm | One changed", "all | 25.2s | 1.4s (94% faster) | 6.2s (75% faster)")
    assert [claim.quote for claim in quantified(rows)] == ["25.2s | 1.4s (94% faster)", "6.2s (75% faster)"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("| add | 90 µs | -95% |\n| sum | 46 µs | -50% |", [2, 20]),
        ("| add | 90 µs | +25% |\n| sum | 46 µs | -20% |", [0.8333, 1.25]),
    ],
)
def test_below_improvement_signs_that_are_all_negative_are_those_of_the_figures(rows: str, expected: list[float]) -> None:
    """`-95%` beside a time is a time that fell; beside gains above zero it is a loss."""
    found = claims_read(f"| Operation | Time | Improvement |\n|---|---|---|\n{rows}")
    assert sorted(claim.ratio or 0.0 for claim in found) == pytest.approx(expected, rel=0.001)


@pytest.mark.parametrize("label", ["QPS", "Throughput", "Requests/s"])
def test_the_label_of_the_next_line_names_no_other_row(label: str) -> None:
    """In columns aligned with blanks, more requests are no slowdown because the line below is about time."""
    rows = f"{label}      ~200       ~500      +150%\nP95           2.5s       1.8s      -28%"
    text = f"```\nmetric        before     after     gain\n{rows}\n```"
    found = claims_read(text)
    assert [(claim.metric, round(claim.ratio or 0, 2)) for claim in found] == [(ClaimMetric.THROUGHPUT, 2.5), (ClaimMetric.TIME, 1.39)]
