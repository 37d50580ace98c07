"""Pieces of a summary as quotes."""

from __future__ import annotations

import pytest

from schemas.text import quoted


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
