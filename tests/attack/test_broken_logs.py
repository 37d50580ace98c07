"""A few broken logs of each reader, as a line of the table."""

from __future__ import annotations

import pytest

from tests.attack import broken_logs
from tests.attack.lab import Lab
from tests.fuzz import seeds


def test_a_log_of_each_reader_is_tried(lab: Lab) -> None:
    broken_logs.attack(lab, seconds=0)
    [tally] = lab.tallies
    assert (tally.attempts, tally.failures) == (len(seeds.NAMES), [])


def test_a_log_that_is_read_wrongly_is_a_failure_and_kept(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broken_logs, "tried", lambda *_: ("it is slow", b"the log"))
    broken_logs.attack(lab, seconds=0)
    failure = lab.tallies[0].failures[0]
    assert (failure.what, (failure.folder / "log").read_bytes()) == ("it is slow", b"the log")
