"""Hostile inputs within bounds, at a small size; at full size: `python -m tests.attack --only inputs`."""

from __future__ import annotations

from tests.attack import inputs
from tests.attack.hostile_inputs import FAMILIES
from tests.attack.lab import Lab


def test_hostile_inputs_are_read_within_bounds_and_harm_no_record_beside_them(lab: Lab) -> None:
    inputs.attack_at_once(lab, max(60, len(FAMILIES)), size=2_000)
    [tally] = lab.tallies
    assert [str(failure) for failure in tally.failures] == []
