"""Broken logs of every reader and broken results of every measuring tool.

`tests.fuzz.fuzz_ingest` at length.
"""

from __future__ import annotations

from tests.attack.lab import Failure, Lab
from tests.fuzz.fuzz_ingest import our_seeds, tried

CHECKED = (
    "every document counted, every sum right, no value impossible, none over 20 s or 1 GiB, none "
    "a defect of a reader"
)


def attack(lab: Lab, inputs: int) -> None:
    """Try so many inputs. What is wrong is told once for each reader, and its first input kept."""
    tally = lab.tally("broken logs and results", CHECKED)
    found = tried(inputs, lab.seed, our_seeds(), tally.folder)
    tally.attempts = found.inputs.total()
    again = f"python -m tests.fuzz.fuzz_ingest {inputs} --seed {lab.seed}"
    tally.failures += [Failure(tally.attack, told, again, found.folder) for told in found.told]
