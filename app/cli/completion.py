"""Words that a shell completes: those of closed lists, which need no store. Scripts for shells come from `tachograph completion`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from app.queries.filters import TIME_WORDS
from app.text.words.closed_lists import CLOSED

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _agents() -> Iterable[str]:
    from schemas.agents import AGENTS

    return AGENTS


def _times() -> Iterable[str]:
    return ("7d", "30d", *(word.replace(" ", "-") for word in TIME_WORDS))


VALUES: dict[str, Callable[[], Iterable[str]]] = {**CLOSED, "agent": _agents, "since": _times, "until": _times}
"""The key of a filter → the words it usually takes. They are imported where they are asked for."""


def values_of(key: str) -> Completer | None:
    """Completes the values of a filter; None where they are names of a store."""
    return completer(VALUES[key]) if key in VALUES else None


def completer(words: Callable[[], Iterable[str]]) -> Completer:
    """Completes one word of a list."""
    return lambda _context, _parameter, begun: [CompletionItem(word) for word in words() if word.startswith(begun)]


def list_completer(words: Iterable[str]) -> Completer:
    """Completes the last of several words with commas between: `model,out` → `model,outcome`."""

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        before, comma, last = begun.rpartition(",")
        return [CompletionItem(f"{before}{comma}{word}") for word in words if word.startswith(last) and word not in before.split(",")]

    return complete


def zone_names() -> Iterable[str]:
    """IANA names of time zones."""
    from zoneinfo import available_timezones

    return sorted(available_timezones())
