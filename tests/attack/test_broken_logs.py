"""A few broken logs, as a line of the table."""

from __future__ import annotations

import pytest

from tests.attack import broken_logs
from tests.attack.lab import Lab
from tests.fuzz import fuzz_ingest
from tests.fuzz.fuzz_ingest import Wrong


@pytest.mark.parametrize(("found", "failures"), [([], 0), ([Wrong("traceback", "it broke", "0/wrk")], 1)])
def test_what_is_wrong_is_a_failure_and_its_input_kept(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, found: list[Wrong], failures: int
) -> None:
    monkeypatch.setattr(fuzz_ingest, "in_child", lambda *_: found)
    monkeypatch.setattr(broken_logs, "our_seeds", lambda: {"wrk": lambda: b"the log"})
    broken_logs.attack(lab, inputs=2)
    [tally] = lab.tallies
    assert (tally.attempts, len(tally.failures)) == (2, failures)
    assert len(list(tally.folder.rglob("traceback-wrk-1"))) == failures
