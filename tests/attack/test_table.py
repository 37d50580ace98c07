"""The table of attacks: what it says, in both forms."""

from __future__ import annotations

from pathlib import Path

from tests.attack import report
from tests.attack.tally import Tally


def tallies(folder: Path) -> list[Tally]:
    good, bad, skipped = (Tally(name, "a | b", folder / name) for name in ("good", "bad", "skipped"))
    for tally in (good, bad):
        for number in range(2):
            with tally.attempt(f"try {number}") as place:
                (place / "left").touch()
                if tally is bad and not number:
                    raise ValueError("it broke")
    skipped.skipped = "no disk"
    return [good, bad, skipped]


def test_a_failure_is_counted_and_told_and_its_folder_kept(tmp_path: Path) -> None:
    good, bad, _ = tallies(tmp_path)
    assert (good.attempts, good.failures) == (2, [])
    [failure] = bad.failures
    assert str(failure) == f"bad: ValueError: it broke\n    reproduce: try 0\n    kept: {failure.folder}"
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("left")] == [Path("bad/0001/left")]


def test_the_table_says_it_all(tmp_path: Path) -> None:
    made = tallies(tmp_path)
    assert report.table(made).splitlines() == [
        "attack   attempts          failures  what was checked  seconds",
        "good            2                 0  a | b                   0",
        "bad             2                 1  a | b                   0",
        "skipped         0  skipped: no disk  a | b                   0",
    ]
    assert report.table(made, markdown=True).splitlines()[1:3] == ["| --- | --: | --: | --- | --: |", "| good | 2 | 0 | a \\| b | 0 |"]
