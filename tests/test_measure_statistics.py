"""Statistics of measured runs: the interval of a ratio, the rank test, and benchstat's own words."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchstat.benchstat import comparison, geometric_mean, mean_change, scale, summary
from tests.benchstat.page import runs_of, table
from tests.benchstat.rank_test import EXACT, EXACT_WITH_TIES, p_value
from tests.benchstat.ratio_interval import Side, ratio_interval
from tests.benchstat.students_t import NORMAL_95, t_95

TABLE = {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645, 5: 2.57058, 7: 2.36462, 10: 2.22814, 20: 2.08596, 30: 2.04227, 60: 2.00030,
         120: 1.97993}  # fmt: skip
"""Degrees of freedom -> two-sided 95 % quantile, from the tables of every textbook."""

values = st.floats(1e-6, 1e6)
samples = st.lists(values, min_size=2, max_size=8)
sides = st.one_of(
    st.builds(lambda runs: Side(samples=runs), samples),
    st.builds(lambda mean, share, n: Side(value=mean, std=mean * share, n=n), values, st.floats(0, 2), st.integers(2, 50)),
    st.builds(
        lambda mean, below, above: Side(value=mean, interval=(mean * below, mean * above)), values, st.floats(0.5, 1), st.floats(1, 2)
    ),
)


@pytest.mark.parametrize(("degrees", "expected"), TABLE.items())
def test_students_t_is_that_of_the_tables(degrees: int, expected: float) -> None:
    assert t_95(degrees) == pytest.approx(expected, rel=3e-6)


def test_students_t_between_whole_degrees_and_beyond() -> None:
    assert t_95(1) > t_95(1.5) > t_95(2) > t_95(1e6) > NORMAL_95
    assert t_95(1e6) == pytest.approx(NORMAL_95, rel=1e-5)
    assert t_95(math.inf) == NORMAL_95
    with pytest.raises(ValueError, match="at least 1 degree"):
        t_95(0.5)


def test_the_interval_of_samples_is_welchs() -> None:
    """Of logs 0 ± 0.1 and 1 ± 0.1, three runs each: standard error √(2 · 0.01 / 3), 4 degrees of freedom, t = 2.77645."""
    base, candidate = (Side(samples=[math.exp(centre + step) for step in (-0.1, 0.0, 0.1)]) for centre in (1, 0))
    found = ratio_interval(base, candidate)
    reach = TABLE[4] * math.sqrt(2 * 0.01 / 3)
    assert found is not None
    assert found == pytest.approx((math.e, math.exp(1 - reach), math.exp(1 + reach)), rel=1e-5)


def test_the_interval_of_means_uses_standard_deviations_and_runs() -> None:
    """Both sides 5 % over 11 runs: 20 degrees of freedom."""
    found = ratio_interval(Side(value=200, std=10, n=11), Side(value=100, std=5, n=11))
    reach = TABLE[20] * math.sqrt(2 * 0.05**2 / 11)
    assert found == pytest.approx((2, 2 * math.exp(-reach), 2 * math.exp(reach)), rel=1e-5)


def test_published_intervals_are_combined() -> None:
    """Each reaches 3 and 4 % from its centre on the logarithm, so both together 5 %."""
    found = ratio_interval(
        Side(value=10, interval=(10 * math.exp(-0.03), 10 * math.exp(0.03))),
        Side(value=5, interval=(5 * math.exp(-0.04), 5 * math.exp(0.04))),
    )
    assert found == pytest.approx((2, 2 * math.exp(-0.05), 2 * math.exp(0.05)))


def test_runs_that_hardly_vary_give_nearly_the_same_from_samples_and_from_their_summary() -> None:
    base, candidate = [101.0, 100.0, 99.5, 100.2], [50.1, 49.8, 50.0, 50.3]
    summed = [Side(value=fmean(runs), std=stdev(runs), n=len(runs)) for runs in (base, candidate)]
    assert ratio_interval(Side(samples=base), Side(samples=candidate)) == pytest.approx(ratio_interval(*summed), rel=1e-4)


@pytest.mark.parametrize(
    "side",
    [
        Side(value=10.0),
        Side(value=10.0, samples=[10.0], n=1),
        Side(value=10.0, std=0.0, n=1),
        Side(value=0.0, std=1.0, n=9),
        Side(samples=[1.0, 0.0]),
        Side(value=1.0, interval=(-1.0, 2.0)),
        Side(),
    ],
)
def test_without_a_spread_or_above_zero_there_is_no_interval(side: Side) -> None:
    known = Side(samples=[1.0, 2.0])
    assert ratio_interval(side, known) is None
    assert ratio_interval(known, side) is None


def test_runs_that_are_all_alike_have_no_width() -> None:
    assert ratio_interval(Side(samples=[4.0, 4.0]), Side(samples=[2.0, 2.0])) == pytest.approx((2, 2, 2))


@given(sides, sides)
def test_swapping_the_sides_inverts_the_interval(base: Side, candidate: Side) -> None:
    found, swapped = ratio_interval(base, candidate), ratio_interval(candidate, base)
    assert found is not None
    assert swapped is not None
    assert found.low <= found.ratio <= found.high
    for one, other in zip(found, (swapped.ratio, swapped.high, swapped.low), strict=True):
        assert one == pytest.approx(1 / other if other else math.inf, rel=1e-9)


@given(sides, sides, st.floats(1e-9, 1e9))
def test_another_unit_changes_nothing(base: Side, candidate: Side, factor: float) -> None:
    assert ratio_interval(_scaled(base, factor), _scaled(candidate, factor)) == pytest.approx(ratio_interval(base, candidate), rel=1e-6)


def _scaled(side: Side, factor: float) -> Side:
    return Side(
        value=side.value and side.value * factor,
        samples=[one * factor for one in side.samples],
        std=None if side.std is None else side.std * factor,
        n=side.n,
        interval=side.interval and (side.interval[0] * factor, side.interval[1] * factor),
    )


few = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=5)


@given(few, few)
def test_the_rank_test_counts_every_arrangement(first: list[float], second: list[float]) -> None:
    """Against the definition: of all ways to choose the first set from all values, how many have a U as far out on the same side."""
    pooled = first + second
    if len(set(pooled)) == 1:
        assert p_value(first, second) is None
        return
    middle = len(first) * len(second) / 2
    seen = _u(first, second)
    chosen = list(combinations(range(len(pooled)), len(first)))
    others = [_u([pooled[at] for at in one], [value for at, value in enumerate(pooled) if at not in one]) for one in chosen]
    as_far = sum(other <= seen if seen < middle else other >= seen for other in others)
    expected = 1.0 if seen == middle else min(1.0, 2 * as_far / len(chosen))
    assert p_value(first, second) == pytest.approx(expected)
    assert p_value(second, first) == pytest.approx(expected)


def _u(first: list[float], second: list[float]) -> float:
    return sum((one < other) + (one == other) / 2 for one in first for other in second)


@pytest.mark.parametrize(("n", "expected"), [(1, 1.0), (2, 1 / 3), (3, 0.1), (4, 1 / 35), (5, 1 / 126), (10, 1 / 92378)])
def test_sets_that_do_not_overlap_have_the_smallest_p_value(n: int, expected: float) -> None:
    assert p_value(list(map(float, range(n))), [100.0 + one for one in range(n)]) == pytest.approx(expected)


@pytest.mark.parametrize("n", [EXACT, EXACT_WITH_TIES])
def test_the_normal_distribution_continues_what_was_counted_out(n: int) -> None:
    """A set above the limit, beside one at the limit with nearly the same p value. With ties: every value occurs twice."""
    tied = n == EXACT_WITH_TIES
    at_limit, above = (p_value(*_shifted(size, tied=tied)) for size in (n, n + 1))
    assert at_limit is not None
    assert above is not None
    assert at_limit == pytest.approx(above, abs=0.03)
    assert 0.001 < at_limit < 0.9


def _shifted(size: int, *, tied: bool) -> tuple[list[float], list[float]]:
    first = [float(one // 2 if tied else one) for one in range(size)]
    return first, [one + size / 8 + (0.0 if tied else 0.3) - (size / 8 % 1 if tied else 0) for one in first]


def test_no_value_or_one_value_is_no_test() -> None:
    assert p_value([], [1.0]) is None
    assert p_value([2.0, 2.0], [2.0]) is None


OLD = """goos: linux
goarch: amd64
pkg: example.org/codec
BenchmarkEncode-4   1000   1500 ns/op   20.00 MB/s
BenchmarkEncode-4   1000   1510 ns/op   19.87 MB/s
BenchmarkEncode-4   1000   1490 ns/op   20.13 MB/s
BenchmarkEncode-4   1000   1504 ns/op   19.95 MB/s
BenchmarkEncode-4   1000   1495 ns/op   20.07 MB/s
BenchmarkEncode-4   1000   1650 ns/op   18.18 MB/s
BenchmarkDecode-4   9000   80.0 ns/op
BenchmarkDecode-4   9000   81.0 ns/op
BenchmarkDecode-4   9000   79.5 ns/op
PASS
"""
NEW = """BenchmarkEncode-4   1000   1000 ns/op   30.00 MB/s
BenchmarkEncode-4   1000   1010 ns/op   29.70 MB/s
BenchmarkEncode-4   1000    990 ns/op   30.30 MB/s
BenchmarkEncode-4   1000   1005 ns/op   29.85 MB/s
BenchmarkEncode-4   1000    995 ns/op   30.15 MB/s
BenchmarkEncode-4   1000   1000 ns/op   30.00 MB/s
BenchmarkDecode-4   9000   80.0 ns/op
BenchmarkDecode-4   9000   80.5 ns/op
BenchmarkDecode-4   9000   79.0 ns/op
"""
TIMES = """\
         │    old.txt     │                new.txt                 │
         │     sec/op     │    sec/op      vs base                 │
