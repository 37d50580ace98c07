"""The count of one attack: how often it was tried, what failed, and what reproduces each failure."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


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
        """A new folder for one attempt. Any exception within is a failure: it is told, and the folder is kept."""
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
