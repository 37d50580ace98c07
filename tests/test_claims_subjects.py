"""Whose change it is: a sentence about the baseline, `the old parser is 3x slower than the new one`, is a claim of the candidate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.rows.claim import ClaimMetric
from tests.claims_read import claims_read, ratios

BASELINES = st.sampled_from(
    ["the old parser", "the baseline", "main", "the original version", "the naive loop", "the legacy path", "upstream"]
)
CANDIDATES = st.sampled_from(["the new parser", "the optimized version", "this branch", "the patched build", "our version", "the rewrite"])

SENTENCES = [
    # a sentence about {one} compared with {other}, and how much better {one} is
    ("{one} is 3x faster than {other}", 3),
    ("{one} is 3 times slower than {other}", 1 / 3),
    ("{one} is 25% faster than {other}", 1.25),
    ("{one} is 25% slower than {other}", 1 / 1.25),
    ("{one} uses 20% less memory than {other}", 1 / 0.8),
    ("{one} has 2x higher throughput than {other}", 2),
    ("{one} has 20% lower latency than {other}", 1 / 0.8),
    ("compared to {other}, {one} is 2x slower", 0.5),
    ("latency with {one} rises 25% compared to {other}", 1 / 1.25),
    ("throughput with {one} drops 20% compared to {other}", 0.8),
    ("{one} is 2x the speed of {other}", 2),
]


@given(baseline=BASELINES, candidate=CANDIDATES, sentence=st.sampled_from(SENTENCES), is_of_baseline=st.booleans())
def test_either_side_may_be_the_subject(baseline: str, candidate: str, sentence: tuple[str, float], is_of_baseline: bool) -> None:
    words, better = sentence
    one, other = (baseline, candidate) if is_of_baseline else (candidate, baseline)
    [claim] = claims_read(f"perf: lookups\n\nHere {words.format(one=one, other=other)}.")
    assert claim.ratio == pytest.approx(1 / better if is_of_baseline else better)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The original loop was 3x slower.", 3),
        ("Before, it was 3x slower.", 3),
        ("The baseline uses 25% more memory.", 1.25),
        ("The old parser is 3x slower than the new one (90 ms vs 30 ms).", 3),
        # no baseline: an attempt, a branch of its own, and what was said of the old release
        ("The previous attempt was 25% slower.", 0.8),
        ("main is now 3x faster than the old release.", 3),
        ("Our version is 25% slower than upstream.", 0.8),
    ],
)
def test_a_baseline_that_is_worse_is_an_improvement(text: str, expected: float) -> None:
    assert ratios(text) == [pytest.approx(expected)]


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("Throughput of the server with batching drops by 20%.", ClaimMetric.THROUGHPUT),
        ("Latency of the cache in memory drops by 20%.", ClaimMetric.TIME),
        ("It uses 3x less bandwidth.", ClaimMetric.SIZE),
    ],
)
def test_the_subject_names_the_metric(text: str, metric: ClaimMetric) -> None:
    [claim] = claims_read(text)
    assert claim.metric is metric