Encode-4   1.502µ ± 10%     1.000µ ± 1%    -33.42% (p=0.002 n=6)
Decode-4   80.00n ±   ∞ ¹   80.00n ±  ∞ ¹        ~ (p=0.800 n=3) ²
geomean    346.6n           282.8n         -18.40%
¹ need >= 6 samples for confidence interval at level 0.95
² need >= 4 samples to detect a difference at alpha level 0.05
"""
RATES = """\
         │   old.txt    │               new.txt               │
         │     B/s      │     B/s       vs base               │
Encode-4   19.05Mi ± 9%   28.61Mi ± 1%  +50.19% (p=0.002 n=6)
"""


@pytest.mark.parametrize(("written", "unit", "expected"), [("ns/op", "sec/op", TIMES), ("MB/s", "B/s", RATES)])
def test_tables_read_as_benchstat_prints_them(written: str, unit: str, expected: str) -> None:
    """Every number and the layout. The same code prints benchstat's own examples as benchstat does, line by line."""
    assert table(unit, {"old.txt": runs_of(OLD, written), "new.txt": runs_of(NEW, written)}) == expected.splitlines()


@pytest.mark.parametrize(
    ("n", "low", "high"), [(6, 1, 6), (7, 1, 7), (8, 1, 7), (10, 2, 9), (20, 6, 15), (30, 10, 21), (40, 14, 27), (100, 40, 60)]
)
def test_the_interval_of_a_median_is_bounded_by_runs(n: int, low: int, high: int) -> None:
    """The order statistics that cover the median with 95 % and no more than needed, checked against the binomial distribution."""
    found = summary([float(one) for one in range(n, 0, -1)])
    assert (found.centre, found.low, found.high) == ((n + 1) / 2, low, high)
    assert sum(math.comb(n, below) for below in range(low, high)) / 2**n >= 0.949


