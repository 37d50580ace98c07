"""Words of filters and labels that people type.

Closed lists, `key=value`, and suggestions for mistyped words.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence

from app.queries.filters import Filters, parse_label
from app.text.claims import EVIDENCE_NAMES
from schemas.catalogue.failures import REASONS
from schemas.errors import UsageError
from schemas.text import choices_for


def _outcomes() -> Sequence[str]:
    from schemas.rows.run import Outcome

    return list(Outcome)


CLOSED: dict[str, Callable[[], Sequence[str]]] = {
    "outcome": _outcomes,
    "failure": lambda: list(REASONS),
    "evidence": lambda: list(EVIDENCE_NAMES),
}
"""Filter → its allowed words. Imported on demand, because `--help` must not load pyarrow."""

SHOWN: dict[str, dict[str, str]] = {
    "failure": {key: reason.label for key, reason in REASONS.items()},
    "evidence": {key: shown.replace("–", "-") for key, shown in EVIDENCE_NAMES.items()},
}


def shown_words(key: str) -> str:
    """Return ` Lists show: method stated (benchmarked), …`.

    Returns "" if lists show the words of the filter.
    """
    said = ", ".join(f"{shown} ({word})" for word, shown in SHOWN.get(key, {}).items())
    return f" Lists show: {said}." if said else ""


def with_known_words(filters: Filters) -> Filters:
    """Return the filters unchanged.

    Raises UsageError for a word that is not in a closed list, naming the nearest one.
    """
    for key, words in CLOSED.items():
        if missing := next((value for value in filters.values(key) if value not in words()), None):
            by_shown = {shown: named for named, shown in SHOWN.get(key, {}).items()}
            near = difflib.get_close_matches(missing.replace("–", "-").strip().lower(), by_shown, 1)
            hint = choices_for(by_shown[near[0]] if near else missing, words())
            raise UsageError(f"unknown {key} {missing!r}.", hint)
    return filters


def label_list(labels: Mapping[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in labels.items()]


def read_labels(texts: Sequence[str]) -> dict[str, str]:
    """Parse texts `key=value` as labels; the last value of a key wins. Raises UsageError."""
    return {key: value.strip() for key, value in map(parse_label, texts)}
