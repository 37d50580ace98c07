"""What is said beside an answer about its filters, the same to readers of a terminal, of Python and of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.text.answers import excluded_words, undated_words

if TYPE_CHECKING:
    from app.queries.reading import CheckedStore


def uncounted_notes(store: CheckedStore, how_to_count: str) -> list[str]:
    """What is not counted: runs without a date in a period, and excluded runs. `how_to_count` says how the latter are."""
    excluded = excluded_words(store.excluded)
    return [*filter(None, (undated_words(*store.undated), excluded and f"{excluded} {how_to_count}"))]
