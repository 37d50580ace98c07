"""A disk fills up at several points of an ingest and a rebuild: the store stays as it was, and a sentence says why."""

from __future__ import annotations

from tests.attack import disk_full
from tests.attack.lab import Lab


def test_a_full_disk_leaves_the_store_as_before_and_is_told_in_a_sentence(lab: Lab) -> None:
    disk_full.attack(lab, attempts=2)
    assert [str(failure) for tally in lab.tallies for failure in tally.failures] == []
    bounded = [tally for tally in lab.tallies if tally.attack.startswith("files")]
    assert [tally.attempts for tally in bounded] == [2, 2, 2]
