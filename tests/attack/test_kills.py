"""A command that writes is struck at any moment: the store is as before or after, and the next call clears what was left (D2, D12)."""

from __future__ import annotations

from tests.attack import kills
from tests.attack.lab import Lab

KILLS = 6
"""One of each command of `kills`: more find nothing that these do not, unless they are a hundred times as many. Signals that ask a command
to end come at 18 moments in `tests/test_interrupts.py`."""


def test_d2_kills_at_random_moments_leave_the_store_as_before_or_after(lab: Lab) -> None:
    """A thousand kills: `python -m tests.attack --only kills`."""
    kills.attack(lab, KILLS)
    assert sum(tally.attempts for tally in lab.tallies) >= KILLS
    assert [str(failure) for tally in lab.tallies for failure in tally.failures] == []
