"""What the tests' fork server promises.

A command that it forks answers as one in an interpreter of its own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run


@pytest.mark.parametrize(
    ("words", "given", "code"),
    [
        ("claims extract -", '{"id": "a", "text": "A 3.17x speedup, benchmarked."}\n', 0),
        ("report --by nope", None, 2),
    ],
)
def test_a_fork_answers_as_a_fresh_interpreter(
    words: str, given: str | None, code: int, tachograph: Run, filled: Path
) -> None:
    forked = tachograph(words, input=given)
    assert forked.returncode == code
    assert vars(forked) == vars(tachograph(words, input=given, fresh=True))
