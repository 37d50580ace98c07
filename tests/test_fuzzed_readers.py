"""Broken logs of every agent, a few of each: `python -m tests.fuzz.fuzz_readers` tries as many as there is time for."""

from __future__ import annotations

import random

import pytest

from ingest.agents.all_readers import READERS
from ingest.agents.unread import UnreadLogs
from tests.fuzz import seeds
from tests.fuzz.fuzz_readers import read, tried

LOGS = 12
CUTS = 8


def test_every_reader_has_a_log() -> None:
    assert {name.partition(",")[0] for name in seeds.NAMES} == {reader.__name__ for reader in READERS if reader is not UnreadLogs}


@pytest.mark.slow
@pytest.mark.parametrize("reader", seeds.NAMES)
def test_a_broken_log_is_runs_and_rejects_and_every_document_counts(reader: str) -> None:
    result, kept = read(seeds.seed(reader))
    assert result.run_ids, "the log that is right"
    assert not kept.rejects
    for number in range(LOGS):
        said, data = tried(reader, random.Random(f"{reader} {number}"))
        assert not said, (said, data)


@pytest.mark.parametrize("reader", seeds.NAMES)
def test_a_log_that_is_cut_is_part_of_its_runs_and_at_most_one_reject(reader: str) -> None:
    """Never a run that is not there, nor a greater sum; and what is rejected is what was cut."""
    data = seeds.seed(reader)
    whole = read(data)[1]
    for number in range(1, CUTS):
        kept = read(data[: len(data) * number // CUTS])[1]
        assert len(kept.runs) <= len(whole.runs)
        assert kept.tokens() <= whole.tokens()
        assert len(kept.rejects) <= 1
