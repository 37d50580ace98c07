"""What summaries state beside their claims.

Read where it is said in so many words, left where it might mean something else.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.findings.statements import FileChange, read_statements
from schemas.claims import StatementKind
from tests.conftest import SAMPLES

COMMIT, ARTEFACT, PASSED, FAILED = (
    StatementKind.COMMIT,
    StatementKind.ARTEFACT,
    StatementKind.TESTS_PASSED,
    StatementKind.TESTS_FAILED,
)
FILES, INSERTED, DELETED = (
    StatementKind.FILES_CHANGED,
    StatementKind.LINES_INSERTED,
    StatementKind.LINES_DELETED,
)

Said = tuple[StatementKind, str | None, int | None]


def said(text: str) -> list[Said]:
    return [(one.kind, one.subject, one.count) for one in read_statements([text])[0].statements]


def changes(text: str) -> list[FileChange]:
    return list(read_statements([text])[0].file_changes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Commit created: `b0655066a`", [(COMMIT, "b0655066a", None)]),
        ("Committed as 1a2b3c4 on main.", [(COMMIT, "1a2b3c4", None)]),
        ("- **Committed:** `471067e feat: add a seed`", [(COMMIT, "471067e", None)]),
        (
            "Merged main (commits 0c808bf and 9a2bb6f).",
            [(COMMIT, "0c808bf", None), (COMMIT, "9a2bb6f", None)],
        ),
        (
            (
                "### Commits\n\n- `9f02e7e` - Fix names\n- `283dce3` - Lock file\n\n- `7777777` "
                "no more"
            ),
            [(COMMIT, "9f02e7e", None), (COMMIT, "283dce3", None)],
        ),
        ("See https://example.org/a/b/commit/90cf6d5 for it.", [(COMMIT, "90cf6d5", None)]),
        ("The commit effaced everything, a deadbeef of an issue (1234567 rows).", []),
        ("Committed to issue-813-ea689b20a2bb, run 6333aa5b-1c59-4ac3.", []),
        ("Session 8f2a91c4 ended.", []),
    ],
)
def test_commits(text: str, expected: list[Said]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Patch file generated: `model_patch.diff` (148 lines, 20 replacements)",
            [(ARTEFACT, "model_patch.diff", 148)],
        ),
        (
            "a patch file has been generated at `out/fix.patch`.",
            [(ARTEFACT, "out/fix.patch", None)],
        ),
        ("The patch was saved to fix.patch: 1,024 lines", [(ARTEFACT, "fix.patch", 1024)]),
        (
            "## Deliverables\n- Report: `docs/REPORT.md`\n- Script: `bench/run.py`\nDone.",
            [(ARTEFACT, "docs/REPORT.md", None), (ARTEFACT, "bench/run.py", None)],
        ),
        ("Apply fix.patch before you build.", []),
        ("A patch could not be generated, see old.diff", []),
        ("If it is created, review.patch is ignored.", []),
    ],
)
def test_artefacts(text: str, expected: list[Said]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**199 tests passed** in 12 s", [(PASSED, None, 199)]),
        ("All 37 server API tests passed.", [(PASSED, None, 37)]),
        ("`pytest` (1753 passed, 1 skipped)", [(PASSED, None, 1753)]),
        ("Tests: 3055/3060 passed (99.8%)", [(PASSED, None, 3055)]),
        ("All local tests pass (6/6 tests passing)", [(PASSED, None, 6)]),
        ("Suite with 238 passing tests.", [(PASSED, None, 238)]),
        ("30 tests, all passing", [(PASSED, None, 30)]),
        ("All existing tests still pass.", [(PASSED, None, None)]),
        ("TESTS_STATUS: PASSING", [(PASSED, None, None)]),
        ("cargo test: 12 passed, 2 failed", [(PASSED, None, 12), (FAILED, None, 2)]),
        ("573 tests pass (0 fail)", [(PASSED, None, 573)]),
        ("3 unit tests still fail on Windows", []),
        ("3 unit tests fail.", [(FAILED, None, 3)]),
        ("Publishes only when all tests pass.", []),
        ("Make sure that all tests pass", []),
        ('Changed the line from "342 tests passing" to the new one.', []),
        ("Wrote 4 failing tests first, then the code.", []),
        ("12 CI checks passed", []),
        ("The 3 tests pass the id on to the server.", []),
        ("Two forward passes per layer, 2 passes each.", []),
    ],
)
def test_tests(text: str, expected: list[Said]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "3 files changed, 45 insertions(+), 12 deletions(-)",
            [(FILES, None, 3), (INSERTED, None, 45), (DELETED, None, 12)],
        ),
        ("- Changes: +4499/-20 lines", [(INSERTED, None, 4499), (DELETED, None, 20)]),
        ("FILES_MODIFIED: 0", [(FILES, None, 0)]),
        ("**Files modified:** 5", [(FILES, None, 5)]),
        ("1,204 lines added over 3 weeks", [(INSERTED, None, 1204)]),
        ("torch.zeros + cat took 3 lines of code, a+2/-1", []),
        ("Profiles 10 lines per second", []),
    ],
)
def test_totals(text: str, expected: list[Said]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- ✅ `a/common.py` (37 insertions, 20 deletions)", [FileChange("a/common.py", 37, 20)]),
        ("- `a/topk.py` - 10 lines removed, core", [FileChange("a/topk.py", None, 10)]),
        ("1. src/main.rs (+12/-3)", [FileChange("src/main.rs", 12, 3)]),
        (
            (
                "## Files Modified\n- `src/a.py` - faster\n- meson.build\n- **web/b.tsx**: "
                "split\n  - detail\n\n## Next\n- `src/c.py`"
            ),
            [FileChange("src/a.py"), FileChange("web/b.tsx")],
        ),
        (
            "**Files modified:** 2 (`a.ts`, `lib/b.js`)",
            [FileChange("a.ts"), FileChange("lib/b.js")],
        ),
        ("Modified `pkg/attention.py`:", [FileChange("pkg/attention.py")]),
        (
            "- Rewrote `src/a.py`\n- Updated **`src/b.py`** for it",
            [FileChange("src/a.py"), FileChange("src/b.py")],
        ),
        ("**1. Created `.github/workflows/ci.yml`**", [FileChange(".github/workflows/ci.yml")]),
        ("Files changed:\n- `cli.py` - flags\n\nUpdated `app/cli.py`", [FileChange("app/cli.py")]),
        (
            "Files Modified:\n- `a/b.py`\n\nModified files:\n- a/b.py (3 insertions, 1 deletion)",
            [FileChange("a/b.py", 3, 1)],
        ),
        ("Changed `torch.zeros` to `torch.empty` and read `src/a.py`.", []),
        ("Files modified by others:\n- `src/a.py`", []),
        ("The bug is in `src/a.py` (line 12) and src/b.py.", []),
    ],
)
def test_file_changes(text: str, expected: list[FileChange]) -> None:
    assert changes(text) == expected


def test_the_samples_are_read_whole() -> None:
    found = {
        path.name[:3]: read_statements([json.loads(path.read_text())["result"]])[0]
        for path in SAMPLES.iterdir()
    }
    assert [
        (change.path, change.insertions, change.deletions) for change in found["002"].file_changes
    ] == [
        ("vllm/attention/backends/mla/common.py", 37, 20),
        ("vllm/v1/attention/backends/mla/common.py", 24, 9),
    ]
    assert [(one.kind, one.subject, one.count) for one in found["002"].statements] == [
        (COMMIT, "b0655066a", None),
        (ARTEFACT, "model_patch.diff", 135),
        (ARTEFACT, ".bench_scratch/test_opt.py", None),
        (ARTEFACT, ".bench_scratch/OPTIMIZATION_REPORT.md", None),
    ]
    assert [(one.subject, one.count) for one in found["000"].statements] == [
        ("model_patch.diff", 148)
    ]
    assert [change.deletions for change in found["003"].file_changes] == [10, None]


WORDS = st.sampled_from(
    "commit Commits ` 1a2b3c4 b0655066a tests pass passed 12 1,000 failed all Files "
    "Modified: a/b.py .diff patch generated ( ) lines "
    "insertions, 3 deletions - * # FILES_MODIFIED: +4/-2 Created Deliverables → 日本 \n \n\n".split(
        " "
    )
)


@pytest.mark.slow
@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=200))
def test_whatever_the_text_the_quotes_stand_where_they_say(text: str) -> None:
    [found] = read_statements([text])
    assert all(text[one.start : one.end] == one.quote and one.quote for one in found.statements)
    assert [one.start for one in found.statements] == sorted(one.start for one in found.statements)
    assert len({change.path for change in found.file_changes}) == len(found.file_changes)


def test_a_list_goes_on_after_a_long_item() -> None:
    long = "word " * 200
    assert changes(f"Files modified:\n- `a/b.py` {long}\n- `c/d.py`") == [
        FileChange("a/b.py"),
        FileChange("c/d.py"),
    ]
    assert said(f"Commits\n- 1a2b3c4 {long}\n- b0655066a") == [
        (COMMIT, "1a2b3c4", None),
        (COMMIT, "b0655066a", None),
    ]
    assert said(f"Deliverables\n- `a/b.md` {long}\n- `c/d.md`") == [
        (ARTEFACT, "a/b.md", None),
        (ARTEFACT, "c/d.md", None),
    ]


def test_the_windows_of_a_long_line_count_nothing_twice() -> None:
    said_once = [3, 7, 9]
    text = f" {'x ' * 100}".join(f"{count} tests failed." for count in said_once)
    assert [one.count for one in read_statements([text])[0].statements] == said_once


def test_of_a_long_line_the_words_around_a_count_are_read_and_not_those_around_a_mere_number_of_lines() -> (  # noqa: E501
    None
):
    far = "word " * 75
    text = f"{far}(135 lines, 7 kB) {far}45 insertions(+), 12 deletions(-)"
    assert said(text) == [(INSERTED, None, 45), (DELETED, None, 12)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10 lines (3 deletions)", []),
        ("10 lines of it, 3 deletions", [(DELETED, None, 3)]),
        ("+2 to a, 3 deletions", [(DELETED, None, 3)]),
        ("12 new lines inserted", [(INSERTED, None, 12)]),
        (" insertions: 4 (+7/-3)", [(INSERTED, None, 7), (DELETED, None, 3)]),
        (
            "A plus: +7\n5 insertions\n(+3 / -1)\n6 deletions",
            [(INSERTED, None, 5), (INSERTED, None, 3), (DELETED, None, 1)],
        ),
    ],
)
def test_deletions_count_beside_lines_insertions_or_a_plus(text: str, expected: list[Said]) -> None:
    assert said(text) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "commit 1a2b3c4 ",
        "12 tests pass ",
        "Files modified:\n- a/b.py\n",
        "a/" * 50 + ".diff created ",
        "`",
        "+1/-1 ",
    ],
)
def test_a_long_line_loses_nothing_but_what_is_far_from_its_word(unit: str) -> None:
    """A megabyte without a line break is read in windows.

    The first statement is found as in a short text.
    """
    short, long = read_statements([unit * 3, unit * (300_000 // len(unit))])
    assert short.statements[:1] == long.statements[:1]
    assert short.file_changes[:1] == long.file_changes[:1]
