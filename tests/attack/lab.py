"""What all attacks share.

Where they work, the seed of their chances, and the tallies they fill and print as a table.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.attack.hashes import Hasher
from tests.forks import Forks


@dataclass(frozen=True)
class Failure:
    """One attempt that broke a promise. `again` says what was done; `folder` holds what it left."""

    attack: str
    what: str
    again: str
    folder: Path

    def __str__(self) -> str:
        return f"{self.attack}: {self.what}\n    reproduce: {self.again}\n    kept: {self.folder}"


class Tally:
    """Attempts of one attack. `checked` says in words what was asserted after each."""

    def __init__(self, attack: str, checked: str, folder: Path) -> None:
        self.attack = attack
        self.checked = checked
        self.folder = folder
        self.attempts = 0
        self.failures: list[Failure] = []
        self.seconds = 0.0
        self.skipped = ""
        """Why this machine does not allow the attack; empty where it does."""

    @contextmanager
    def attempt(self, again: str) -> Iterator[Path]:
        """A new folder for one attempt.

        Any exception within is a failure: it is told, and the folder is kept.
        """
        self.attempts += 1
        folder = self.folder / f"{self.attempts:04}"
        folder.mkdir(parents=True)
        started = time.monotonic()
        try:
            yield folder
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            self.failures.append(Failure(self.attack, f"{kind}{error}", again, folder))
            print(self.failures[-1], file=sys.stderr, flush=True)
        else:
            shutil.rmtree(folder)
        finally:
            self.seconds += time.monotonic() - started


HEADER = ("attack", "attempts", "failures", "what was checked", "seconds")
NUMBERS = (1, 2, 4)


def table(tallies: Iterable[Tally], *, markdown: bool = False) -> str:
    """One line per attack."""
    rows = [_row(tally) for tally in tallies]
    return _markdown(rows) if markdown else _plain(rows)


def _row(tally: Tally) -> tuple[str, ...]:
    failures = f"skipped: {tally.skipped}" if tally.skipped else f"{len(tally.failures):,}"
    return tally.attack, f"{tally.attempts:,}", failures, tally.checked, f"{tally.seconds:,.0f}"


def _markdown(rows: Sequence[tuple[str, ...]]) -> str:
    rule = ["--:" if place in NUMBERS else "---" for place in range(len(HEADER))]
    lines = [HEADER, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[place]) for row in (HEADER, *rows)) for place in range(len(HEADER))]
    return "\n".join(_line(row, widths) for row in (HEADER, *rows))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Numbers to the right, words to the left."""
    cells = zip(row, widths, strict=True)
    return "  ".join(
        cell.rjust(width) if place in NUMBERS else cell.ljust(width)
        for place, (cell, width) in enumerate(cells)
    ).rstrip()


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
        self.tallies.append(
            Tally(
                attack,
                checked,
                self.folder / f"{len(self.tallies):02}-{''.join(filter(str.isalnum, attack))[:40]}",
            )
        )
        return self.tallies[-1]

    def chance(self, name: str) -> random.Random:
        """Random numbers of one attack: the same for the same seed, whatever other attacks run."""
        return random.Random(f"{self.seed} {name}")

    def room(self, name: str) -> Path:
        """A new folder for what an attack prepares."""
        made = self.folder / f"{name}-{len(list(self.folder.glob(f'{name}-*')))}"
        made.mkdir(parents=True)
        return made
