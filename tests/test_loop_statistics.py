"""What may be said of a noisy loop.

Against a worked example, and by simulation of loops whose tries change nothing.
"""

from __future__ import annotations

import math
import random
import statistics

import pytest
from scipy import stats

from app.queries.loop_statistics import (
    LoopProgress,
    Noise,
    NoiseFrom,
    discarded_noise,
    is_beyond,
    luckiest,
    lucky_records,
    progress,
    repeat_noise,
    t_for,
    told_noise,
    z_for,
)


def test_four_measurements_of_one_baseline_give_the_noise_of_a_step() -> None:
    noise = repeat_noise(
        [[-math.log(value) for value in (2754.2, 2706.3, 2700.9, 2685.2)]], is_log=True
    )
    assert noise is not None
    assert noise.sigma == pytest.approx(0.0109, abs=1e-4)
    assert noise.degrees == 3
    assert not noise.is_rough
    assert noise.step() == pytest.approx(0.0257, abs=2e-4)
    assert not is_beyond(math.log(2754.2 / 2726.2), noise, tries=1)
    assert not is_beyond(math.log(2754.2 / 2500), noise, tries=23), (
        "four measurements tell the noise roughly"
    )
    assert is_beyond(math.log(2754.2 / 2300), noise, tries=23)


@pytest.mark.parametrize(
    ("tries", "z", "records", "luck"),
    [(10, 2.58, 2.0, 1.55), (20, 2.81, 2.6, 1.87), (50, 3.09, 3.5, 2.24), (100, 3.29, 4.2, 2.50)],
)
def test_luck_grows_with_the_number_of_tries(
    tries: int, z: float, records: float, luck: float
) -> None:
    assert z_for(tries) == pytest.approx(z, abs=0.01)
    assert lucky_records(tries) == pytest.approx(records, abs=0.06)
    assert luckiest(tries) == pytest.approx(luck, abs=0.01)


def test_tries_without_any_effect_look_like_progress_as_often_as_said() -> None:
    dice = random.Random(4)
    loops, tries, sigma = 4_000, 20, 0.01
    noise = Noise(sigma, NoiseFrom.REPEATS, 30)
    records, wrong, best_of = [], 0, []
    for _ in range(loops):
        values = [dice.gauss(0, sigma) for _ in range(tries + 1)]
        held, found = values[0], 0
        for value in values[1:]:
            found += value > held
            held = max(held, value)
        records.append(found)
        wrong += any(is_beyond(value - values[0], noise, tries) for value in values[1:])
        best_of.append(max(values[1:]) / sigma)
    assert statistics.fmean(records) == pytest.approx(lucky_records(tries), rel=0.05)
    assert statistics.fmean(best_of) == pytest.approx(luckiest(tries), rel=0.02)
    assert wrong / loops < 0.05


def test_equal_repeats_mean_that_nothing_is_noise() -> None:
    assert repeat_noise([[4.0, 4.0], [2.0]], is_log=True) is None, "chance may do that once"
    noise = repeat_noise([[4.0, 4.0, 4.0], [2.0]], is_log=True)
    assert noise is not None
    assert noise.sigma == 0
    assert is_beyond(1e-9, noise, tries=500)
    assert not is_beyond(0.0, noise, tries=1)


def test_no_repeats_say_nothing() -> None:
    assert repeat_noise([[1.0], [2.0], []], is_log=True) is None
    assert told_noise(None, is_log=True) is None
    assert discarded_noise([0.1, 0.2, 0.3, 0.2], is_log=True) is None
    assert discarded_noise([0.1] * 9, is_log=True) is None


def test_a_told_floor_is_the_step_that_it_tells() -> None:
    noise = told_noise(0.02, is_log=True)
    assert noise is not None
    assert noise.step() == pytest.approx(0.02)


def test_discarded_tries_estimate_the_noise_in_spite_of_a_few_real_losses() -> None:
    dice = random.Random(1)
    distances = [dice.gauss(-0.01, 0.003) for _ in range(40)] + [-0.4, -0.9, -0.2]
    noise = discarded_noise(distances, is_log=True)
    assert noise is not None
    assert noise.sigma == pytest.approx(0.003, rel=0.4)
    assert noise.is_rough


@pytest.mark.parametrize(
    ("tries", "since", "failed", "state"),
    [
        (0, None, 0, None),
        (9, None, 3, None),
        (10, None, 0, LoopProgress.STUCK),
        (12, 3, 0, LoopProgress.IMPROVING),
        (12, 10, 0, LoopProgress.PLATEAUING),
        (90, 29, 0, LoopProgress.IMPROVING),
        (90, 30, 0, LoopProgress.PLATEAUING),
        (40, 2, 10, LoopProgress.STUCK),
    ],
)
def test_a_loop_improves_plateaus_or_is_stuck(
    tries: int, since: int | None, failed: int, state: LoopProgress | None
) -> None:
    assert progress(tries, since, failed) == state


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 30, 200])
@pytest.mark.parametrize("tries", [1, 5, 30, 500])
def test_students_quantile_is_that_of_scipy(degrees: int, tries: int) -> None:
    assert t_for(tries, degrees) == pytest.approx(
        float(stats.t.ppf(1 - 0.05 / tries, degrees)), rel=2e-3
    )


@pytest.mark.parametrize("repeats", [2, 4, 8])
def test_luck_passes_in_less_than_one_of_twenty_loops_however_roughly_the_noise_is_known(
    repeats: int,
) -> None:
    dice = random.Random(repeats)
    loops, tries, sigma = 2_000, 30, 0.005
    wrong = 0
    for _ in range(loops):
        noise = repeat_noise([[dice.gauss(0, sigma) for _ in range(repeats)]], is_log=True)
        assert noise is not None
        held = dice.gauss(0, sigma)
        wrong += any(is_beyond(dice.gauss(0, sigma) - held, noise, tries) for _ in range(tries))
    assert wrong / loops < 0.05
