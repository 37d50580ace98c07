"""The extractor of claims holds its line on texts that it was not made from (tests/labelled/README.md)."""

from __future__ import annotations

from functools import cache

import pytest

from ingest.claims import extract
from schemas.claim import ClaimMetric
from tests.labelled.scoring import SPEEDUPS, Score, score
from tests.labelled.texts import labelled_texts


@cache
def scored(metrics: frozenset[ClaimMetric] = frozenset(ClaimMetric)) -> Score:
    return score(labelled_texts(), extract, metrics)


def test_f1_of_speedups() -> None:
    assert scored(SPEEDUPS).f1 >= 0.90


def test_f1_of_all_claims() -> None:
    assert scored().f1 >= 0.85


def test_precision() -> None:
    assert scored().precision >= 0.92


def test_hardly_any_text_without_a_claim_raises_an_alarm() -> None:
    assert scored().false_alarms <= 0.05


@pytest.mark.parametrize(
    ("field", "least"), [("metric", 0.90), ("direction", 0.97), ("evidence", 0.70), ("scope", 0.50), ("hedged", 0.95), ("origin", 0.97)]
)
def test_fields_of_the_claims_that_are_found(field: str, least: float) -> None:
    """Evidence and scope are what two careful readers differ on most, so their lines lie lower."""
    assert scored().accuracy(field) >= least
