"""What follows from a loop's experiments: improvements, best, gain, noise, cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries.loop_costs import LoopCosts, TryCost
from app.queries.loop_statistics import LoopProgress, NoiseFrom
from app.queries.loops import (
    LoopAnswer,
    LoopVerdict,
    _tell_apart,
    analysed,
    ordered,
    summary,
)
from app.text.loops import about, heading_of
from ingest.loops.base import Experiment, Loop, loop_tables
from ingest.loops.words import (
    baseline_first,
    better_by_decisions,
    better_by_name,
    number,
    state_of,
    with_repeats,
)
from schemas.rows.loop import State
from schemas.units import Better

Value = float | None


def answer_of(
    *experiments: tuple[State, Value],
    better: Better = Better.LOWER,
    costs: LoopCosts | None = None,
    peers: Sequence[float] = (),
    **loop: Any,
) -> LoopAnswer:
    """Analyse a loop as the store would have it."""
    tries = [
        Experiment(state=state, value=value, label=f"run {place}")
        for place, (state, value) in enumerate(experiments, 1)
    ]
    made = loop_tables(
        [Loop(experiments=loop.pop("tries", tries), better=better, metric="loss", **loop)],
        "source",
        "results table",
    )
    [row] = made.loops.to_pylist()
    row |= {
        "loop_id": "12345678",
        "source_name": "/work/ntt/results.tsv",
        "first_at": None,
        "last_at": None,
        "modified_ns": None,
    }
    return analysed(row, made.experiments.to_pylist(), costs or LoopCosts(), peers)


B, K, D, C = State.BASELINE, State.KEPT, State.DISCARDED, State.CRASHED


def test_an_improvement_is_kept_and_better_than_all_that_was_kept() -> None:
    answer = answer_of((B, 10.0), (K, 9.0), (D, 7.0), (K, 9.5), (C, None), (K, 8.0))
    assert [one.is_improvement for one in answer.tries] == [False, True, False, False, False, True]
    assert (answer.improvements, answer.best, answer.best_at, answer.baseline) == (2, 8.0, 6, 10.0)
    assert answer.gain_pct == pytest.approx(20.0)
    assert [one.running_best for one in answer.tries] == [10.0, 9.0, 9.0, 9.0, 9.0, 8.0]
    assert (answer.counts[K], answer.counts[D], answer.counts[C]) == (3, 1, 1)


def test_a_baseline_that_the_log_tells_apart_is_place_0() -> None:
    answer = answer_of((D, 11.0), (D, 12.0), baseline=10.0)
    assert (answer.best, answer.best_at, answer.improvements, answer.gain_pct) == (10.0, 0, 0, 0.0)
    assert str(answer.gain_pct) == "0.0", "lower is better, but no gain is not −0.00%"


def test_without_a_direction_nothing_is_said_but_counts() -> None:
    answer = answer_of((B, 10.0), (K, 9.0), better=Better.UNKNOWN)
    assert (answer.improvements, answer.best, answer.gain_pct, answer.counts[K]) == (
        None,
        None,
        None,
        1,
    )
    assert "does not say whether higher or lower is better" in " ".join(about(answer))


def test_a_gain_below_the_noise_of_repeated_baselines_is_inside_it() -> None:
    answer = answer_of(
        (D, 2741.1),
        (K, 2726.2),
        *[(D, 2760.0)] * 21,
        baseline=2754.2,
        peers=(2706.3, 2700.9, 2685.2),
        name="NTT prover",
    )
    assert answer.noise is not None
    assert (answer.noise.source, answer.noise.degrees) == (NoiseFrom.REPEATS, 3)
    assert (answer.beyond_noise, answer.gain_verdict, answer.state) == (
        0,
        LoopVerdict.INSIDE,
        LoopProgress.STUCK,
    )
    assert heading_of(answer) == "NTT prover: 1 of 23 tries kept, +1.0%, inside noise (2.5%)"


def test_a_step_from_code_that_was_kept_when_measured_again_is_judged() -> None:
    tries = [
        Experiment(state=B, value=100.0),
        Experiment(state=K, value=50.0),
        Experiment(state=K, value=49.9, repeats=2),
        Experiment(state=State.OTHER, value=50.1, repeats=2),
        Experiment(state=K, value=25.0),
    ]
    verdicts = [one.verdict for one in answer_of(tries=tries).tries]
    assert verdicts[2:] == [LoopVerdict.INSIDE, None, LoopVerdict.BEYOND]


def test_one_measurement_of_each_code_says_nothing_of_noise() -> None:
    answer = answer_of((B, 10.0), (K, 9.0))
    assert (answer.noise, answer.beyond_noise, answer.gain_verdict) == (
        None,
        None,
        LoopVerdict.UNKNOWN,
    )


def test_equal_repeats_make_every_step_real() -> None:
    tries = [
        Experiment(state=B, value=4867.0),
        Experiment(state=State.OTHER, value=4867.0, repeats=1),
        Experiment(state=State.OTHER, value=4867.0, repeats=1),
        Experiment(state=K, value=4866.0),
    ]
    answer = answer_of(tries=tries)
    assert (answer.beyond_noise, answer.gain_verdict) == (1, LoopVerdict.BEYOND)
    assert answer_of(tries=tries[1:]).noise is None, "two equal values may be chance"


def test_the_same_code_measured_again_is_no_step() -> None:
    tries = [
        Experiment(state=B, value=10.0, commit="a1b2c3d"),
        Experiment(state=K, value=9.0, repeats=1),
    ]
    answer = answer_of(tries=tries)
    assert (answer.improvements, answer.beyond_noise, answer.tries[1].verdict) == (
        1,
        0,
        LoopVerdict.INSIDE,
    )


def test_a_search_without_decisions_comes_to_a_plateau() -> None:
    """Its tries without a better score have no word.

    One with a word that is not known may never have been measured.
    """
    scores = [(B, 1.0), (K, 2.0), *[(State.OTHER, 1.5)] * 30]
    answer = answer_of(*scores, better=Better.HIGHER)
    assert (answer.measured, answer.state) == (31, LoopProgress.PLATEAUING)
    tries = [
        Experiment(state=state, value=value, word="parked" if state is State.OTHER else None)
        for state, value in scores
    ]
    answer = answer_of(tries=tries, better=Better.HIGHER)
    assert (answer.measured, answer.state) == (1, LoopProgress.IMPROVING)


def test_cost_per_improvement_is_never_a_division_by_nothing() -> None:
    spent = LoopCosts(
        {1: TryCost(Decimal(0), None, "r", "e"), 2: TryCost(Decimal(4), 10, "r", "e")},
        total_usd=Decimal(6),
        basis="exact",
    )
    none = answer_of((B, 10.0), (D, 11.0), costs=spent)
    assert summary(none)["cost_per_improvement"] is None
    assert none.usd_since_improvement == 4
    one = answer_of((B, 10.0), (K, 9.0), costs=spent)
    assert summary(one)["cost_per_improvement"] == 6
    assert summary(one)["usd_per_percent"] == Decimal("0.6")
    assert one.usd_since_improvement == 0


def test_loops_are_sorted_by_gain_and_by_what_it_cost_and_those_without_come_last() -> None:
    cheap, dear = (
        LoopCosts(total_usd=Decimal(2), basis="exact"),
        LoopCosts(total_usd=Decimal(9), basis="upper_bound"),
    )
    unknown = answer_of((K, 1.0), better=Better.UNKNOWN)
    small, large, free = (
        answer_of((B, 10.0), (K, 9.0), costs=cheap),
        answer_of((B, 10.0), (K, 5.0), costs=dear),
        answer_of((B, 2.0), (K, 1.5)),
    )
    every = [unknown, small, large, free]
    assert ordered(every, "gain") == [large, free, small, unknown]
    assert ordered(every, "cost") == [large, small, unknown, free]
    assert ordered(every, "per-improvement") == [small, large, unknown, free]
    assert ordered(every, "per-percent") == [large, small, unknown, free]


def test_equal_names_are_told_apart_by_what_differs() -> None:
    def named(*rows: dict[str, Any]) -> list[str]:
        answers = [answer_of((B, 1.0), name="Sorting") for _ in rows]
        for answer, row in zip(answers, rows, strict=True):
            answer.row = {**answer.row, **row}
        _tell_apart(answers)
        return [one.name for one in answers]

    assert named({}) == ["Sorting"]
    assert named({"metric": "ms"}, {"metric": "bytes"}) == ["Sorting · ms", "Sorting · bytes"]
    assert named({"source_name": "a/run1/x.log"}, {"source_name": "a/run2/x.log"}) == [
        "Sorting · run1",
        "Sorting · run2",
    ]
    assert named({"segment": 0}, {"segment": 1}) == ["Sorting · part 1", "Sorting · part 2"]
    assert named({"loop_id": "a"}, {"loop_id": "b"}, {"loop_id": "c", "metric": "ms"}) == [
        "Sorting · a",
        "Sorting · b",
        "Sorting · c",
    ]


def test_a_log_with_the_best_only_has_no_counts() -> None:
    answer = answer_of((State.OTHER, 135.8), better=Better.HIGHER, is_history=False)
    assert (answer.experiments, answer.counts[K], answer.best, answer.gain_pct) == (
        None,
        None,
        135.8,
        None,
    )


@given(
    st.lists(st.tuples(st.sampled_from([K, D, C]), st.floats(0.1, 1e6)), max_size=30),
    st.floats(0.1, 1e6),
)
def test_turning_the_metric_around_turns_nothing_else(
    tries: list[tuple[State, float]], first: float
) -> None:
    lower = answer_of((B, first), *tries)
    higher = answer_of(
        (B, 1 / first), *[(state, 1 / value) for state, value in tries], better=Better.HIGHER
    )
    assert [one.is_improvement for one in lower.tries] == [
        one.is_improvement for one in higher.tries
    ]
    assert (lower.improvements, lower.best_at, lower.state) == (
        higher.improvements,
        higher.best_at,
        higher.state,
    )


@given(
    st.lists(st.tuples(st.sampled_from([K, D, C]), st.floats(0.1, 1e6)), max_size=30),
    st.integers(0, 30),
)
def test_what_was_found_stays_when_a_loop_goes_on(
    tries: list[tuple[State, float]], cut: int
) -> None:
    whole, part = answer_of((B, 5.0), *tries), answer_of((B, 5.0), *tries[:cut])
    assert [one.is_improvement for one in whole.tries][: cut + 1] == [
        one.is_improvement for one in part.tries
    ]
    assert (whole.improvements or 0) >= (part.improvements or 0)


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("val_bpb", Better.LOWER), ("roc_auc", Better.HIGHER), ("tok_per_sec", Better.HIGHER), ("time_us", Better.LOWER),  # noqa: E501
        ("primary_f05", Better.HIGHER), ("total_words", Better.LOWER), ("throughput_tflops", Better.HIGHER),  # noqa: E501
        ("latency_p99_ms", Better.LOWER),
        ("frobnication", Better.UNKNOWN), ("generations_per_s", Better.HIGHER),
    ],
)  # fmt: skip
def test_the_direction_that_a_name_tells(name: str, better: Better) -> None:
    assert better_by_name(name) == better


def test_decisions_tell_a_direction_only_if_they_agree() -> None:
    falling = [
        Experiment(state=B, value=9.0),
        *(Experiment(state=K, value=value) for value in (7.0, 5.0, 4.0)),
    ]
    assert better_by_decisions(falling) == Better.LOWER
    assert better_by_decisions(falling[:2]) == Better.LOWER
    assert better_by_decisions(falling[:1]) == Better.UNKNOWN
    worse = [Experiment(state=D, value=value) for value in (9.5, 9.8, 10.0)]
    assert better_by_decisions([falling[0], *worse]) == Better.UNKNOWN
    assert better_by_decisions([falling[0], *worse, falling[2]]) == Better.LOWER
    assert (
        better_by_decisions([falling[0], *(replace(one, value=6.0) for one in worse), falling[2]])
        == Better.UNKNOWN
    )
    assert better_by_decisions([falling[0], falling[1], falling[0], falling[1]]) == Better.UNKNOWN


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("~1890", 1890.0),
        ("1,024", 1024.0),
        ("12.5 %", 12.5),
        ("+3.1", 3.1),
        ("-", None),
        ("n/a", None),
        ("1e-3", 0.001),
        ("nan", None),
        (True, None),
    ],
)
def test_numbers_in_cells(cell: object, value: float | None) -> None:
    assert number(cell) == value


def test_an_unknown_word_is_never_kept() -> None:
    assert [
        state_of(word) for word in ("KEEP", " discard ", "OOM", "tentative", "keep-candidate", None)
    ] == [
        K,
        D,
        C,
        State.OTHER,
        State.OTHER,
        State.OTHER,
    ]


def test_the_first_kept_row_is_the_baseline() -> None:
    found = baseline_first(
        [Experiment(state=C), Experiment(state=K, value=3.0), Experiment(state=K, value=2.0)]
    )
    assert [one.state for one in found] == [C, B, K]


def test_a_discarded_try_with_the_commit_it_began_from_repeats_nothing() -> None:
    tries = [
        Experiment(state=B, value=3.0, commit="a1b2c3d"),
        Experiment(state=D, value=3.2, commit="a1b2c3d", description="wider tile"),
        Experiment(state=State.OTHER, value=3.1, commit="a1b2c3d", description="again"),
        Experiment(state=D, value=3.05, description="re-run baseline for noise"),
    ]
    assert [one.repeats for one in with_repeats(tries)] == [None, None, 1, 1]


def test_a_copy_of_a_log_has_the_same_fingerprints_and_an_edited_row_keeps_its_own() -> None:
    row = Experiment(state=K, value=0.99, commit="b2c3d4e", description="Increase LR")
    assert (
        row.fingerprint()
        == Experiment(
            state=D, value=0.97, commit="B2C3D4E", description="increase  lr "
        ).fingerprint()
    )
    baselines = [
        Experiment(state=B, value=value, commit="b2c3d4e", description="baseline").fingerprint()
        for value in (1.0, 1.1)
    ]
    assert baselines[0] != baselines[1]
