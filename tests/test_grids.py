"""Grids and terminal tables.

Durations sort as texts, sentences are readable in full, names are broken where they may be.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text import grids
from app.text.answers import Answer
from app.text.formatting import short, sortable
from app.text.text_tables import draw, shown_table
from schemas.catalogue.columns import FINDINGS
from schemas.units import Unit

MILLISECONDS = st.one_of(st.integers(0, 2_000), st.integers(0, 10**6), st.integers(0, 10**12))


@given(MILLISECONDS, MILLISECONDS)
def test_durations_sort_as_texts_by_length(one: int, other: int) -> None:
    shorter, longer = sorted((one, other))
    texts = [sortable(value, Unit.MILLISECONDS) for value in (shorter, longer)]
    assert texts == sorted(texts)
    assert [text.lstrip() for text in texts] == [
        short(value, Unit.MILLISECONDS) for value in (shorter, longer)
    ]


@pytest.mark.parametrize(("characters", "height"), [(20, 35), (130, 66), (300, 92)])
def test_rows_are_high_enough_for_the_longest_sentence(characters: int, height: int) -> None:
    assert grids.row_height(pa.table({"message": ["short", "x" * characters]})) == height


def test_a_long_sentence_is_cut_around_its_claim() -> None:
    said = f"{'before ' * 40}is 3x faster {'behind ' * 40}".strip()
    claim = {
        "sentence": said,
        "quote": "3x faster",
        "hedged": False,
        "evidence": "stated",
        "kind": "quantified",
        "scope": "micro",
    }
    [shown] = (
        grids.claim_grid(pa.Table.from_pylist([claim | {"origin": "own"}]))
        .rows["sentence"]
        .to_pylist()
    )
    assert "is 3x faster" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= grids.LONGEST_SENTENCE + 2


def test_claims_are_shown_without_the_signs_for_bold_and_code() -> None:
    claim = {
        "sentence": "- **Now 3x\n  faster** in `parse`",
        "quote": "3x\n  faster**",
        "hedged": False,
        "evidence": "stated",
    }
    rows = grids.claim_grid(
        pa.Table.from_pylist([claim | {"kind": "quantified", "scope": "micro", "origin": "own"}])
    ).rows
    assert rows["sentence"].to_pylist() == ["- Now 3x faster in parse"]
    assert rows["quote"].to_pylist() == ["3x faster"]


def test_a_name_is_broken_behind_a_sign_and_a_message_is_whole() -> None:
    message = (
        "The outcome is completed, but the summary says that the agent was blocked: four tool "
        "calls were denied."
    )
    name = "somebody-with-a-long-name/company-and-hauler-ui-of-theirs"
    row = {"run_id": "run-1234", "message": message, "repo": name, "expected": "at most 2"}
    table = pa.Table.from_pylist([row])
    drawn = draw(
        shown_table(Answer(table, "", ("run_id", "message", "expected", "repo"), of=FINDINGS)), 80
    )
    lines = drawn.body.decode().splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(line[10:].split("  ")[0].strip() for line in lines[2:]).startswith(message[:60])
    whole = draw(
        shown_table(Answer(table.select(["repo", "run_id"]), "", ("repo", "run_id"), of=FINDINGS)),
        46,
    ).body.decode()
    assert "somebody-with-a-long-name/company-" in whole
    assert "\nand-hauler-ui-of-theirs\n" in whole
