"""What a method's arguments may be, for callers without a type checker: whatever else comes is a UsageError with a sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeGuard

from schemas.errors import UsageError
from schemas.text import did_you_mean

Words = str | Sequence[str]
"""One word, several with commas between, or a list of them."""

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One path, or several."""


def rows(limit: object) -> int | None:
    """The most rows, None for all. More than a store can count are all of them."""
    if limit is None:
        return None
    if not _is_whole(limit) or limit < 0:
        raise UsageError(f"limit takes a number of rows of 0 or more, not {limit!r}.", "None: all rows.")
    return min(limit, sys.maxsize)


def hours(name: str, value: object) -> int:
    """Hours of up to a week."""
    if not _is_whole(value) or not 1 <= value <= 24 * 7:
        raise UsageError(f"{name} takes hours from 1 to 168, not {value!r}.")
    return value


def processes(name: str, value: object) -> int:
    """A number of processes, 0 for one per core."""
    if not _is_whole(value) or value < 0:
        raise UsageError(f"{name} takes a number of processes, or 0 for one per core, not {value!r}.")
    return value


def seconds(name: str, value: object) -> float:
    """How long something may take."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise UsageError(f"{name} takes seconds of 0 or more, not {value!r}.")
    return value


def share(name: str, value: object) -> float:
    """A share below 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise UsageError(f"{name} takes a share from 0 to less than 1, such as 0.05, not {value!r}.")
    return float(value)


def text(name: str, value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise UsageError(f"{name} takes a text, not {value!r}.")
    return value


def words(name: str, value: object) -> tuple[str, ...]:
    """Each word once."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, Sequence) or not all(isinstance(word, str) for word in listed):
        raise UsageError(f"{name} takes a word or a list of words, not {value!r}.")
    return tuple(dict.fromkeys(word.strip() for word in listed if word.strip()))


def several(name: str, value: object, known: Sequence[str]) -> tuple[str, ...]:
    """Words of a closed list."""
    return tuple(one_of(name, word, known) for word in words(name, value))


def one_of(name: str, value: object, known: Iterable[str]) -> str:
    """A word of a closed list, or none."""
    word, choices = text(name, value), list(known)
    if word and word not in choices:
        raise UsageError(f"unknown {name} {word!r}.", f"{did_you_mean(word, choices)}Choose from: {', '.join(choices)}.")
    return word


def location(value: object) -> str:
    """Where a store is."""
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"open takes the path of a store, not {value!r}.")
    return str(os.fspath(value))


def paths(value: object) -> list[Path]:
    """Paths of files and folders."""
    listed = [value] if isinstance(value, str | os.PathLike) else value
    named = list(listed) if isinstance(listed, Iterable) else [listed]
    found = [Path(path) for path in named if isinstance(path, str | os.PathLike)]
    if len(found) < len(named):
        raise UsageError(f"ingest takes a path or a list of paths, not {value!r}.")
    return found


def labels(value: object) -> tuple[tuple[str, str], ...]:
    """Labels and their values."""
    if value is None:
        return ()
    if not isinstance(value, Mapping) or not all(isinstance(part, str) for pair in value.items() for part in pair):
        raise UsageError(f"labels takes texts such as {{'branch': 'main'}}, not {value!r}.")
    return tuple(value.items())


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
