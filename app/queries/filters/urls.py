"""Filters in links: `?model=a&model=b&since=2026-11-01&label=branch%3Dmain` and back. Same words, same meaning as on the command line.

A link is a stranger's text: what cannot be read in it is left out and told, never an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.queries.filters.chosen import Filters, choose
from app.queries.filters.registry import FILTERS, Kind
from schemas.errors import UsageError
from schemas.text import did_you_mean, one_line, paired

MOST_VALUES = 50
"""The most values of one filter that are read from a link."""

LONGEST_VALUE = 500
"""A longer value is no name, no label and no search that somebody typed."""

WORDS = {filter_.link or key: key for key, filter_ in FILTERS.items()}
"""What filters are called in addresses → their keys. The page of a run has its own `run` in the address."""

MOST_TOLD = 5
"""The most words of a link that are told to be no filter."""

_REPEATABLE = (Kind.NAMES, Kind.LABELS)


@dataclass(frozen=True)
class Link:
    """What a link asks for, and in words what it asks for that cannot be had."""

    filters: Filters
    left_out: tuple[str, ...] = ()


def read(query: Mapping[str, Sequence[str]]) -> Link:
    """The filters in the parameters of a link; those that are no filters belong to the screens."""
    filters, left_out = Filters(), list[str]()
    for word, key in WORDS.items():
        values = [text.strip() for text in query.get(word, ())[:MOST_VALUES] if text.strip()]
        readable = [text for text in values if _is_readable(key, text)]
        left_out += [f"{FILTERS[key].name}: {_short(text)}" for text in values if text not in readable]
        filters = filters.with_values(key, readable if FILTERS[key].kind in _REPEATABLE else readable[-1:])
    return Link(filters, tuple(left_out))


def write(filters: Filters) -> dict[str, list[str]]:
    """The parameters of a link to the same view."""
    return {FILTERS[key].link or key: list(values) for key, values in filters.chosen}


def unknown_words(query: Iterable[str], others: Callable[[str], bool]) -> tuple[str, ...]:
    """The words of a link that are no filter, each with the filters that come near. `others`: whether a word belongs to a screen."""
    unknown = [word for word in query if word not in WORDS and not others(word)][:MOST_TOLD]
    return tuple(f"{_short(word)}. {did_you_mean(word[:LONGEST_VALUE], list(WORDS))}".strip() for word in unknown)


def unknown_names(filters: Filters, options: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Names in the filters that no run has, each with its filter. `options`: every name there is, by filter; other filters are skipped.

    A stale or mistyped link keeps them: it then shows what it asks for, which is no run, as the command line does.
    """
    asked = [(key, value) for key, values in filters.chosen if key in options for value in values]
    return tuple(f"{FILTERS[key].name}: {_short(value)}" for key, value in asked if value not in options[key])


def _is_readable(key: str, text: str) -> bool:
    if len(text) > LONGEST_VALUE or paired(text) != text:
        return False
    try:
        choose({key: text})
    except UsageError:
        return False
    return True


def _short(text: str) -> str:
    shown = one_line(text)
    return shown if len(shown) <= 40 else f"{shown[:39]}…"
