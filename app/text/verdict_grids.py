"""Tables of verdicts as a screen's grid shows them, with what people call a verdict, a failure and an agent."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from app.text.columns import agent_name
from app.text.grid_columns import Grid, Listing, grid
from app.text.words.measured import NAMES, VERDICT_COLUMNS, failure_words
from schemas.catalogue import columns as catalogue
from schemas.text import one_line

QUADRANTS = Listing(
    catalogue.VERDICT_GROUPS,
    ("repo", "agent", "model", "runs_q1", "runs_q2", "runs_q3", "runs_q4", "true_success_share", "hard_success_share"),
)
VALUES = Listing(
    catalogue.SPEEDUPS,
    (
        "base", "metric", "statistic", "base_value", "candidate_value", "unit", "ratio", "verdict", "why", "benchmark", "ratio_low",
        "ratio_high", "measured_at", "format", "files", "source_name",
    ),
)  # fmt: skip
"""Every measured value of a run."""

LONGEST_NOTE = 160
"""The most characters of a note in a grid: errors of benchmarks have pages."""


def verdict_grid(table: pa.Table, listing: Listing) -> Grid:
    """Verdicts in words, of runs or of single values."""
    return grid(_spoken(_with_failures(table) if "failure" in table.column_names else table), listing)


def group_grid(table: pa.Table, listing: Listing, by: str = "") -> Grid:
    """Groups of runs; `by` is a grouping that stands before the columns of the listing."""
    return grid(_spoken(table), Listing(listing.of, (by, *listing.keys) if by else listing.keys))


def _spoken(table: pa.Table) -> pa.Table:
    """The table with words for keys."""
    for name in table.column_names:
        if word := _WORDS.get(name):
            cells = [None if value is None else word(value) for value in table[name].to_pylist()]
            table = table.set_column(table.column_names.index(name), name, pa.array(cells, pa.string()))
    return table


def _with_failures(table: pa.Table) -> pa.Table:
    """The table, in which the note of a failure begins with its kind."""
    pairs = zip(table["failure"].to_pylist(), table["why"].to_pylist(), strict=True)
    notes = [failure_words(failure, why) or None for failure, why in pairs]
    return table.set_column(table.column_names.index("why"), "why", pa.array(notes, pa.string()))


def _note(why: str) -> str:
    return textwrap.shorten(one_line(why), LONGEST_NOTE, placeholder=" …") or one_line(why)[:LONGEST_NOTE]


_WORDS: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(VERDICT_COLUMNS, lambda value: NAMES.get(value, value)),
    "agent": agent_name,
    "why": _note,
    "scope": lambda value: value.replace("_", " "),
}
