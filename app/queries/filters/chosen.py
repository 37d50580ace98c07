"""Filters that somebody chose: read from words, and turned into SQL."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from math import inf, nan
from typing import Any

from app.queries.filters.registry import (
    CLAIM_FILTERS,
    COUNTED,
    EXCLUDED,
    FILTERS,
    FOUND,
    MIN_CONFIDENCE,
    SEARCH,
    TIMES,
    YES,
    Filter,
    Kind,
)
from app.queries.filters.time_words import EXAMPLES, moment
from schemas.errors import UsageError
from schemas.numbers import amount
from schemas.rows.confidence import SHOWN_FROM
from schemas.text import did_you_mean


@dataclass(frozen=True)
class Filters:
    """Chosen filters, key → values; several values of one filter mean any of them (labels: all of them). Hashable."""

    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.chosen)

    def values(self, key: str) -> tuple[str, ...]:
        """The chosen values of a filter, none where it is not chosen."""
        return dict(self.chosen).get(key, ())

    def with_values(self, key: str, values: Sequence[str]) -> Filters:
        """With other values of one filter, in the order of FILTERS: the same choice is the same value, however it was made."""
        chosen = dict(self.chosen) | {key: tuple(dict.fromkeys(values))}
        return Filters(tuple((name, chosen[name]) for name in FILTERS if chosen.get(name)))

    def without(self, key: str, value: str) -> Filters:
        """Without one value of one filter."""
        return self.with_values(key, [other for other in self.values(key) if other != value])

    def as_words(self) -> str:
        """The filters as the command line writes them; empty for none."""
        return " ".join(_words(key, value) for key, values in self.chosen for value in values)

    @property
    def choose_excluded(self) -> bool:
        """Whether they say what becomes of excluded runs."""
        return bool(self.values(EXCLUDED))


def _words(key: str, value: str) -> str:
    key = SEARCH if key == FOUND.key else key  # people know the one
    return f"--{key}" if key in FILTERS and FILTERS[key].kind is Kind.FLAG else f"--{key} {shlex.quote(value)}"


NO_FILTERS = Filters()


def in_zone(filters: Filters, zone: tzinfo) -> Filters:
    """The filters with the moments that their times mean in the zone: `2026-03` begins with the first of March there."""
    for key in TIMES:
        filters = filters.with_values(key, [_moment_in(text, zone) for text in filters.values(key)])
    return filters


def _moment_in(text: str, zone: tzinfo) -> str:
    try:
        time = moment(text, zone=zone)
        return time.astimezone(UTC).astimezone(zone).isoformat() if time else text
    except OverflowError:  # beyond the years 1 to 9999 there
        return text


@dataclass(frozen=True)
class Where:
    """A condition and the values bound in it. `sql` is never empty."""

    sql: str
    parameters: dict[str, Any]


def choose(values: Mapping[str, str | Sequence[str] | None]) -> Filters:
    """Filters from words. Raises UsageError for a filter that does not exist or a value that cannot be read."""
    chosen = [(key, _as_tuple(value)) for key, value in values.items()]
    filters = Filters(tuple((key, value) for key, value in chosen if value))
    where(filters)
    return filters


def parse(text: str) -> Filters:
    """Filters written in one text, as `compare` takes them: `model=glm-5.1 repo=vllm` or `--model glm-5.1 --repo vllm`.

    Quotes hold a value with blanks together. Raises UsageError.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot read the filters {text!r}: {error}.", "Close each quote.") from None
    given: dict[str, list[str]] = {}
    while words:
        key, sign, value = words.pop(0).removeprefix("--").partition("=")
        if not sign and key in FILTERS and FILTERS[key].kind is Kind.FLAG:
            sign, value = "=", YES
        if not sign and not words:
            raise UsageError(
                f"the filter {key!r} of {text!r} has no value.", "Filters are written key=value, e.g. 'model=glm-5.1 repo=vllm'."
            )
        given.setdefault(key, []).append(value if sign else words.pop(0))
    choose(given)
    return choose({key: given[key] for key in FILTERS if key in given})


def where(filters: Filters, name: str = "f") -> Where:
    """The filters as one condition on rows that have a run's columns; bound values are called by `name` and a number.

    Excluded runs are left out, unless the filters say otherwise.
    """
    found = _where(filters, FILTERS | {FOUND.key: FOUND}, name)
    return found if filters.choose_excluded else Where(f"{found.sql} and not excluded", found.parameters)


def with_found(filters: Filters) -> Filters:
    """The same choice by what its searches found: for a store that has looked for them."""
    return Filters(tuple((FOUND.key if key == SEARCH else key, values) for key, values in filters.chosen))


OWN = "(kind <> 'quantified' or origin = 'own')"
"""The condition on claims that count: a figure that the summary cites of others is no claim of the agent's."""


