"""The extractor of claims stays as good as it is on the labelled texts: each bound is what holds, less than one claim below.

It was tuned on them, so their figures say that nothing broke, not how good it is on other texts: tests/labelled/README.md tells that.
"""

from __future__ import annotations

from functools import cache

import pytest

from ingest.claims import extract
from schemas.rows.claim import ClaimMetric
from tests.labelled.scoring import SPEEDUPS, Score, score
from tests.labelled.texts import labelled_texts


@cache
def scored(metrics: frozenset[ClaimMetric] = frozenset(ClaimMetric)) -> Score:
    return score(labelled_texts(), extract, metrics)


def test_f1_of_speedups() -> None:
    assert scored(SPEEDUPS).f1 >= 0.988


def test_f1_of_all_claims() -> None:
    assert scored().f1 >= 0.992


def test_precision() -> None:
    assert scored().precision >= 0.993


def test_recall() -> None:
    """One more claim that is missed is 0.0037."""
    assert scored().recall >= 0.989


def test_no_text_without_a_claim_raises_an_alarm() -> None:
    assert scored().false_alarms == 0


@pytest.mark.parametrize(
    ("field", "least"),
    [("metric", 0.977), ("direction", 0.999), ("evidence", 0.918), ("scope", 0.68), ("hedged", 0.973), ("origin", 0.996)],
)
def test_fields_of_the_claims_that_are_found(field: str, least: float) -> None:
    """Scope is what two careful readers differ on most, so its line lies lower."""
    assert scored().accuracy(field) >= least
