"""What all attacks share: where they work, the seed of their chances, the fork server, the hasher, and the tallies they fill."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from tests.attack.hashes import Hasher
from tests.attack.tally import Tally
from tests.forks import Forks


@dataclass
class Lab:
    """One run of attacks. All chance comes from `seed`."""

    folder: Path
    forks: Forks
    seed: int = 0
    hasher: Hasher = field(default_factory=Hasher)
    tallies: list[Tally] = field(default_factory=list)

    def tally(self, attack: str, checked: str) -> Tally:
        """A new line of the table."""
        self.tallies.append(Tally(attack, checked, self.folder / f"{len(self.tallies):02}-{''.join(filter(str.isalnum, attack))[:40]}"))
        return self.tallies[-1]

    def chance(self, name: str) -> random.Random:
        """Random numbers of one attack: the same for the same seed, whatever other attacks run."""
        return random.Random(f"{self.seed} {name}")

    def room(self, name: str) -> Path:
        """A new folder for what an attack prepares."""
        made = self.folder / f"{name}-{len(list(self.folder.glob(f'{name}-*')))}"
        made.mkdir(parents=True)
        return made