def where_claims(filters: Filters, *, hidden: bool = False) -> tuple[Where | None, Where]:
    """The filters as a condition on runs (None: any run) and one on their claims: what is about claims chooses among them.

    Without a condition on runs, that on claims leaves excluded runs out. `hidden` chooses the claims that are left out for their low
    confidence alone.
    """
    of_claims = Filters(tuple(one for one in filters.chosen if one[0] in CLAIM_FILTERS and one[0] != MIN_CONFIDENCE))
    of_runs = Filters(tuple(one for one in filters.chosen if one[0] not in CLAIM_FILTERS))
    claims, sure = _where(of_claims, CLAIM_FILTERS, "c"), where_shown(filters, hidden=hidden)
    conditions = (claims.sql, sure.sql, OWN) if of_runs else (claims.sql, sure.sql, OWN, COUNTED)
    return where(of_runs) if of_runs else None, Where(" and ".join(conditions), claims.parameters | sure.parameters)


def where_shown(filters: Filters, *, hidden: bool = False) -> Where:
    """The condition on claims that says how sure they must be: as the filters choose, else SHOWN_FROM. `hidden` chooses all others."""
    least = filters.values(MIN_CONFIDENCE) or (str(SHOWN_FROM),)
    shown = _where(Filters(((MIN_CONFIDENCE, least),)), CLAIM_FILTERS, "shown")
    return Where(f"not ({shown.sql})", shown.parameters) if hidden else shown


def _where(filters: Filters, registry: Mapping[str, Filter], name: str) -> Where:
    conditions = ["true"]
    parameters: dict[str, Any] = {}
    for number, (key, values) in enumerate(filters.chosen):
        for condition, bound in _conditions(_known(key, registry), values, f"{name}{number}"):
            conditions.append(condition)
            parameters |= bound
    return Where(" and ".join(conditions), parameters)


def _known(key: str, registry: Mapping[str, Filter]) -> Filter:
    if key not in registry:
        raise UsageError(f"unknown filter {key!r}.", f"{did_you_mean(key, list(FILTERS))}Choose from: {', '.join(FILTERS)}.")
    return registry[key]


def _as_tuple(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _conditions(filter_: Filter, values: tuple[str, ...], name: str) -> list[tuple[str, dict[str, Any]]]:
    if "$each" in filter_.sql:
        bound = {f"{name}_{number}": value for number, value in enumerate(values)}
        return [(f"({' or '.join(filter_.sql.replace('$each', f'${key}') for key in bound)})", bound)]
    if filter_.kind is Kind.NAMES:
        return [(filter_.sql.replace("$value", f"${name}"), {name: list(values)})]
    return [_single(filter_, value, f"{name}_{number}") for number, value in enumerate(values)]


def _single(filter_: Filter, value: str, name: str) -> tuple[str, dict[str, Any]]:
    if filter_.kind is Kind.LABELS:
        key, text = parse_label(value)
        return filter_.sql.replace("$key", f"${name}_key").replace("$value", f"${name}"), {f"{name}_key": key, name: text}
    bound = _READERS[filter_.kind](value, filter_.key) if filter_.kind in _READERS else value
    return filter_.sql.replace("$value", f"${name}"), {name: bound}


def parse_label(text: str) -> tuple[str, str]:
    """`key=value` → key, value. Raises UsageError."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise UsageError(f"a label is written key=value, not {text!r}.", "For example: --label branch=main.")
    return key.strip(), value


def _time(text: str, key: str) -> datetime:
    time = moment(text)
    if time is None:
        raise UsageError(f"--{key} takes a date or time, not {text!r}.", f"For example: {EXAMPLES}.")
    return time


def _usd(text: str, key: str) -> Decimal:
    found = amount(text)
    if found is None:
        raise UsageError(f"--{key} takes an amount in US dollars such as 0.50, with nine decimals at most, not {text!r}.")
    return found


def _word(text: str, key: str) -> str:
    words = FILTERS[key].words
    if text not in words:
        raise UsageError(f"--{key} takes {' or '.join(words)}, not {text!r}.", did_you_mean(text, words).strip())
    return text


def _factor(text: str, key: str) -> float:
    try:
        factor = float(text.strip().rstrip("x×"))
    except ValueError:
        factor = nan
    if not 0 < factor < inf:
        raise UsageError(f"--{key} takes a factor such as 1.5, not {text!r}.")
    return factor


def probability(text: str, key: str) -> float:
    """`0.8` or `80%` → 0.8, for the option of this key. Raises UsageError."""
    try:
        number = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        number = nan
    if not 0 <= number <= 1:
        raise UsageError(f"--{key} takes a probability from 0 to 1 such as 0.8, or a percentage such as 80%, not {text!r}.")
    return number


_READERS: Mapping[Kind, Callable[[str, str], Any]] = {
    Kind.TIME: _time,
    Kind.USD: _usd,
    Kind.FACTOR: _factor,
    Kind.PROBABILITY: probability,
    Kind.CHOICE: _word,
    Kind.FLAG: _word,
}
"""How the words of a kind become values to bind; the other kinds are bound as they are written."""
