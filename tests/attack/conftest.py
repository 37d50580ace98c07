"""What the attacks in the suite share: a lab per test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack.lab import Lab
from tests.forks import Forks


@pytest.fixture
def lab(forks: Forks, tmp_path: Path) -> Lab:
    """A lab whose folder is the test's own."""
    return Lab(tmp_path / "lab", forks)
