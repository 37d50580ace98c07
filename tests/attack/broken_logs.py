"""Broken logs for the reader of every agent, for some seconds each: `tests.fuzz.fuzz_readers` at length."""

from __future__ import annotations

import time

from tests.attack.lab import Lab
from tests.attack.tally import Tally
from tests.fuzz import seeds
from tests.fuzz.fuzz_readers import tried

CHECKED = "runs and rejects, every document counted, none slow, none a defect, and no more tokens where a log is cut off"


def attack(lab: Lab, seconds: int) -> None:
    """Throw broken logs at each reader for some seconds of CPU."""
    tally = lab.tally("broken logs of each agent", CHECKED)
    for reader in seeds.NAMES:
        _try(lab, tally, reader, seconds)


def _try(lab: Lab, tally: Tally, reader: str, seconds: int) -> None:
    """Failures of one kind are told once: a defect of a reader comes again with every tenth log."""
    chance, until = lab.chance(f"broken logs of {reader}"), time.process_time() + seconds
    kinds: set[str] = set()
    number = 0
    while not number or time.process_time() < until:
        number += 1
        said, data = tried(reader, chance)
        kind = said[-120:]
        with tally.attempt(f"python -m tests.attack --only readers --seed {lab.seed}, log {number} of {reader}: the file `log`") as folder:
            (folder / "log").write_bytes(data)
            assert not said or kind in kinds, said
        kinds.add(kind)
