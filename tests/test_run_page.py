"""The page of a run: its patch as HTML, figures with bounds, and sentences.

tests/test_dashboard.py has the whole page.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries import runs as run_queries
from app.queries.run_page import patched_beside
from app.text.run_html import (
    FOLDED_FROM,
    MOST_LINES,
    claims_html,
    cost_basis,
    diff_html,
    failure_html,
    header_html,
    only_run,
    strip_html,
    warning_html,
)
from ingest.patches import read_patch
from ingest.store.database import Store
from schemas.catalogue.failures import ACCOUNT, REASONS
from tests.conftest import StoreOnce, ingest_paths, record_text

DIFF = """diff --git a/tests/test_a.py b/tests/test_a.py
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -7 +7,2 @@ def test_a():
 x
+y
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -132,3 +132,3 @@ class A:
     zero
-    torch.zeros(n, dtype=float)
+    torch.empty(n, dtype=float)
-whole
+other
 end
"""


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_a_patch_has_source_before_tests_line_numbers_and_marked_words() -> None:
    drawn = diff_html(DIFF)
    assert re.findall(r"<b>(.*?)</b>", drawn) == ["a.py", "tests/test_a.py"]
    assert (
        '<div class="t-diff-l t-diff-d"><i>133</i><i></i>-     torch.<s>zeros</s>(n, '
        "dtype=float)</div>"
    ) in drawn
    assert (
        '<div class="t-diff-l t-diff-a"><i></i><i>133</i>+     torch.<s>empty</s>(n, '
        "dtype=float)</div>"
    ) in drawn
    assert "class A:" in drawn
    assert "<s>whole" not in drawn, "lines that share nothing have no difference to mark"
    assert "<i>7</i><i>7</i>  x" in drawn
    assert diff_html("no diff") == diff_html("") == ""


def test_a_long_file_is_folded_and_a_longer_patch_is_cut() -> None:
    def added(path: str, lines: int) -> str:
        return (
            f"diff --git a/{path} b/{path}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n"
            + "+x\n" * lines
        )

    assert diff_html(added("a.py", FOLDED_FROM - 1)).count("<details open>") == 1
    folded = diff_html(added("a.py", FOLDED_FROM))
    assert "<details>" in folded
    assert "400 lines" in folded
    cut = diff_html(added("a.py", MOST_LINES) + added("b.py", 12))
    assert cut.count('<div class="t-diff-l') == MOST_LINES
    assert "12 more lines are not shown." in cut
    assert "+12</span>" in cut, "counted all the same"


class Tags(HTMLParser):
    """The tags of some HTML, and whether each is closed in turn."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.open.append(tag)
        assert {name for name, _ in attrs} <= {"class", "open", "tabindex"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


HOSTILE = st.text(alphabet="<>&\"'/ab-+@ \\\u202e", max_size=30)


@given(st.lists(st.tuples(st.sampled_from("+- "), HOSTILE), min_size=1, max_size=12), HOSTILE)
def test_no_line_of_a_patch_becomes_markup(lines: list[tuple[str, str]], path: str) -> None:
    old, new = (sum(mark in marks for mark, _ in lines) for marks in ("- ", "+ "))
    body = "\n".join(mark + line for mark, line in lines)
    text = (
        f"diff --git a/x{path} b/x{path}\n--- a/x\n+++ b/x\n@@ -1,{old} +1,{new} @@ "
        f"{path}\n{body}\n"
    )
    tags = Tags(diff_html(text))
    assert (tags.open, tags.seen <= {"div", "details", "summary", "b", "span", "i", "s"}) == (
        [],
        True,
    )
    counted = read_patch(text.split("\n"))
    assert (counted.insertions, counted.deletions) == (
        sum(mark == "+" for mark, _ in lines),
        sum(mark == "-" for mark, _ in lines),
    )


@pytest.fixture(scope="module")
def run(store_once: StoreOnce, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run with nothing but its record."""

    def fill(store: Store) -> None:
        (tmp_path_factory.mktemp("one") / "log.json").write_text(record_text(uuid="one"))
        ingest_paths(store, Path(tmp_path_factory.getbasetemp()) / "one0")

    found = run_queries.run(store_once("run-page", fill), "one")
    assert found is not None
    return found


def test_a_bound_has_its_sign_wherever_the_cost_stands(run: dict[str, Any]) -> None:
    costs = {
        "cost_own_usd": None,
        "cost_reported_usd": None,
        "cost_list_usd": 7,
        "cost_best_usd": 7,
        "cost_best_per_turn_usd": 1,
    }
    for basis, sign in (
        ("upper_bound", "≤\u00a0"),
        ("lower_bound", "≥\u00a0"),
        ("estimate", "≈\u00a0"),
    ):
        bounded = (
            run
            | costs
            | {"cost_best_bounds": basis, "tokens_basis": basis, "cost_cause": None, "num_turns": 7}
        )
        assert f">{sign}$7.00</b>" in strip_html(bounded, None)
        assert f"{sign}$1.00 each" in strip_html(bounded, None)
        assert only_run(bounded, None).heading.startswith(f"One run: {sign}$7.00")
        assert "The cost is a" in warning_html(bounded, None)
    assert warning_html(run, None) == ""
    assert cost_basis(run | costs) == "cost at list prices"
    differs = {"cost_list_usd": 8, "cost_cause": "regional_endpoint", "tokens_basis": "lower_bound"}
    assert cost_basis(run | differs) == (
        "cost reported, list price ≥\u00a0$8.00: regional endpoint"
    )


def test_the_strip_leaves_out_what_is_not_known_and_has_six_figures_at_most(
    run: dict[str, Any],
) -> None:
    unknown = (
        "cost_best_usd",
        "duration_ms",
        "num_turns",
        "output_tokens",
        "claimed_speedup",
        "patch_files",
    )
    assert strip_html(run | dict.fromkeys(unknown), None) == ""
    known = {
        "output_tokens": 5,
        "claimed_speedup": 2.0,
        "claimed_scope": "micro",
        "claimed_evidence": "stated",
        "patch_files": 1,
        "patch_insertions": 3,
        "patch_deletions": 0,
    }
    verdict = {"measured_speedup": None, "measured_class": "breaks", "judged": None}
    drawn = strip_html(run | known, verdict)
    assert re.findall(r"<small>(.*?)</small>", drawn) == [
        "Cost",
        "Wall time",
        "Turns",
        "Claimed",
        "Measured",
        "Patch",
    ]
    assert "breaks the change breaks" in text_of(drawn)


def test_a_failure_says_its_first_sentence_and_whose_it_is(run: dict[str, Any]) -> None:
    said = (
        "Error code: 429 - {'error': {'message': 'You exceeded <b>your</b> quota. See the "
        "docs.', 'type': 'x'}}"
    )
    failed = run | {"reason": "quota", "whose": ACCOUNT, "failure_message": said}
    drawn = failure_html(failed)
    assert "<b>Error code: 429: You exceeded &lt;b&gt;your&lt;/b&gt; quota.</b>" in drawn
    assert f"{REASONS['quota'].label}: the account's limit, not the agent's failure." in text_of(
        drawn
    ).replace("&#x27;", "'")
    assert only_run(failed, None).heading.endswith("and it did not complete.")
    assert failure_html(run) == ""


@pytest.mark.parametrize(
    ("claimed", "verdict", "heading"),
    [
        (None, None, "and no claimed speedup."),
        (3.17, None, "and a claimed speedup of **3.17×** that nobody has measured."),
        (
            3.17,
            {"measured_speedup": None},
            "and a claimed speedup of **3.17×** that could not be compared with a baseline.",
        ),
        (3.17, {"measured_speedup": 0.98}, "claimed 3.17×, measured **0.98×**."),
        (None, {"measured_speedup": 0.98}, "and measured **0.98×**."),
        (0.9, None, "and a claimed factor of **0.90×** that nobody has measured."),
    ],
)
def test_the_sentence_of_an_only_run_says_no_more_than_is_known(
    run: dict[str, Any], claimed: float | None, verdict: dict[str, Any] | None, heading: str
) -> None:
    assert only_run(run | {"claimed_speedup": claimed, "reason": None}, verdict).heading.endswith(
        heading
    )


def test_texts_of_a_run_stay_text(run: dict[str, Any]) -> None:
    evil = "<script>x</script>"
    told = header_html(run | {"task_key": evil, "repo": evil, "model": evil, "agent": evil})
    claim = {
        "kind": "quantified",
        "ratio": 2.0,
        "ratio_low": None,
        "ratio_high": None,
        "scope": "micro",
        "evidence": "stated",
    }
    claim |= {
        "origin": "own",
        "metric": evil,
        "subject": evil,
        "quote": evil,
        "direction": "better",
    }
    drawn = told + claims_html([claim], run | {"claimed_speedup": 2.0, "claimed_quote": evil})
    assert "<script" not in drawn
    assert "tasks?task=%3Cscript%3E" in drawn
    assert "this figure counts" in drawn


def test_patches_of_a_task_stand_beside_each_other(store: Store, tmp_path: Path) -> None:
    """Runs of another task, or without a patch, do not."""
    for name, task, patch in (
        ("a", "sort", "+one\n"),
        ("b", "sort", "+two\n"),
        ("c", "search", "+three\n"),
        ("d", "sort", ""),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "result.json").write_text(
            record_text(uuid=f"{name * 8}-0000-4000-8000-000000000000", session_id=name * 8)
        )
        (folder / "model_patch.diff").write_text(
            patch and f"--- a/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n{patch}"
        )
        ingest_paths(store, folder, task=task)
    assert [
        row["run_id"][:1] for row in patched_beside(store, f"{'a' * 8}-0000-4000-8000-000000000000")
    ] == ["b"]
