"""Rules over claims: their arithmetic, and their evidence. They grade evidence; they do not accuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from ingest.claims import Claim
from ingest.findings.rules.rule import MEASURED, SPEED, Facts, Noticed, is_own_improvement, ratio, rule
from schemas.rows.claim import Evidence, Origin, Scope
from schemas.text import quoted

BELIEVABLE = 100.0
"""Above this factor a claim needs figures."""

SLACK = 0.02
SLACK_HEDGED = 0.10
"""How far apart, beyond rounding, two statements of one effect may lie."""

_OWN, _MICRO, _BENCHMARKED = Origin.OWN, Scope.MICRO, Evidence.BENCHMARKED
_LONGEST_QUOTE = 80
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_PERCENT = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s?%")
_FACTOR = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s?[x×](?![\w])")
_OF_BEFORE = re.compile(r"%\s+of\b|\bto\s+~?\d[\d.,]*\s?%")

_INEXACT = re.compile(r"[<≥≤]|(?<![-=])>|\d\s?[x×%]?\+|\d[-–—]~?\d|\b(?:up to|at least|or more|over|under)\b", re.IGNORECASE)
"""A bound, or a range (`20–30x`); the arrow `->` is neither."""

Interval = tuple[float, float]


@rule
def ratio_mismatch(facts: Facts) -> Iterator[Noticed]:
    """Before and after have one ratio, the percentage or factor beside them another; rounding does not explain the difference."""
    for claim in facts.claims:
        pair = _of_pair(claim) if claim.before is not None else None
        other = _of_percentage(claim.quote) if pair else []
        if pair and other and not any(_overlap(pair, reading) for reading in other):
            low, high = other[0]
            yield Noticed(
                f"“{quoted(claim.quote, _LONGEST_QUOTE)}” is inconsistent: before/after gives {ratio(claim.ratio or 0)}, "
                f"the text says about {ratio((low + high) / 2)}.",
                ratio(claim.ratio or 0),
                ratio((low + high) / 2),
            )


@rule
def implausible_speedup(facts: Facts) -> Iterator[Noticed]:
    """A factor above BELIEVABLE with neither figures nor a benchmark anywhere; the largest, where there are several.

    A percentage does not count: leaving something out saves 99.6 % of it.
    """
    large = [claim for claim in facts.claims if (claim.ratio or 0) > BELIEVABLE and "%" not in claim.quote and is_own_improvement(claim)]
    if large and not any(claim.evidence in MEASURED for claim in large):
        most = max(large, key=_ratio_of)
        yield Noticed(
            f"The summary claims “{quoted(most.quote, _LONGEST_QUOTE)}” without numbers to support it.",
            f"at most {ratio(BELIEVABLE)} without numbers",
            ratio(_ratio_of(most)),
        )


@rule
def micro_benchmark_only(facts: Facts) -> Iterator[Noticed]:
    """A speedup that was benchmarked on a part of the software only: it does not say how much users gain.

    Any claim about a component or the whole, even of no change, is a figure for more than the part: then there is no finding.
    """
    benchmarked = []
    for claim in facts.claims:
        if claim.metric in SPEED and claim.ratio and claim.origin is _OWN:
            if claim.scope is not _MICRO:
                return
            if claim.evidence is _BENCHMARKED and is_own_improvement(claim):
                benchmarked.append(claim)
    if benchmarked:
        best = max(benchmarked, key=_ratio_of)
        yield Noticed(
            f"The claimed speedup (“{quoted(best.quote, _LONGEST_QUOTE)}”) is for a micro-benchmark or a single function; "
            "the summary has no end-to-end result.",
            "a component or end-to-end result",
            "micro-benchmark",
        )


@rule
def unmeasured_claim(facts: Facts) -> Iterator[Noticed]:
    """Claimed numbers, none of which was measured."""
    claims = []
    for claim in facts.claims:
        if is_own_improvement(claim):
            if claim.evidence in MEASURED:
                return
            claims.append(claim)
    if not claims:
        return
    is_estimate = all(claim.evidence is Evidence.ESTIMATED for claim in claims)
    how = "as a projection" if is_estimate else "without saying how it was measured"
    yield Noticed(
        f"The summary claims “{quoted(claims[0].quote, _LONGEST_QUOTE)}” {how}.",
        "a measurement",
        Evidence.ESTIMATED if is_estimate else Evidence.STATED,
    )


def _ratio_of(claim: Claim) -> float:
    return claim.ratio or 0.0


def _of_pair(claim: Claim) -> Interval | None:
    """The ratio of before and after (of improvement or worsening) with the interval from the rounding of both figures as written."""
    if claim.ratio is None or claim.ratio_low is not None or claim.before is None or claim.after is None:
        return None
    spread = 0.0
    for figure in (claim.before, claim.after):
        written = next((text for text in _NUMBER.findall(claim.quote) if _value(text) == figure), None)
        if written is None or not figure:
            return None
        spread += _half_digit(written) / abs(figure)
    spread += SLACK_HEDGED if claim.hedged else SLACK
    factor = max(claim.ratio, 1 / claim.ratio)
    return factor * (1 - spread), factor * (1 + spread)


def _of_percentage(quote: str) -> list[Interval]:
    """The possible ratios of the only percentage or factor in the quote: more, less, times. Empty for none, several or a range."""
    percentages, factors = _PERCENT.findall(quote), _FACTOR.findall(quote)
    if len(percentages) + len(factors) != 1 or _OF_BEFORE.search(quote) or _INEXACT.search(quote):
        return []
    written = next(chain(percentages, factors))
    low, high = _value(written) - 2 * _half_digit(written), _value(written) + 2 * _half_digit(written)
    if factors:
        return [(low, high)]
    more, less = (1 + low / 100, 1 + high / 100), (1 / (1 - min(low, 99.99) / 100), 1 / (1 - min(high, 99.99) / 100))
    return [more, less] if low < 100 else [more]


def _overlap(one: Interval, other: Interval) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _value(written: str) -> float:
    return float(written.replace(",", ""))


def _half_digit(written: str) -> float:
    """Half a unit of the last digit written."""
    return 0.5 * 10.0 ** -len(written.partition(".")[2])
