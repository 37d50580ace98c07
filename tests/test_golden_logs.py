"""Every log of `tests/logs` is read as the file beside it says."""

from __future__ import annotations

from functools import cache

import pytest

from tests import golden_logs
from tests.golden_logs import EXPECTED, LOGS, expected_path, store_of

pytestmark = pytest.mark.slow

CASES = [(folder, case) for folder in golden_logs.folders() for case in golden_logs.cases(folder)]


@cache
def read_now(number: int) -> dict[golden_logs.Case, str]:
    return golden_logs.read_now(number, golden_logs.folders())


@pytest.mark.parametrize(
    ("folder", "case"),
    [
        pytest.param(
            *one, id="/".join(one), marks=pytest.mark.xdist_group(f"golden-{store_of(*one)}")
        )
        for one in CASES
    ],
)
def test_a_log_is_read_as_expected(folder: str, case: str) -> None:
    expected = expected_path(folder, case).read_text(encoding="utf-8")
    found = read_now(store_of(folder, case)).get((folder, case), "{}\n")
    assert found.splitlines() == expected.splitlines()


def test_every_expectation_has_its_log() -> None:
    expected = sorted(LOGS.rglob(f"*{EXPECTED}"))
    assert expected == sorted(expected_path(*case) for case in CASES)
