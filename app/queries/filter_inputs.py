"""Filters as programs and links write them: Python or JSON values, and the query of an address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, TypedDict

from app.queries.filters import (
    FILTERS,
    FOUND,
    NUMBER,
    SEARCH,
    SYNONYMS,
    YES,
    FilterKind,
    Filters,
    choose,
)
from schemas.errors import UsageError
from schemas.text import choices_for, did_you_mean, one_line, paired

Names = str | Sequence[str]
"""One name, or several alternatives."""

Labels = Mapping[str, str] | str | Sequence[str]
"""`{"branch": "main"}`, or `branch=main`; a run must match all of several."""

Moment = str | date
"""A time as in `--since` (`2026-03`, `7d`), a date, or a datetime (UTC if naive)."""

Number = int | float | Decimal | str


class FilterWords(TypedDict, total=False):
    """Filters as keyword arguments, described in `app.queries.filters`; None means not chosen."""

    project: Names | None
    repo: Names | None
    task: Names | None
    agent: Names | None
    model: Names | None
    main_model: Names | None
    effort: Names | None
    outcome: Names | None
    failure: Names | None
    verdict: (
        Literal["any", "nobody", "faster", "checked", "breaks", "not_comparable", "not_measured"]
        | None
    )
    judged: Literal["any", "hack", "clean"] | None
    experiment: Names | None
    branch: Names | None
    pull_request: Names | None
    ticket: Names | None
    landed: Literal["any", "landed", "open", "abandoned", "unknown"] | None
    ingested_by: Names | None
    label: Labels | None
    time: str | None
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
    copies: Literal["once", "only", "all"] | None
    search: str | None


def word_of(key: str) -> str:
    """Return the key of a filter in Python and JSON: `min_cost`."""
    return key.replace("-", "_")


WORDS = {word_of(key): filter_ for key, filter_ in FILTERS.items()}
_ACCEPTED = WORDS | {word: FILTERS[key] for word, key in SYNONYMS.items()}


def filters_of(values: Mapping[str, object]) -> Filters:
    """Return the filters for these values.

    Raises UsageError for an unknown filter or an unreadable value.
    """
    unknown = next((word for word in values if word not in _ACCEPTED), None)
    if unknown is not None:
        raise UsageError(f"unknown filter {unknown!r}.", choices_for(word_of(unknown), WORDS))
    chosen = dict[str, list[str]]()
    for word, one in _ACCEPTED.items():
        value = values.get(word)
        written = [] if value is None else _as_written(one.kind, value)
        if written is None:
            raise UsageError(f"{word} takes {one.kind.expected}, not {value!r}.")
        if any(paired(text) != text for text in written):
            raise UsageError(f"{word} takes text that UTF-8 can hold, not {value!r}.")
        chosen[one.key] = [*chosen.get(one.key, ()), *written]
    return choose(chosen)


def _as_written(kind: FilterKind, value: object) -> list[str] | None:
    """Return the value as on the command line, or None if it has another type."""
    match value:
        case bool():
            return ([YES] if value else []) if kind is FilterKind.FLAG else None
        case str() if kind is not FilterKind.FLAG:
            return [value]
        case Mapping() if kind is FilterKind.LABELS:
            return [f"{key}={text}" for key, text in value.items()]
        case Sequence() | Set() if kind.is_many and not isinstance(value, bytes):
            return [*value] if all(isinstance(one, str) for one in value) else None
        case date() if kind is FilterKind.TIME:
            return [value.isoformat()]
        case int() | float() | Decimal() if kind.json is NUMBER:
            exact = Decimal(str(value))
            return [f"{exact:f}" if exact.is_finite() else str(value)]
    return None


MOST_VALUES = 50

LONGEST_VALUE = 500
"""Characters of a filter's value; nobody types a longer name, label or search."""

LINK_WORDS = {filter_.link or key: key for key, filter_ in FILTERS.items()} | SYNONYMS
"""Parameter in addresses → key of the filter. `run` differs, since the page of a run uses that
parameter itself.
"""

MOST_TOLD = 5


@dataclass(frozen=True)
class FilterLink:
    """The filters of a link, and messages about words that cannot be used."""

    filters: Filters
    left_out: tuple[str, ...] = ()


def read_link(query: Mapping[str, Sequence[str]]) -> FilterLink:
    """Return the filters in the parameters of a link; other parameters belong to the screens."""
    filters, left_out = Filters(), list[str]()
    for word, key in LINK_WORDS.items():
        written = [text.strip() for text in query.get(word, ())[:MOST_VALUES] if text.strip()]
        readable = [text for text in written if _is_readable(key, text)]
        left_out += [
            f"{FILTERS[key].name}: {_short(text)}" for text in written if text not in readable
        ]
        readable = readable if FILTERS[key].kind.is_many else readable[-1:]
        filters = filters.with_values(key, (*filters.values(key), *readable))
    return FilterLink(filters, tuple(left_out))


def _is_readable(key: str, text: str) -> bool:
    try:
        return len(text) <= LONGEST_VALUE and paired(text) == text and bool(choose({key: text}))
    except UsageError:
        return False


def write_link(filters: Filters) -> dict[str, list[str]]:
    """Return the parameters of a link to the same view."""
    named = {SEARCH if key == FOUND.key else key: values for key, values in filters.chosen}
    return {FILTERS[key].link or key: list(values) for key, values in named.items()}


def unknown_words(query: Iterable[str], others: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the unknown words of a link, each with similar filters.

    `others`: whether a word belongs to a screen.
    """
    unknown = [word for word in query if word not in LINK_WORDS and not others(word)][:MOST_TOLD]
    return tuple(
        f"{_short(word)}. {did_you_mean(word[:LONGEST_VALUE], list(LINK_WORDS))}".strip()
        for word in unknown
    )


def unknown_names(filters: Filters, options: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return names in the filters that no run has, each with its filter.

    `options`: all names by filter; other filters are skipped.

    A stale or mistyped link keeps them and shows no runs, like the command line.
    """
    asked = [(key, value) for key, values in filters.chosen if key in options for value in values]
    return tuple(
        f"{FILTERS[key].name}: {_short(value)}" for key, value in asked if value not in options[key]
    )


def _short(text: str) -> str:
    shown = one_line(text)
    return shown if len(shown) <= 40 else f"{shown[:39]}…"
