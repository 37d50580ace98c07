"""Hints in patches: found in most sham gains and in few honest ones, in any order of records.

Sham gains are patches that only seem to gain something.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from ingest.findings import patch_hints
from ingest.findings.patch_hints import CHECKS, hints
from ingest.patches import KEPT_BYTES
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.catalogue.rules import FINDING_RULES, PATCH_HINTS
from schemas.rows.source import Severity
from tests.conftest import ingest_paths, record_text

PATCHES = sorted((Path(__file__).parent / "expected/patch_hints").glob("*.diff"))
"""`bad-…` and `honest-…`; the rules were written with an eye on the half `seen`, and tried once on
the half `unseen`.
"""

ROOT = Path(__file__).parents[1]


def hinted(patch: str, **told: Any) -> list[str]:
    """The rules of the hints in a patch. Its first line may tell what a summary claims."""
    if patch.startswith("summary: "):
        first, _, patch = patch.partition("\n")
        told |= json.loads(first.removeprefix("summary: "))
    return [finding.rule for finding in hints(patch, **told)]


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_most_bad_patches_are_hinted_and_few_honest_ones(half: str) -> None:
    found = {path.stem: hinted(path.read_text()) for path in PATCHES if f"-{half}-" in path.name}
    bad, honest = (
        {name: rules for name, rules in found.items() if name.startswith(kind)}
        for kind in ("bad-", "honest-")
    )
    missed, false = (
        [name for name, rules in bad.items() if not rules],
        {name: rules for name, rules in honest.items() if rules},
    )
    assert (len(bad), len(honest)) == ((5, 9)[half == "unseen"], 15)
    told = (
        f"found {1 - len(missed) / len(bad):.0%} of the bad ({missed} missed), hinted "
        f"{len(false) / len(honest):.0%} of the honest {false}"
    )
    assert len(missed) / len(bad) <= 0.5, told
    assert len(false) / len(honest) <= 0.1, told


def test_every_hint_is_a_rule_with_a_patch_that_has_it() -> None:
    found = {rule for path in PATCHES for rule in hinted(path.read_text())}
    assert found == PATCH_HINTS.keys() <= FINDING_RULES.keys()
    assert PATCH_HINTS.keys() - CHECKS.keys() == {"large_speedup"}
    assert {rule.severity for rule in PATCH_HINTS.values()} == {Severity.INFO, Severity.WARNING}, (
        "a hint is never an error"
    )
    described = (ROOT / "docs/measure.md").read_text()
    assert not [name for name in PATCH_HINTS if f"`{name}`" not in described]


def patch(*lines: str, path: str = "pkg/core.py", start: int = 10) -> str:
    """A patch of one hunk."""
    old, new = (sum(not line.startswith(mark) for line in lines) for mark in "+-")
    return "\n".join(
        (
            f"diff --git a/{path} b/{path}",
            f"--- a/{path}",
            f"+++ b/{path}",
            f"@@ -{start},{old} +{start},{new} @@",
            *lines,
            "",
        )
    )


def test_a_hint_names_its_line() -> None:
    [asked, removed] = hints(
        patch(
            " def f(data):",
            '-    raise ValueError("no data")',
            '+    fast = os.getenv("BENCH")',
            "     total = 1",
            "     return total",
        )
    )
    assert asked == (
        "measuring_detected",
        Severity.WARNING,
        "The code asks whether it is tested or timed (pkg/core.py, line 11).",
        None,
        '+ fast = os.getenv("BENCH")',
    )
    assert removed == (
        "checks_removed",
        Severity.INFO,
        "The code has 1 check fewer (pkg/core.py, line 11 before the patch).",
        None,
        '- raise ValueError("no data")',
    )
    [large] = hints(patch("-a = 1", "+a = 2"), speedup=12.5)
    assert large[2:] == (
        "The summary claims 12.5×: look at what was timed.",
        "at most 10×",
        "12.5×",
    )


SILENT = {
    "a moved assertion": patch(
        "-    assert n > 0", " def g(n):", "+    assert n > 0", "     return 1 / n"
    ),
    "an assertion for a type checker": patch(" x = get()", "-assert x is not None", " use(x)"),
    "more tests": patch(
        " def test_a():",
        "+    assert f(1) == 2",
        "     assert f(2) == 3",
        path="tests/test_core.py",
    ),
    "another result in a test": patch(
        " def test_a():",
        "-    assert f(3) == 9",
        "+    assert f(3) == 8",
        path="tests/test_core.py",
    ),
    "code beside documentation": patch("-a = 1", "+a = 2")
    + patch("-old", "+new", path="README.md"),
    "an empty patch": "",
    "no diff": "# a note\n\nassert, skip, return 0\n",
}


@pytest.mark.parametrize("case", SILENT)
def test_no_hint_in(case: str) -> None:
    assert hinted(SILENT[case]) == []


def test_a_new_file_weakens_nothing() -> None:
    body = ("@@ -0,0 +1,3 @@", "+@pytest.mark.skip", "+def test_a():", "+    assert slow()", "")
    new = (
        "diff --git a/tests/test_new.py b/tests/test_new.py\nnew file mode 100644\n--- "
        "/dev/null\n+++ b/tests/test_new.py\n"
    ) + "\n".join(body)
    assert hinted(new) == []


HOSTILE = {
    "checks": patch(*("-assert x" for _ in range(50_000))),
    "short lines": patch(*("-a" for _ in range(200_000))),
    "words": patch(*("+" + "cachebenchresults" * 17 for _ in range(3_500))),
    "if": patch(*("+" + "if if == " * 33 for _ in range(3_500))),
    "figures": patch(
        *(f"{mark}size = [{n}{'9' * (23 + n % 9)}1_]" for n in range(11_000) for mark in "-+"),
        path="tests/test_a.py",
    ),
    "files": "".join(patch("-a", "+b", path=f"f{n}.py") for n in range(8_000)),
    "one line": patch("+" + "bench " * 140_000),
    "not a number": patch(
        "-x = 1", "+x = ٣", "-rtol = 1__0", "+rtol = 2__", path="tests/test_a.py"
    ),
    ("an impossible hunk"): (
        "diff --git a/a b/a\n@@ -9999999999,1 +0,99999999 @@\n+return 0\n\\ No newline\n\0\udc80"
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_patch_takes_a_moment(case: str) -> None:
    text = HOSTILE[case]
    assert len(text) <= KEPT_BYTES + 1000
    began = time.process_time()
    hints(text)
    assert time.process_time() - began < 8, (
        "seconds for the largest text that is kept; usual are one to two"
    )


# In the store

BAD = (ROOT / "tests/expected/patch_hints/bad-seen-benchmark-detected.diff").read_text()
SUMMARY = "Done: 20x faster end to end, measured 100 s before and 5 s after.\n"


def item(folder: Path, text: str | None = BAD, **record: Any) -> Path:
    """The folder of a run with its patch."""
    folder.mkdir(parents=True)
    (folder / "claude_output.json").write_text(record_text(**record))
    if text is not None:
        (folder / "model_patch.diff").write_text(text)
    return folder


def found_in(store: Store) -> tuple[list[Any], list[Any]]:
    """The store's hints, and each run's number of findings from its column and from its rows."""
    with store.reading() as connection:
        listed = (
            "select rule, severity, message, actual from findings where rule in (select "
            "unnest($rules)) order by all"
        )
        counts = (
            "select findings, (select count(*) from findings where findings.run_id = "
            "runs.run_id) from runs order by run_id"
        )
        return connection.execute(listed, {"rules": [*PATCH_HINTS]}).fetchall(), connection.execute(
            counts
        ).fetchall()


def test_the_hints_of_a_run_outlive_a_rebuild_and_an_ingest_again(
    store: Store, tmp_path: Path
) -> None:
    place = item(tmp_path / "item", result=SUMMARY)
    ingest_paths(store, place)
    rules, counts = found_in(store)
    assert [rule for rule, *_ in rules] == [
        "large_speedup",
        "measuring_detected",
    ]
    assert rules[1][2:] == (
        "The code asks whether it is tested or timed (imagelab/resize.py, line 10).",
        '+ if "pytest_benchmark" in sys.modules or os.environ.get("IMAGELAB_BENCH"):',
    )
    assert all(column == listed for column, listed in counts)
    for again in (
        lambda: rebuild(store),
        lambda: ingest_paths(store, place),
        lambda: rebuild(store),
    ):
        again()
        assert found_in(store) == (rules, counts)
    rebuild(store, keeps_text=False)
    assert found_in(store)[0] == []


def test_hints_go_with_the_record_that_lent_the_patch(store: Store, tmp_path: Path) -> None:
    """Two copies of a record, one with a patch.

    In either order the run has the hints, until that copy is undone.
    """
    bare, full = item(tmp_path / "bare", None), item(tmp_path / "full")
    with (bare / "claude_output.json").open("a") as file:
        file.write("\n")  # other bytes: the same file would be known
    ingest_paths(store, bare)
    assert found_in(store)[0] == []
    ingest_paths(store, full)
    both = found_in(store)
    other = Store(tmp_path / "other.duckdb")
    ingest_paths(other, full)
    ingest_paths(other, bare)
    assert found_in(other) == both
    assert ([rule for rule, *_ in both[0]], len(both[1])) == (["measuring_detected"], 1)
    undo(store, 2)
    assert found_in(store)[0] == []
    assert all(column == listed for column, listed in found_in(store)[1])


def test_a_rule_that_fails_costs_the_hints_only(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> Any:
        raise RecursionError

    monkeypatch.setitem(patch_hints.CHECKS, "no_code", ((), fails))
    ingest_paths(store, item(tmp_path / "item"))
    assert found_in(store) == ([], [(1, 1)])  # on its cost


# tachograph show RUN --patch


def shown(store: Store, *words: str) -> Any:
    return CliRunner().invoke(cli, ["show", *words, "--patch", "--db", store.location])


def test_show_prints_the_patch_as_it_was_kept(store: Store, tmp_path: Path) -> None:
    text = BAD.replace("\n", "\r\n", 1) + "-- \n2.43.0\n\n"
    ingest_paths(store, item(tmp_path / "item", text))
    done = shown(store)
    assert (done.exit_code, done.stdout_bytes, done.stderr) == (0, text.encode(), "")
    done = shown(store, "-o", str(tmp_path / "run.diff"))
    assert (done.stdout, (tmp_path / "run.diff").read_bytes()) == ("", text.encode())


def test_show_says_if_the_patch_is_cut(store: Store, tmp_path: Path) -> None:
    text = patch(*(f"+line {number}" for number in range(100_000)))
    ingest_paths(store, item(tmp_path / "item", text))
    done = shown(store)
    assert text.startswith(done.stdout)
    assert KEPT_BYTES - 100 < len(done.stdout) <= KEPT_BYTES
    assert f"Only its first {len(done.stdout):,} of {len(text):,} bytes were kept." in done.stderr


def test_show_refuses_a_run_without_a_patch(store: Store, tmp_path: Path) -> None:
    ingest_paths(store, item(tmp_path / "item", None))
    for words, said in (
        ((), "the store has no patch of run"),
        (("--format", "json"), "--patch prints the patch alone"),
    ):
        done = shown(store, *words)
        assert (done.exit_code != 0, done.stdout) == (True, "")
        assert said in str(done.exception)