def test_words_for_what_cannot_be_said_in_percent() -> None:
    assert summary([5.0]).reach == "∞"
    assert summary([0.0] * 6).reach == "0%"
    assert summary([-1.0, 1.0, 1.0, 1.0, 1.0, 1.0]).reach == "?"
    assert comparison([0.0] * 6, [1.0] * 6).difference == "?"
    assert comparison([2.0] * 6, [2.0] * 5).evidence == "p=1.000 n=6+5"
    assert comparison([2.0] * 6, [2.0] * 6).warning == "all samples are equal"
    assert (geometric_mean([]), geometric_mean([1.0, 0.0])) == (None, None)
    assert (mean_change([(0.0, 0.0), (1.0, 4.0)]), mean_change([(0.0, 1.0)])) == ("+100.00%", "?")


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.0, "sec/op", "0.000"),
        (1.7155e-6, "sec/op", "1.716µ"),
        (99.995, "sec/op", "100.0"),
        (99.994, "sec/op", "99.99"),
        (999.95, "x", "1.000k"),
        (1023.0, "B/op", "1023.0"),
        (1024.0, "B/op", "1.000Ki"),
        (1.5e12, "text-bytes", "1.364Ti"),
        (2e-12, "sec/op", "0.002000n"),
        (0.25, "B/s", "0.2500"),
        (1e6, "sec/B", "1.000M"),
    ],
)
def test_numbers_have_three_or_more_significant_digits(value: float, unit: str, expected: str) -> None:
    assert scale([value], unit).written(value) == expected


def test_one_scale_for_a_line_follows_the_smallest_number() -> None:
    common = scale([237.5e-9, 56.75e-9], "sec/op")
    assert [common.written(value) for value in (237.5e-9, 56.75e-9)] == ["237.50n", "56.75n"]
