"""The claim extractor: what is a claim, with which ratio, what is not; no text can harm it."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import ingest.claims
from app.cli.main import cli
from ingest.claims import Claim, extract
from ingest.claims.extraction import MOST_CLAIMS
from ingest.claims.numbers import Kind, quantities
from ingest.claims.search import find_triggers
from schemas.rows.claim import ClaimKind, ClaimMetric, ClaimRow, Direction, Evidence, Origin, Scope
from schemas.rows.confidence import SHOWN_FROM
from tests.conftest import SAMPLES

FROM_WORDS_TO_A_RATIO = [
    ("The parser is 3x faster now", 3),
    ("a 10-fold speedup of the loop", 10),
    ("4x improvement in latency", 4),
    ("The import is 2x slower", 1 / 2),
    ("reduces the repository by a factor of 3.5", 3.5),
    ("Batching lifts embedding throughput to 2.7x.", 2.7),
    ("latency 12 ms → 4 ms", 3),
    ("The tests went from 85s to 25s.", 3.4),
    ("The tests went from 85s\nto 25s.", 3.4),
    ("The tests take 5 s, down from 20 s.", 4),
    ("The tests take 5 s instead of 20 s.", 4),
    ("Decoding in 562s (was 1.09 in 1573s)", 1573 / 562),
    ("It took 20s, now it takes 5s", 4),
    ("The query used to take 300ms and now takes 30ms", 10),
    ("20s before, 5s after", 4),
    ("Startup takes 25 ms vs 85 ms before", 3.4),
    ("Runtime drops 12 s to 5 s", 2.4),
    ("throughput 100 req/s → 250 req/s", 2.5),
    ("throughput from 120 to 360 tok/s", 3),
    ("267k → 1.2M NPS", 1_200 / 267),
    ("build time: 85s → 40s → 25s", 3.4),
    ("CPU wakeups 1,000/s → 50/s", 20),
    ("1.2 s → 300 ms", 4),
    ("1m30s → 45s", 2),
    ("2 GiB → 512 MiB of memory", 4),
    ("from ~14s to sub-second", 14),
    ("The cost fell from $3 to 50 cents per run", 6),
    ("251 queries → 3 queries per page", 251 / 3),
    ("overhead 6.2x → 1.8x", 6.2 / 1.8),
    ("30% speedup in parsing", 1.3),
    ("40% higher throughput", 1.4),
    ("+25% throughput", 1.25),
    ("25% less memory", 1 / 0.75),
    ("reduced memory by 75%", 4),
    ("cut parser reallocations 85%", 1 / 0.15),
    ("latency drops 40%", 1 / 0.6),
    ("−30% latency", 1 / 0.7),
    ("Solve time **-45%**", 1 / 0.55),
    ("reduced the run time to 25% of the original", 4),
    ("halves the latency", 2),
    ("twice as fast", 2),
    ("doubles throughput", 2),
    ("an order of magnitude faster", 10),
    ("20% slower", 1 / 1.2),
    ("adds 25% to page latency", 1 / 1.25),
    ("up to 5x faster", 5),
    ("10-40x faster", 20),
    ("58-120ms → 1-2ms", math.sqrt(29 * 120)),
    ("unchanged at 23.5 ms/step", 1),
    ("Der Parser ist jetzt 2,5x schneller", 2.5),
    ("increases signing performance by 15%", 1.15),
    ("Performance on x86 is reduced by 20%", 1 / 1.2),
    ("slowed decoding by about 40%", 1 / 1.4),
    ("query time from 47s on a 25 GB index to 12s", 47 / 12),
    ("the scan takes 500\n    ms rather than 10 s", 20),
    ("from `15 s` to `5 s` with `max_mode=2`", 3),
    ("Rebuild after a change: ~3 min to ~20 s", 9),
    ("vertices weld in 0.4 s; the old code took 95 s", 237.5),
    ("`SELECT 1 LIMIT 10` on the big table: 2 s -> 4 ms", 500),
]

NO_CLAIM = [
    "Increased the timeout from 30s to 60s",
    "Retry backoff: 5s → 10s → 20s → 40s",
    "Poll interval bumped 15s → 30s",
    "Increase memory limit from 64MB to 256MB",
    "A cache TTL of 5 minutes, up from 1 minute",
    "the animation 300ms → 150ms",
    "the connection pool 10 → 5",
    "batch size 32 → 64",
    "coverage 80% → 95%",
    "Reduced code by 40%",
    "reduced complexity from 12 to 5",
    "v1.2 → v1.3, from 0.24.41 to 0.24.42",
    "Python 3.9 → 3.11, node 18 -> 20, x86 → arm64",
    "a 2x2 grid at 4x zoom, 1024x1024 → 512x512",
    "32x faster playback",
    "O(n²) → O(n)",
    "the build takes 800 ms",
    "1.2M NPS, < 2ms, 163 ns",
    "~8x observed parallelism",
    "Reduce heatmap cell size by 20%, CELL_SIZE 21->17",
    "Prices: Pro plan $12 → $15 per seat",
    "a.mpg: 666ms -> 0ms (FIXED)",
    "torch.zeros → torch.empty",
    "reduced from 1s to 5s",
    "token lifetime 15m → 60m, refresh 7d → 30d",
    "session 5s → 10s",
    "The task took 3x longer than estimated",
    "artifacts are kept 14 days (was 90 days)",
    "request body 1 MB → 8 MB, worker 256Mi → 512Mi",
    "Starter $9 → $12, Team $29 → $35",
    "54 m/s → 62 m/s",
    " test/reference/mask.ref.png | Bin 8530 -> 4577 bytes",
    " conf.avail/{36-bitmaps.conf => 76-bitmaps.conf}",
    "Increase the number of calls from 5 to 30",
    "it takes up 100% CPU",
]


def quantified(text: str, least_confidence: float = 0) -> list[Claim]:
    return [
        claim for claim in extract(text, least_confidence) if claim.kind is ClaimKind.QUANTIFIED
    ]


def only(text: str) -> Claim:
    claims = quantified(text)
    assert len(claims) == 1, [(claim.quote, claim.ratio) for claim in claims]
    return claims[0]


@pytest.mark.parametrize(("text", "ratio"), FROM_WORDS_TO_A_RATIO)
def test_words_become_a_ratio(text: str, ratio: float) -> None:
    claim = only(text)
    assert claim.ratio == pytest.approx(ratio)
    assert claim.direction is (
        Direction.SAME if ratio == 1 else Direction.BETTER if ratio > 1 else Direction.WORSE
    )


@pytest.mark.parametrize("text", NO_CLAIM)
def test_what_is_no_claim_on_performance_is_none(text: str) -> None:
    assert quantified(text, SHOWN_FROM) == []


@pytest.mark.parametrize(
    ("text", "quote", "ratio"),
    [
        ("denoising: 2822 → 2172 ms (23% faster)", "2822 → 2172 ms (23% faster)", 2822 / 2172),
        (
            "- 1.33x faster (26,162 ns → 19,641 ns)",
            "1.33x faster (26,162 ns → 19,641 ns)",
            26162 / 19641,
        ),
        ("2.5x speedup achieved: ~25s → ~10s", "2.5x speedup achieved: ~25s → ~10s", 2.5),
        ("VAE: 3.3s -> 0.6s (-82%)", "3.3s -> 0.6s (-82%)", 5.5),
        ("~5% slower (191ms vs 182ms)", "~5% slower (191ms vs 182ms)", 182 / 191),
        (
            "86% fewer allocations (104,112 → 14,801)",
            "86% fewer allocations (104,112 → 14,801)",
            104112 / 14801,
        ),
        ("16x speedup (30 → 480)", "16x speedup (30 → 480)", 16),
        (
            "runtime from 3.2 s to 1.6 s, which is a 50% improvement",
            "from 3.2 s to 1.6 s, which is a 50% improvement",
            2,
        ),
    ],
)
def test_numbers_of_one_effect_are_one_claim_and_the_pair_decides(
    text: str, quote: str, ratio: float
) -> None:
    claim = only(text)
    assert claim.quote.startswith(quote)
    assert claim.ratio == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("text", "ratios"),
    [
        ("dolt 85s → 25s, migrations 12s → 5s.", [3.4, 2.4]),
        ("20.8ms → 15.0ms (-27.7%), 1989 → 1474 allocs (-25.9%)", [20.8 / 15, 1989 / 1474]),
        ("8.2x speedup for sequential reads and 7.6x for random reads", [8.2, 7.6]),
        ("Startup improves by 25% on Linux and by 40% on Windows", [1.25, 1.4]),
        ("increase batch_seqs from 32 to 128 to reduce GPU passes by 4x", [4]),
        ("Denoising unchanged at ~6.3s (64% speedup from baseline kept)", [1, 1.64]),
        ("2.2x faster parsing with 35% less memory", [2.2, 1 / 0.65]),
        ("latency 284 ms → 142 ms, workers 8 → 4", [2]),
    ],
)
def test_two_subjects_or_metrics_are_two_claims(text: str, ratios: list[float]) -> None:
    assert [claim.ratio for claim in quantified(text)] == pytest.approx(ratios)


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        (
            (
                "- Before: ~240s total (3x full builds)\n- After: ~110s total\n- Time savings: "
                "~130 seconds (54% faster)"
            ),
            240 / 110,
        ),
        ("**Before:** 300ms\n**After:** 30ms", 10),
        (
            "- Sequential: 4046ms\n- Parallel (limit 10): 805ms\n- Improvement: ~80% speedup",
            4046 / 805,
        ),
        ("- New API: 9.6s (best)\n- Old API: 28.8s (3x slower)\n- Speed improvement: 3x faster", 3),
        ("| Metric | Before | After |\n|---|---|---|\n| Latency | 300ms | 30ms |", 10),
        (
            (
                "| Rule | main | branch | Δ |\n|---|--:|--:|--:|\n| allocations | 383.4M | "
                "134.1M | -65.0% |"
            ),
            383.4 / 134.1,
        ),
        ("| cache | Rule time | Δ |\n|---|---|---|\n| vscode | 36 ms → 9 ms | **−75%** |", 4),
        (
            (
                "| what | NPM | Rust | Winner |\n|---|---|---|---|\n| Startup | 3000ms | 30ms | "
                "**Rust 100x faster** |"
            ),
            100,
        ),
        ("| batch | main (tok/s) | this PR (tok/s) |\n|---|---|---|\n| 16 | 800 | 1,000 |", 1.25),
        ("| Version | Speedup |\n|---|---|\n| v1 (baseline) | 1.0x |\n| v2 | 2.0x |", 2),
        ("  list    840 ms    110 ms    7.6x", 840 / 110),
        ("Null-4   29.91n ± 2%   8.09n ± 1%   -72.93% (p=0.000 n=10)", 29.91 / 8.09),
        ("Small-4 B/op 176 160 -9.09%", 1.1),
        ("django.py    7.1s (2)    5.3s (2)  -25.3%", 7.1 / 5.3),
        ("| job | Main (s) | PR (s) |\n|---|---|---|\n| lint | 1218 | 406 |", 3),
    ],
)
def test_lines_and_rows_that_belong_together_are_one_claim(text: str, ratio: float) -> None:
    assert only(text).ratio == pytest.approx(ratio)


def test_a_line_of_origin_is_before_all_that_follow() -> None:
    text = (
        "Benchmarks (8700 files):\n- Original:           74s\n- Cached (no filter):  18s  "
        "(4x)\n- Cached + --since:     5s  (14x)"
    )
    assert [claim.ratio for claim in quantified(text)] == pytest.approx([74 / 18, 74 / 5])


def test_a_range_has_ends_and_their_geometric_mean() -> None:
    claim = only("builds are 2-8x faster")
    assert (claim.ratio_low, claim.ratio, claim.ratio_high) == pytest.approx((2, 4, 8))
    assert (only("3x faster").ratio_low, only("3x faster").ratio_high) == (None, None)


def test_figures_are_kept_in_the_unit_of_the_later() -> None:
    claim = only("from 10s to ~100ms")
    assert (claim.before, claim.after, claim.unit) == (10_000, 100, "ms")


@pytest.mark.parametrize(
    "text",
    [
        "saves 12 ms per call",
        "~150 ms savings",
        "eliminates 248k queries",
        "per call 2KB → 0KB of memory",
    ],
)
def test_what_can_be_no_ratio_has_none(text: str) -> None:
    claim = only(text)
    assert claim.ratio is None
    assert claim.direction is Direction.BETTER


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("3x faster", ClaimMetric.TIME),
        ("2x higher throughput", ClaimMetric.THROUGHPUT),
        ("peak memory 400 MB → 100 MB", ClaimMetric.MEMORY),
        ("binary 400 MB → 100 MB", ClaimMetric.SIZE),
        ("80% reduction in API calls", ClaimMetric.OPERATIONS),
        ("~70% fewer tokens per review", ClaimMetric.TOKENS),
        ("the bill of that job is 63% lower", ClaimMetric.COST),
    ],
)
def test_the_metric_is_what_the_words_say(text: str, metric: ClaimMetric) -> None:
    assert only(text).metric is metric


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("3x faster", Evidence.STATED),
        ("The import takes 5 s instead of 20 s", Evidence.FIGURES),
        ("Measured on the corpus: the import takes 5 s instead of 20 s", Evidence.BENCHMARKED),
        ("Benchmarks show a 3x speedup", Evidence.BENCHMARKED),
        ("should be 3x faster", Evidence.ESTIMATED),
        ("Expected: import 20 s → 5 s", Evidence.ESTIMATED),
        ("+55% throughput with wrk against a 1 MB file", Evidence.BENCHMARKED),
        ("The decoder is 6x faster on a Ryzen 7950X", Evidence.BENCHMARKED),
        ("The query takes 5 s instead of 20 s on the 80M-row table", Evidence.BENCHMARKED),
        ("The runtime went from 3.891169 seconds to 1.699496 seconds", Evidence.FIGURES),
    ],
)
def test_evidence_is_graded(text: str, evidence: Evidence) -> None:
    assert only(text).evidence is evidence


def test_a_headline_has_the_evidence_of_its_figures() -> None:
    headline, figures = quantified(
        "perf: 4x faster import\n\nThe import takes 5 s instead of 20 s."
    )
    assert headline.evidence is figures.evidence is Evidence.FIGURES


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("`fused_topk()`: 3x faster", Scope.MICRO),
        ("the query is 3x faster", Scope.COMPONENT),
        ("the test suite is 3x faster", Scope.END_TO_END),
        ("3x faster", Scope.UNSPECIFIED),
    ],
)
def test_scope_is_by_the_words_beside(text: str, scope: Scope) -> None:
    assert only(text).scope is scope


def test_another_project_s_number_is_cited() -> None:
    assert (
        only("Upgrade: the release notes report up to 20% faster hydration").origin is Origin.CITED
    )
    assert only("Hydration is 20% faster").origin is Origin.OWN


def test_the_subject_is_in_the_words_of_the_text() -> None:
    assert only("- Text encoding: 12s -> 7s").subject == "Text encoding"
    assert (
        only("**3.2x speedup** for `torch.empty` vs `torch.zeros`").subject
        == "torch.empty vs torch.zeros"
    )


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        (
            "This eliminates redundant allocations in the loop.",
            ["eliminates redundant allocations"],
        ),
        (
            "- Lower memory bandwidth usage\n- Fewer kernel launches",
            ["Lower memory bandwidth usage", "Fewer kernel launches"],
        ),
        ("It does not reduce latency.", []),
        ("Reduces memory usage by 40%", []),
        ("Removed the old test", []),
    ],
)
def test_claims_without_a_number(text: str, quotes: list[str]) -> None:
    assert [claim.quote for claim in extract(text) if claim.kind is ClaimKind.QUALITATIVE] == quotes


def test_the_samples_claim_two_speedups_and_no_other_ratio() -> None:
    texts = [json.loads(path.read_text())["result"] for path in sorted(SAMPLES.iterdir())]
    speedups = [claim for text in texts for claim in extract(text) if claim.ratio is not None]
    assert [claim.ratio for claim in speedups] == [3.17, 1.42]
    assert {(claim.metric, claim.scope, claim.evidence) for claim in speedups} == {
        (ClaimMetric.TIME, Scope.MICRO, Evidence.BENCHMARKED)
    }


def test_a_claim_is_the_row_of_the_store() -> None:
    """Every field of the table but the two that the run and the order give."""
    assert ["run_id", "claim_no", *Claim._fields] == list(ClaimRow.columns)
    ClaimRow(run_id="a", claim_no=1, **only("12 ms → 4 ms")._asdict())


def test_a_text_without_a_trigger_is_not_read_further() -> None:
    assert find_triggers(
        "Replaced `torch.ones` → `torch.empty` (line 347) in 14 places; 100 tests pass from now on."
    ) == ([], [])


@pytest.mark.parametrize(
    ("text", "kind", "low", "high"),
    [
        (("~1.2 "
"s"), Kind.VALUE, 1.2, 1.2), (("1,234,567 "
"B"), Kind.VALUE, 1234567, 1234567), ("200K-400K", Kind.VALUE, 200_000, 400_000),
        ("1m30s", Kind.VALUE, 90, 90), ("10–50×", Kind.TIMES, 10, 50), ("-27.7%", Kind.PERCENT, 27.7, 27.7),  # noqa: E501
        ("2,5x", Kind.TIMES, 2.5, 2.5),
    ],
)  # fmt: skip
def test_quantities_are_read_as_written(text: str, kind: Kind, low: float, high: float) -> None:
    (quantity,) = quantities(text, 0, len(text))
    assert (quantity.kind, quantity.low, quantity.high) == (kind, low, high)


PIECES = st.sampled_from(
    [
        "3x",
        " faster",
        "12 ms",
        " → ",
        "->",
        "40%",
        " less memory",
        "from ",
        " to ",
        "85s",
        "|",
        "\n",
        "- ",
        "Before: ",
        "After: ",
        "(",
        ")",
        "~",
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        # more digits than a quantity has
        "3x faster parsing, and the step took 12.5 ms (+2.30000000000000000000000003%).",
        # letters that only Unicode's rules of case make those of `six` and `five`
        "3x faster parsing, ſix times faster lookups.",
        "3x faster parsing, fıve times faster lookups.",
    ],
)
def test_what_is_almost_a_number_is_passed_over(text: str) -> None:
    assert [claim.quote for claim in extract(text)] == ["3x faster"]


@given(
    st.text(alphabet=st.characters())
    | st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)
)
def test_claims_keep_their_invariants_on_any_text(text: str) -> None:
    claims = extract(text)
    assert list(claims) == sorted(claims, key=lambda claim: (claim.start, claim.end))
    assert len({(claim.start, claim.end) for claim in claims}) == len(claims)
    for claim in claims:
        assert 0 <= claim.start < claim.end <= len(text)
        assert claim.quote == text[claim.start : claim.end]
        for number in (claim.ratio, claim.ratio_low, claim.ratio_high):
            assert number is None or (number > 0 and math.isfinite(number))
        if claim.ratio is not None and claim.ratio_low is not None and claim.ratio_high is not None:
            assert claim.ratio_low <= claim.ratio <= claim.ratio_high


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *("1x ", "1 ", "9", "|", ("| "
"1x "), "1→", "1s→2s ", "1%", " ", ("from 1 "
"to "), ("3x "
"faster "), "(", ("- Before: "
"1s\n"), "1-", "`"),
        *("half ", "reduces me"),
    ],
)  # fmt: skip
def test_work_grows_with_the_length_of_the_text(unit: str) -> None:
    """Four times the text takes about four times the time.

    Backtracking would take sixteen times and more.
    """
    length = 3_000
    short, long = unit * (length // len(unit)), unit * (4 * length // len(unit))
    assert seconds(long) < 10 * seconds(short) + 0.1


def seconds(text: str) -> float:
    best = math.inf
    for _ in range(2):
        started = time.process_time()
        extract(text)
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "It is 3x faster.\n\n",
        "1x ",
        "1s→2s ",
        "| 1 ms → 2 ms |\n",
        "baseline 1:1 ",
        "baseline_ms=3 optimized_ms=1, ",
    ],
)
def test_a_megabyte_of_claims_is_cut_off(unit: str) -> None:
    """The bound is generous: it fails only where each claim costs more the more there are."""
    started = time.process_time()
    assert len(quantified(unit * (1_000_000 // len(unit)))) <= MOST_CLAIMS
    assert time.process_time() - started < 10


@pytest.mark.parametrize("source", ["file", "-"])
def test_extract_answers_a_line_for_a_line(tmp_path: Path, source: str) -> None:
    lines = '{"id": "a", "text": "É 3x faster \\ud83d"}\n\n{"id": 2, "text": "no claim"}\n'
    path = tmp_path / "texts.jsonl"
    path.write_text(lines, encoding="utf-8")
    done = CliRunner().invoke(
        cli, ["claims", "extract", str(path) if source == "file" else "-"], input=lines
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["id"], second) == ("a", {"id": 2, "claims": []})
    assert [(claim["start"], claim["quote"], claim["ratio"]) for claim in first["claims"]] == [
        (2, "3x faster", 3.0)
    ]
    assert list(first["claims"][0]) == list(Claim._fields)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ("[1]", "no id"),
        ('{"id": 1, "text": null}', "text is not a string"),
        ("\xff", "not JSON"),
    ],
)
def test_a_broken_line_is_reported_with_its_number(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b'{"id": 1, "text": ""}\n' + line.encode("latin-1") + b"\n")
    done = CliRunner().invoke(cli, ["claims", "extract", str(path)], standalone_mode=False)
    assert done.stdout == '{"id":1,"claims":[]}\n', done.exception
    assert getattr(done.exception, "exit_code", None) == 3
    assert "line 2" in str(done.exception)
    assert said in str(done.exception)


def test_the_rules_stay_small() -> None:
    """Frozen: docs/claims.md says what a rule must show to come in."""
    files = [
        path
        for path in Path(ingest.claims.__file__).parent.iterdir()
        if path.suffix in (".py", ".toml")
    ]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert len(files) <= 15
    assert sum(len(text) for text in texts) <= 180_000
    assert sum(len(re.findall(r"\bpattern\(|re\.compile\(", text)) for text in texts) <= 120


def test_who_only_names_a_claim_loads_no_rule() -> None:
    """Commands that read a store import the findings, which name claims."""
    loaded = (
        "import sys; import ingest.findings.rules; print([name for name in sys.modules if "
        "name.startswith('ingest.claims.')])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
