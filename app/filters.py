"""One grammar of filters, for command-line flags, links and widgets alike.

Each filter is a word, its kind, and the condition it puts on a run. Values only ever travel as bound parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from schemas.errors import UsageError


class Kind(StrEnum):
    """How a filter's value is written: any of several names, key=value pairs, one time, one text."""

    NAMES = "names"
    LABELS = "labels"
    TIME = "time"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter. `sql` is its condition; `$value` stands for the bound value."""

    key: str
    kind: Kind
    sql: str
    help: str


FILTERS = {
    filter_.key: filter_
    for filter_ in (
        Filter("repo", Kind.NAMES, "list_contains($value, repo)", "Runs on this repository."),
        Filter("task", Kind.NAMES, "list_contains($value, task)", "Runs on this task."),
        Filter("agent", Kind.NAMES, "list_contains($value, agent)", "Runs of this agent, e.g. claude-code."),
        Filter("model", Kind.NAMES, "list_has_any(models, $value)", "Runs that used this model, as main model or helper."),
        Filter("outcome", Kind.NAMES, "list_contains($value, outcome)", "Runs that ended this way, e.g. completed, limit_reached."),
        Filter("experiment", Kind.NAMES, "list_contains($value, experiment)", "Runs of this experiment."),
        Filter("label", Kind.LABELS, "labels[$key] = $value", "Runs with this label, key=value."),
        Filter(
            "since",
            Kind.TIME,
            "coalesce(ended_at, started_at) >= $value",
            "Runs that ended at this time or later (ISO 8601; UTC unless it says otherwise).",
        ),
        Filter("until", Kind.TIME, "coalesce(started_at, ended_at) < $value", "Runs that started before this time."),
        Filter("session", Kind.NAMES, "list_contains($value, session_id)", "Runs of this session."),
        Filter("search", Kind.TEXT, "contains(lower(result), lower($value))", "Runs whose summary holds this text."),
    )
}


@dataclass(frozen=True)
class Filters:
    """Chosen filters, key → values; several values of one filter mean any of them (labels: all of them). Hashable."""

    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.chosen)

    def as_words(self) -> str:
        """The filters as the command line writes them; empty for none."""
        return " ".join(f"--{key} {value}" for key, values in self.chosen for value in values)


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


def where(filters: Filters) -> Where:
    """The filters as one condition on rows that have a run's columns."""
    conditions = ["true"]
    parameters: dict[str, Any] = {}
    for number, (key, values) in enumerate(filters.chosen):
        for condition, bound in _conditions(_known(key), values, f"f{number}"):
            conditions.append(condition)
            parameters |= bound
    return Where(" and ".join(conditions), parameters)


def _known(key: str) -> Filter:
    if key not in FILTERS:
        raise UsageError(f"there is no filter {key!r}.", f"Filters are: {', '.join(FILTERS)}.")
    return FILTERS[key]


def _as_tuple(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _conditions(filter_: Filter, values: tuple[str, ...], name: str) -> list[tuple[str, dict[str, Any]]]:
    if filter_.kind is Kind.NAMES:
        return [(filter_.sql.replace("$value", f"${name}"), {name: list(values)})]
    return [_single(filter_, value, f"{name}_{number}") for number, value in enumerate(values)]


def _single(filter_: Filter, value: str, name: str) -> tuple[str, dict[str, Any]]:
    if filter_.kind is Kind.LABELS:
        key, text = parse_label(value)
        return filter_.sql.replace("$key", f"${name}_key").replace("$value", f"${name}"), {f"{name}_key": key, name: text}
    bound = _time(value, filter_.key) if filter_.kind is Kind.TIME else value
    return filter_.sql.replace("$value", f"${name}"), {name: bound}


def parse_label(text: str) -> tuple[str, str]:
    """`key=value` → key, value. Raises UsageError."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise UsageError(f"a label is written key=value, not {text!r}.", "For example: --label branch=main.")
    return key.strip(), value


def _time(text: str, key: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--{key} takes a date or time such as 2026-11-20 or 2026-11-20T14:00+01:00, not {text!r}.") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
