"""Filters whose values are closed lists: a word outside of one is a mistake of typing, and never an empty answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.queries.filters import Filters
from schemas.errors import UsageError
from schemas.text import did_you_mean


def _outcomes() -> Sequence[str]:
    from schemas.rows.run import Outcome

    return list(Outcome)


def _evidence() -> Sequence[str]:
    from schemas.rows.claim import Evidence

    return list(Evidence)


CLOSED: dict[str, Callable[[], Sequence[str]]] = {"outcome": _outcomes, "evidence": _evidence}
"""The key of a filter → the words that it takes. They are imported where they are asked for: `--help` does without them."""


def with_known_words(filters: Filters) -> Filters:
    """The same filters. Raises UsageError for a word that a closed list does not have."""
    for key, words in CLOSED.items():
        if missing := next((value for value in filters.values(key) if value not in words()), None):
            raise UsageError(f"unknown {key} {missing!r}.", f"{did_you_mean(missing, words())}Choose from: {', '.join(words())}.")
    return filters
