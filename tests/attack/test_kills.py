"""A command that writes is struck at any moment: the store is as before or after, and the next call clears what was left (D2, D12)."""

from __future__ import annotations

import pytest

from tests.attack import kills
from tests.attack.lab import Lab

KILLS = 50


@pytest.mark.parametrize("seed", [0, 1])
def test_d2_d12_signals_at_random_moments_leave_the_store_as_before_or_after(lab: Lab, seed: int) -> None:
    """A hundred kills in all, in two halves that run side by side."""
    lab.seed = seed
    kills.attack(lab, KILLS)
    assert sum(tally.attempts for tally in lab.tallies) >= KILLS
    assert [str(failure) for tally in lab.tallies for failure in tally.failures] == []
