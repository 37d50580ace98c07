"""Which quarter of the slow tests a run of the whole suite takes, so that it ends within five minutes on two cores.

The commit decides: the same commit tries the same tests, another one others, and after a dozen nearly all have run. The files of tests
that the last commit or the working tree changed run whole, and so does what is named on the command line. `--quarter=all` tries all.
"""

from __future__ import annotations

import subprocess
import time
import zlib
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

QUARTERS = 4
_DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Choice:
    """What runs of the slow tests: a quarter, or all (None), and the changed files of tests in any case. Paths are relative to the root."""

    quarter: int | None
    changed: Collection[str] = ()

    def takes(self, test: str) -> bool:
        """Whether a slow test runs, told by its id: `tests/test_undo.py::test_…`."""
        return self.quarter in {None, quarter_of(test)} or test.partition("::")[0] in self.changed

    def __str__(self) -> str:
        if self.quarter is None:
            return "slow tests: all"
        return f"slow tests: quarter {self.quarter} of {QUARTERS}, and those of changed files ({len(self.changed)}); all with --quarter=all"


def add_option(parser: pytest.Parser) -> None:
    """`--quarter` for the command line of pytest."""
    quarters = [*map(str, range(1, QUARTERS + 1)), "all"]
    parser.addoption("--quarter", choices=quarters, help="which of the slow tests of the whole suite; by the commit, unless given")


def choice(config: pytest.Config, *, is_thorough: bool) -> Choice:
    """What this run takes. A worker of xdist takes what its controller does."""
    given = getattr(config, "workerinput", {}).get("choice")
    if given:
        return Choice(**given)
    asked = config.getoption("--quarter")
    if asked:
        return Choice(None if asked == "all" else int(asked))
    if is_thorough or config.args_source is pytest.Config.ArgsSource.ARGS:
        return Choice(None)
    return of_tree(config.rootpath)


def given_to_worker(found: Choice) -> dict[str, object]:
    """The choice in values that xdist passes to a worker."""
    return asdict(found)


def of_tree(root: Path) -> Choice:
    """The choice for a checkout: by its commit; by the day, where there is none."""
    commit = _git(root, "rev-parse", "HEAD")
    number = int(commit[0], 16) if commit else int(time.time()) // _DAY_SECONDS
    changed = [*_git(root, "diff", "--name-only", "HEAD~1"), *_git(root, "ls-files", "--others", "--exclude-standard")]
    return Choice(1 + number % QUARTERS, sorted({name for name in changed if name.startswith("tests/")}))


def quarter_of(test: str) -> int:
    """The quarter that a test belongs to, from 1."""
    return 1 + zlib.crc32(test.encode()) % QUARTERS


def _git(root: Path, *arguments: str) -> list[str]:
    """The lines that git prints; none where it fails or is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.split() if done.returncode == 0 else []
