"""Several ingests at once with readers, on a busy machine: all arrive, each once.

D8 shows at full size only: `python -m tests.attack --only writers`.
"""

from __future__ import annotations

import pytest

from tests.attack import writers
from tests.attack.lab import Lab


@pytest.mark.thorough
def test_ingests_at_once_all_arrive_and_each_counts_once(lab: Lab) -> None:
    writers.attack(lab, writers=5, busy=2)
    [tally] = lab.tallies
    assert (tally.attempts, [str(failure) for failure in tally.failures]) == (5, [])
