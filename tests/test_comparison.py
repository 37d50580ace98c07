"""Two cohorts: medians, intervals that are right as often as they say, tasks paired with themselves."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries.comparisons.bootstrap import FEWEST, RESAMPLES, SEED, Verdict, _medians, compare
from app.queries.comparisons.totals import Totals, TwoTotals
from app.text.words.totals import totals_words
from schemas.catalogue.cost_measures import BEST
from schemas.catalogue.metrics import FEWEST_VALUES
from tests.conftest import FILE, SAMPLES, Run, record_text

VALUES = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=40).map(lambda values: np.array(values, np.float64))


def array(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, np.float64)


def test_medians_their_difference_and_ratio_by_hand() -> None:
    found = compare(array(1, 2, 3, 4, 100), array(6, 5, 4, 7, 8, float("nan")))
    assert found is not None
    assert (found.known, found.medians, found.difference.value) == ((5, 5), (3, 6), 3)
    assert found.ratio is not None
    assert found.ratio.value == 2


@pytest.mark.parametrize("size", [5, 6, 25, 60])
def test_the_shortcut_is_the_bootstrap(size: int) -> None:
    """Medians drawn by rank have the distribution of medians of resamples: the quantiles agree within the noise of 10,000 draws."""
    values = np.sort(np.random.default_rng(7).lognormal(size=size))
    chance = np.random.default_rng(8)
    resampled = np.median(chance.choice(values, (RESAMPLES, size)), axis=1)
    by_rank = _medians(values, np.random.default_rng(SEED)).resampled
    steps = np.linspace(values[0], values[-1], 200)
    shares = [np.searchsorted(np.sort(one), steps, side="right") / RESAMPLES for one in (resampled, by_rank)]
    assert np.abs(shares[0] - shares[1]).max() < 0.025  # Kolmogorov and Smirnov's distance; 0.023 at a chance of 1 in 100


@pytest.mark.slow
def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    chance = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        found = compare(chance.lognormal(0, 1, 40), chance.lognormal(0.5, 1, 40))
        assert found is not None
        assert found.difference.low is not None
        assert found.difference.high is not None
        held += found.difference.low <= np.exp(0.5) - 1 <= found.difference.high
    assert 0.90 <= held / 200 <= 1.0


@pytest.mark.slow
@given(VALUES, VALUES)
def test_swapping_the_cohorts_swaps_the_sign(first: np.ndarray, second: np.ndarray) -> None:
    there, back = compare(first, second), compare(second, first)
    assert there is not None
    assert back is not None
    assert there.difference.value == -back.difference.value
    assert there.medians == back.medians[::-1]


@given(VALUES)
def test_a_cohort_does_not_differ_from_itself(values: np.ndarray) -> None:
    found = compare(values, values)
    assert found is not None
    assert found.verdict in (Verdict.UNCLEAR, Verdict.TOO_FEW)


def test_the_same_runs_give_the_same_interval_in_any_order() -> None:
    values = np.random.default_rng(1).lognormal(size=50)
    assert compare(values, values + 1) == compare(values[::-1], values[::-1] + 1)


def test_what_cannot_be_said_is_not_said() -> None:
    few = compare(array(1, 2, 3, 4), array(100, 200, 300, 400))
    assert few is not None
    assert (few.verdict, few.difference.low) == (Verdict.TOO_FEW, None)
    assert compare(array(), array(1)) is None
    assert compare(array(float("nan")), array(1)) is None
    zero = compare(np.zeros(FEWEST), np.ones(FEWEST))
    assert zero is not None
    assert zero.ratio is None


@pytest.mark.parametrize(("shift", "verdict"), [(5.0, Verdict.HIGHER), (-5.0, Verdict.LOWER), (0.0, Verdict.UNCLEAR)])
def test_a_clear_difference_is_called_one(shift: float, verdict: Verdict) -> None:
    values = np.random.default_rng(2).normal(100, 1, 100)
    found = compare(values, values + shift)
    assert found is not None
    assert found.verdict is verdict


def test_tasks_are_paired_with_themselves() -> None:
    """The second agent is a tenth slower on every task, which the spread between tasks hides from the medians."""
    first = {f"task {number}": 10.0**number for number in range(8)} | {"alone": 1.0}
    second = {task: 1.1 * value for task, value in first.items() if task != "alone"} | {"other": 5.0}
    found = compare(array(*first.values()), array(*second.values()), (first, second))
    assert found is not None
    assert found.verdict is Verdict.UNCLEAR
    assert found.paired is not None
    assert (found.paired.tasks, found.paired.lower, found.paired.higher) == (8, 0, 8)
    assert found.paired.ratio is not None
    assert found.paired.ratio.value == pytest.approx(1.1)
    assert found.paired.difference.is_beyond(0)


def totals(runs: int, usd: str | None, known: int = 4, verified: int | None = None) -> Totals:
    return Totals(runs, None if usd is None else Decimal(usd), known, verified)


@pytest.mark.parametrize(
    ("baseline", "candidate", "sentence"),
    [
        (
            totals(5, "2.00", 5, verified=1),
            totals(5, "2.36", 5, verified=2),
            "5 runs cost $2.36, +18.0% vs. $2.00 of 5 runs in the baseline; 2 verified speedups, 1 in the baseline.",
        ),
        (  # a percentage of fewer than five costs would be chance
            totals(1, "2.00", 1),
            totals(4, "1.00", 3, verified=0),
            "4 runs cost $1.00 (known for 3 of 4) vs. $2.00 of 1 run in the baseline; 0 verified speedups, unknown in the baseline.",
        ),
        (totals(0, None, 0), totals(4, "1.00"), "4 runs cost $1.00 vs. – of 0 runs in the baseline."),
        (totals(2, "0", 2), totals(4, "1.00"), "4 runs cost $1.00 vs. $0.0000 of 2 runs in the baseline."),
    ],
)
def test_totals_are_said_with_what_is_known_of_them(baseline: Totals, candidate: Totals, sentence: str) -> None:
    assert totals_words(TwoTotals(baseline, candidate, BEST, min(baseline.known, candidate.known) >= FEWEST_VALUES)) == sentence


@pytest.mark.slow
def test_a_baseline_may_be_another_store(tachograph: Run, filled: Path, tmp_path: Path) -> None:
    """With the same figures as if both were in one, and runs of both counted."""
    (tmp_path / "more.json").write_text(record_text())
    tachograph("ingest", "more.json", "--db", "next.duckdb", "--label", "branch=next")
    tachograph("ingest", "more.json", "--db", "both.duckdb", "--label", "branch=next")
    tachograph("ingest", str(SAMPLES), "--db", "both.duckdb", "--label", "branch=main")
    apart = tachograph("compare", "--base", FILE, "--db", "next.duckdb", "--format", "json")
    together = tachograph("compare", "label=branch=main", "label=branch=next", "--db", "both.duckdb", "--format", "json")
    assert apart.stdout == together.stdout != ""
    said = tachograph("compare", "--base", "both.duckdb", "label=branch=main", "", "--db", "next.duckdb", "--brief")
    assert said.stdout == "1 run cost $0.2500 vs. $2.83 of 3 runs in the baseline.\n"
    assert "1 run in both." in tachograph("compare", "--base", "both.duckdb", "--db", "next.duckdb").stderr
    assert [tachograph("compare", *words).returncode for words in (("label=branch=main",), ("--base", "nowhere.duckdb"))] == [2, 4]
