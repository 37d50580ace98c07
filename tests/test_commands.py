"""What the tests' fork server promises.

A command that it forks answers as one in an interpreter of its own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, record_text


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


def test_a_fork_runs_in_its_folder_and_starts_processes_of_its_own(
    tachograph: Run, tmp_path: Path
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.json").write_text(
            record_text(uuid=f"u{number}", result="word " * 1_000_000)
        )
    done = tachograph("ingest . --jobs 2")
    assert "3 documents = 3 accepted" in done.stderr
    assert (tmp_path / "tachograph.duckdb").exists()
