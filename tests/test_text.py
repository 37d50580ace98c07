"""Pieces of a summary as quotes."""

from __future__ import annotations

import pytest

from schemas.text import quoted, told_apart


@pytest.mark.parametrize(
    ("piece", "quote"),
    [
        ("267x speedup** in memory\n  allocation", "267x speedup in memory allocation"),
        ("`encode()` is **2x** faster", "encode() is 2x faster"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("", ""),
    ],
)
def test_a_quote_has_no_signs_of_bold_and_code_on_one_line(piece: str, quote: str) -> None:
    assert quoted(piece) == quote


def test_a_long_quote_is_cut() -> None:
    assert (quoted("0123456789", 10), quoted("0123456789a", 10)) == ("0123456789", "012345678…")


@pytest.mark.parametrize(
    ("names", "cut"),
    [
        (["short", "0123456789"], ["short", "0123456789"]),
        (["a very long name", "another long name"], ["a very lo…", "another l…"]),
        (["sort the left keys", "sort the long keys"], ["so…ft keys", "so…ng keys"]),
        (["the same name: red", "the same name: blue"], ["the s…red", "the s…blue"]),
        (["the same name"] * 2, ["the same…", "the same…"]),
    ],
)
def test_names_are_cut_where_they_still_differ(names: list[str], cut: list[str]) -> None:
    assert told_apart(names, 10) == cut
