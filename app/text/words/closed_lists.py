"""Filters whose values are closed lists: a word outside of one is a mistake of typing, and never an empty answer."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from app.queries.filters import Filters
from app.text.words.claims import EVIDENCE_NAMES
from schemas.catalogue.failures import REASONS
from schemas.errors import UsageError
from schemas.text import did_you_mean


def _outcomes() -> Sequence[str]:
    from schemas.rows.run import Outcome

    return list(Outcome)


def _evidence() -> Sequence[str]:
    from schemas.rows.claim import Evidence

    return list(Evidence)


CLOSED: dict[str, Callable[[], Sequence[str]]] = {"outcome": _outcomes, "failure": lambda: list(REASONS), "evidence": _evidence}
"""The key of a filter → the words that it takes. They are imported where they are asked for: `--help` does without them."""

SHOWN: dict[str, dict[str, str]] = {
    "failure": {key: reason.label for key, reason in REASONS.items()},
    "evidence": {key: shown.replace("–", "-") for key, shown in EVIDENCE_NAMES.items()},
}
"""The key of a filter → what lists and screens show for each of its words."""


def shown_words(key: str) -> str:
    """What lists show for the words of a filter: ` Lists show: method stated (benchmarked), …`; empty where they show the words."""
    said = ", ".join(f"{shown} ({word})" for word, shown in SHOWN.get(key, {}).items())
    return f" Lists show: {said}." if said else ""


def with_known_words(filters: Filters) -> Filters:
    """The same filters. Raises UsageError for a word that a closed list does not have."""
    for key, words in CLOSED.items():
        if missing := next((value for value in filters.values(key) if value not in words()), None):
            raise UsageError(f"unknown {key} {missing!r}.", f"{_meant(key, missing)}Choose from: {', '.join(words())}.")
    return filters


def _meant(key: str, word: str) -> str:
    """Words that come near, also by what lists show for them."""
    words = {shown: named for named, shown in SHOWN.get(key, {}).items()}
    near = difflib.get_close_matches(word.replace("–", "-").strip().lower(), words, 1)
    return did_you_mean(words[near[0]] if near else word, CLOSED[key]())
