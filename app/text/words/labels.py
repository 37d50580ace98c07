"""Labels as people write them: `key=value`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.queries.filters import parse_label
from schemas.errors import UsageError


def label_list(labels: Mapping[str, str]) -> list[str]:
    """`key=value` for each label."""
    return [f"{key}={value}" for key, value in labels.items()]


def read_labels(texts: Sequence[str]) -> dict[str, str]:
    """The labels in texts `key=value`, of two for one key the last. Raises UsageError."""
    return {key: value.strip() for key, value in map(parse_label, texts)}


def changed_labels(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """(labels to set, keys to remove) that lead from one to the other."""
    given = {key: value for key, value in after.items() if before.get(key) != value}
    return given, tuple(key for key in before if key not in after)


def unreadable_words(error: UsageError) -> str:
    """What is wrong with a label, for a screen: no option of a command."""
    return f"{error.message[0].upper()}{error.message[1:]} For example: branch=main."
