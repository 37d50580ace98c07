"""What the attacks in the suite share: one fork server, and a lab per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.forks import Forks
from tests.attack.lab import Lab


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """The fork server of this process of the suite."""
    with Forks() as running:
        yield running


@pytest.fixture
def lab(forks: Forks, tmp_path: Path) -> Lab:
    """A lab whose folder is the test's own."""
    return Lab(tmp_path / "lab", forks)
