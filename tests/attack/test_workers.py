"""Workers and their parent are killed: nothing is half written, nobody lives on, the next ingest is whole."""

from __future__ import annotations

import pytest

from tests.attack import workers
from tests.attack.lab import Lab


@pytest.mark.thorough
def test_a_killed_worker_or_parent_leaves_nothing_half_written(lab: Lab) -> None:
    workers.attack(lab, strikes=1)
    assert [tally.attempts for tally in lab.tallies] == [1, 1]
    assert [str(failure) for tally in lab.tallies for failure in tally.failures] == []
