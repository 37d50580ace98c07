"""The scorer of claims on cases small enough to score by hand: what counts as right, what costs, and that worse is lower."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from schemas.rows.claim import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope
from tests.labelled.scoring import FIELDS, SPEEDUPS, Score, Verdict, judge
from tests.labelled.texts import Label, LabelledText


@dataclass(frozen=True)
class Guess:
    start: int
    end: int
    ratio: float | None = 2.0
    kind: ClaimKind = ClaimKind.QUANTIFIED
    metric: ClaimMetric = ClaimMetric.TIME
    direction: Direction = Direction.BETTER
    evidence: Evidence = Evidence.STATED
    scope: Scope = Scope.UNSPECIFIED
    hedged: bool = False
    origin: Origin = Origin.OWN


LABEL = Label(
    start=10,
    end=20,
    ratio=2.0,
    metric=ClaimMetric.TIME,
    direction=Direction.BETTER,
    evidence=Evidence.STATED,
    scope=Scope.UNSPECIFIED,
    hedged=False,
    origin=Origin.OWN,
)


def label(**changes: object) -> Label:
    return LABEL.model_copy(update=changes)


def verdict(labels: list[Label], guesses: list[Guess], metrics: frozenset[ClaimMetric] = frozenset(ClaimMetric)) -> Verdict:
    return judge(LabelledText(id="x", kind="x", text="." * 1000, claims=tuple(labels)), guesses, metrics)


def counts(labels: list[Label], guesses: list[Guess]) -> tuple[float, float, float]:
    """Right, wanted and wrong."""
    result = verdict(labels, guesses)
    return result.right, result.wanted, result.wrong


@pytest.mark.parametrize(
    ("guess", "expected"),
    [
        (Guess(10, 20), (1, 1, 0)),
        (Guess(19, 40), (1, 1, 0)),  # one shared character is enough
        (Guess(20, 30), (0, 1, 1)),  # beside it: missed, and a stray
        (Guess(10, 20, ratio=2.039), (1, 1, 0)),
        (Guess(10, 20, ratio=2.041), (0, 1, 1)),
        (Guess(10, 20, ratio=1.962), (1, 1, 0)),
        (Guess(10, 20, ratio=1.959), (0, 1, 1)),
        (Guess(10, 20, ratio=0.5), (0, 1, 1)),  # better taken for worse
        (Guess(10, 20, ratio=0.0), (0, 1, 1)),
        (Guess(10, 20, ratio=None), (0, 1, 1)),
        (Guess(10, 20, kind=ClaimKind.QUALITATIVE), (0, 1, 0)),  # passed over: missed, but no stray
    ],
)
def test_one_claim_and_one_prediction(guess: Guess, expected: tuple[float, float, float]) -> None:
    assert counts([LABEL], [guess]) == expected


def test_the_second_reading_of_a_percentage_is_right_too() -> None:
    forty_percent_faster = label(ratio=1.4, ratio_alt=1.6667)
    assert counts([forty_percent_faster], [Guess(10, 20, ratio=1.4)]) == (1, 1, 0)
    assert counts([forty_percent_faster], [Guess(10, 20, ratio=1.667)]) == (1, 1, 0)
    assert counts([forty_percent_faster], [Guess(10, 20, ratio=1.5)]) == (0, 1, 1)


def test_each_claim_is_found_once() -> None:
    assert counts([LABEL], [Guess(10, 20), Guess(12, 18)]) == (1, 1, 1)


def test_the_right_ratio_is_matched_before_the_larger_overlap() -> None:
    neighbours = [LABEL, label(start=20, end=30, ratio=5.0)]
    assert counts(neighbours, [Guess(14, 30), Guess(10, 22, ratio=5.0)]) == (2, 2, 0)


def test_optional_claims_are_neither_asked_for_nor_punished() -> None:
    borderline = label(optional=True)
    assert counts([borderline], []) == (0, 0, 0)
    assert counts([borderline], [Guess(10, 20)]) == (0, 0, 0)
    assert counts([borderline], [Guess(10, 20, ratio=77.0)]) == (0, 0, 0)
    assert counts([borderline], [Guess(30, 40)]) == (0, 0, 1)


def test_a_long_table_weighs_eight_claims() -> None:
    rows = [label(start=20 * row, end=20 * row + 10) for row in range(1, 17)]
    guesses = [Guess(row.start, row.end) for row in rows]
    assert counts(rows, guesses) == (8, 8, 0)
    assert counts(rows, guesses[:8]) == (4, 8, 0)
    assert counts([], guesses) == (0, 0, 8)


def test_speedups_are_time_and_throughput() -> None:
    both = [LABEL, label(start=30, end=40, metric=ClaimMetric.SIZE)]
    size = Guess(30, 40, metric=ClaimMetric.SIZE)
    alone = verdict(both, [size], SPEEDUPS)
    assert (alone.right, alone.wanted, alone.wrong) == (0, 1, 0)
    mistaken = verdict(both, [Guess(10, 20), replace(size, metric=ClaimMetric.TIME)], SPEEDUPS)
    assert (mistaken.right, mistaken.wanted, mistaken.wrong) == (1, 1, 0)


def test_a_false_alarm_needs_a_text_without_any_claim() -> None:
    texts = [([], [Guess(0, 5)]), ([], []), ([label(optional=True)], [Guess(500, 505)])]
    result = Score(tuple(verdict(labels, guesses) for labels, guesses in texts))
    assert result.false_alarms == 0.5
    assert [miss.what for miss in result.misses] == ["stray", "stray"]


def test_precision_recall_and_f1_by_hand() -> None:
    claims = [LABEL, label(start=30, end=40), label(start=50, end=60)]
    guesses = [Guess(10, 20), Guess(30, 40, ratio=9.0), Guess(100, 110), Guess(120, 130)]
    result = Score((verdict(claims, guesses),))
    assert (result.precision, result.recall) == (1 / 4, 1 / 3)
    assert result.f1 == pytest.approx(2 / 7)
    assert [(miss.what, miss.wanted, miss.got) for miss in result.misses] == [
        ("missed", 2.0, None),
        ("ratio", 2.0, 9.0),
        ("stray", None, 2.0),
        ("stray", None, 2.0),
    ]


def test_fields_are_judged_where_the_ratio_is_right() -> None:
    guesses = [Guess(10, 20, hedged=True), Guess(30, 40, ratio=9.0, scope=Scope.MICRO)]
    result = Score((verdict([LABEL, label(start=30, end=40)], guesses),))
    assert {field: result.accuracy(field) for field in FIELDS} == {field: float(field != "hedged") for field in FIELDS}
