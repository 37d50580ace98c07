"""Filters from values of Python and JSON: `{"model": ["a", "b"], "since": "7d", "starred": True}`.

The words are those of the command line, with `_` for `-`. `FilterWords` says them to type checkers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Literal, TypedDict

from app.queries.filters.chosen import Filters, choose
from app.queries.filters.registry import FILTERS, YES, Filter, Kind
from schemas.errors import UsageError
from schemas.text import did_you_mean, paired

Names = str | Sequence[str]
"""One name, or several of which any matches."""

Labels = Mapping[str, str] | str | Sequence[str]
"""`{"branch": "main"}`, or `branch=main`; several must all match."""

Moment = str | date
"""A time as `--since` takes it (`2026-03`, `7d`), a date, or a datetime, in UTC where it has no zone."""

Number = int | float | Decimal | str


class FilterWords(TypedDict, total=False):
    """The filters as keyword arguments. What they mean is in `app.queries.filters.registry`; None is not chosen."""

    repo: Names | None
    task: Names | None
    agent: Names | None
    model: Names | None
    main_model: Names | None
    outcome: Names | None
    failure: Names | None
    experiment: Names | None
    ingested_by: Names | None
    label: Labels | None
    since: Moment | None
    until: Moment | None
    min_cost: Number | None
    max_cost: Number | None
    evidence: Names | None
    min_claim: Number | None
    min_confidence: Number | None
    session: Names | None
    run: Names | None
    starred: bool | None
    excluded: Literal["no", "only", "all"] | None
    search: str | None


def word_of(key: str) -> str:
    """The key of a filter as Python and JSON write it: `min_cost`."""
    return key.replace("-", "_")


WORDS = {word_of(key): filter_ for key, filter_ in FILTERS.items()}
"""The filters by their words."""


def filters_of(values: Mapping[str, object]) -> Filters:
    """The filters that values choose. Raises UsageError for a word that is no filter, and for a value that cannot be read."""
    unknown = next((word for word in values if word not in WORDS), None)
    if unknown is not None:
        raise UsageError(f"unknown filter {unknown!r}.", f"{did_you_mean(word_of(unknown), list(WORDS))}Choose from: {', '.join(WORDS)}.")
    chosen = {filter_.key: _written(word, filter_, values.get(word)) for word, filter_ in WORDS.items()}
    return choose(chosen)


def _written(word: str, filter_: Filter, value: object) -> list[str]:
    """The value as the command line has it."""
    if value is None:
        return []
    reading = _READ[filter_.kind]
    written = reading.read(value)
    if written is None:
        raise UsageError(f"{word} takes {reading.expected}, not {value!r}.")
    if any(paired(text) != text for text in written):
        raise UsageError(f"{word} takes text that UTF-8 can hold, not {value!r}.")
    return written


class _Reading:
    """How the value of a kind of filter is read. `read` gives None where it has another type."""

    def __init__(self, expected: str, read: Callable[[Any], list[str] | None]) -> None:
        self.expected, self.read = expected, read


def _names(value: object) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    if isinstance(value, bytes) or not isinstance(value, Sequence | set | frozenset) or not all(isinstance(one, str) for one in value):
        return None
    return [*value]


def _labels(value: object) -> list[str] | None:
    if isinstance(value, Mapping):
        return [f"{key}={text}" for key, text in value.items()]
    return _names(value)


def _time(value: object) -> list[str] | None:
    return [value.isoformat()] if isinstance(value, date) else _text(value)


def _number(value: object) -> list[str] | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return _text(value)
    exact = Decimal(str(value))
    return [f"{exact:f}" if exact.is_finite() else str(value)]


def _text(value: object) -> list[str] | None:
    return [value] if isinstance(value, str) else None


def _flag(value: object) -> list[str] | None:
    return ([YES] if value else []) if isinstance(value, bool) else None


_NUMBER = _Reading("a number", _number)

_READ: Mapping[Kind, _Reading] = {
    Kind.NAMES: _Reading("a name or a list of names", _names),
    Kind.LABELS: _Reading("labels such as {'branch': 'main'}", _labels),
    Kind.TIME: _Reading("a date, a datetime, or a text such as '2026-11-20' or '7d'", _time),
    Kind.USD: _NUMBER,
    Kind.FACTOR: _NUMBER,
    Kind.PROBABILITY: _NUMBER,
    Kind.TEXT: _Reading("a text", _text),
    Kind.CHOICE: _Reading("a word", _text),
    Kind.FLAG: _Reading("True or False", _flag),
}
